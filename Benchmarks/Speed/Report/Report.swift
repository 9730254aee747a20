import Foundation

/// All figures of a run, as a table or as JSON.
struct Report {
    /// The rates of `openssl speed` before and after the run; nil where the program is missing.
    var openSSL: [Double?] = []
    private var figures: [Figure] = []
    private var notes: [String] = []

    mutating func add(_ more: [Figure]) { figures += more }
    mutating func note(_ text: String) { notes.append(text) }

    private var openSSLMean: Double? {
        let rates = openSSL.compactMap(\.self)
        return rates.isEmpty ? nil : rates.reduce(0, +) / Double(rates.count)
    }

    private struct Line: Encodable {
        let section: String
        let name: String
        let value: Double
        let unit: String
        let perSecond: Double?
        let ratio: Double?
        let base: String?
        let aim: String?
        let met: Bool?
    }

    private var lines: [Line] {
        figures.map { figure in
            let base: (name: String, value: Double)? =
                switch figure.base {
                case .openSSL?: openSSLMean.map { ("openssl", $0) }
                case .figure(let name, let value)?: (name, value)
                case nil: nil
                }
            let ratio = base.map { figure.value / $0.value }
            // The aim of a ratio cannot be judged without the base.
            let measured = figure.base == nil ? figure.value : ratio
            return Line(
                section: figure.section.rawValue, name: figure.name, value: figure.value, unit: figure.unit,
                perSecond: figure.perSecond, ratio: ratio, base: base?.name, aim: figure.aim?.text,
                met: measured.flatMap { figure.aim?.isMet(by: $0) })
        }
    }

    /// The figures whose aim is a duty and is not met.
    var faults: [String] {
        zip(figures, lines).compactMap { figure, line in
            figure.isDuty && line.met != true ? "\(figure.name): \(figure.value.short)" : nil
        }
    }

    private var openSSLNote: String? {
        guard !openSSL.isEmpty else { return nil }
        guard let mean = openSSLMean else { return "openssl is MISSING: what is compared with it has no ratio." }
        let each = openSSL.compactMap { $0?.short }.joined(separator: " before, ")
        return "openssl speed ecdsap256: \(each) after, mean \(mean.short) verifications per CPU second."
    }

    var table: String {
        var rows = [["Figure", "Value", "By the clock", "Ratio", "Aim", ""]]
        for line in lines {
            let ratio = line.ratio.map { "\($0.short) of \(line.base ?? "")" } ?? ""
            let clock = line.perSecond.map { "\($0.short)/s" } ?? ""
            let met = line.met.map { $0 ? "met" : "**not met**" } ?? ""
            rows.append([line.name, "\(line.value.short) \(line.unit)", clock, ratio, line.aim ?? "", met])
        }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        func text(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return "| \(padded.joined(separator: " | ")) |"
        }
        let rule = "|\(widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|"))|"
        let all = [text(rows[0]), rule] + rows.dropFirst().map(text)
        return ([openSSLNote].compactMap(\.self) + notes + [""] + all).joined(separator: "\n")
    }

    var json: String {
        get throws {
            struct Document: Encodable {
                let openssl: [Double?]
                let notes: [String]
                let figures: [Line]
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            encoder.keyEncodingStrategy = .convertToSnakeCase
            let document = Document(openssl: openSSL, notes: notes, figures: lines)
            return String(decoding: try encoder.encode(document), as: UTF8.self)
        }
    }
}
