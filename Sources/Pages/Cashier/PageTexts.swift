import Foundation

/// A language of the pages.
package enum PageLocale: String, Sendable, CaseIterable {
    case english = "en"
    case chinese = "zh-Hans"

    /// Finds the first language that the pages have.
    ///
    /// - Parameter languages: language tags (RFC 5646), the preferred first.
    package init?(preferred languages: [String]) {
        for language in languages {
            let primary = language.lowercased().split(separator: "-").first
            if primary == "zh" { self = .chinese } else if primary == "en" { self = .english } else { continue }
            return
        }
        return nil
    }

    var name: String { self == .english ? "English" : "中文" }

    /// The other languages, for the buttons that change to them.
    var others: [[String: String]] {
        Self.allCases.filter { $0 != self }.map { ["lang": $0.rawValue, "name": $0.name] }
    }
}

/// A language's table of texts, `Sources/Pages/Texts`.
///
/// The cashier's table is also sent to its module; other pages have tables of their own.
struct PageTexts: Sendable {
    let table: [String: String]

    /// - Parameter page: the page with a table of its own, such as `home`; nil for the cashier.
    init(_ locale: PageLocale, _ files: PageFiles, of page: String? = nil) {
        self.init(files["Texts/\(page.map { "\($0)." } ?? "")\(locale.rawValue).json"])
    }

    /// - Parameter data: a table as JSON; nil for an empty one.
    init(_ data: Data?) {
        table = data.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) } ?? [:]
    }

    private init(table: [String: String]) { self.table = table }

    /// Returns this table with the texts of another one over its own.
    func overlaid(with other: PageTexts) -> PageTexts { PageTexts(table: table.merging(other.table) { $1 }) }

    /// Returns the text of a key; the key where there is none, which a test of every state finds.
    subscript(key: String) -> String { table[key] ?? "{\(key)}" }

    /// Returns a text with its values in the place of `{name}`.
    ///
    /// A space separates a Chinese letter from a Latin one or a digit.
    func fill(_ key: String, _ values: [String: String]) -> String { PageWords.fill(self[key], values) }
}
