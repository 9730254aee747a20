import Domain

/// A script for `pgbench -M prepared` that makes a recorded transaction again and again, each time with new ids.
///
/// Two recordings of the same request show which values differ between two transactions. Such a value becomes one that
/// differs each time: its last ten characters are replaced by a number that no other transaction of the script has.
/// Within a longer text it is replaced in the same way. All other values are bound as recorded.
struct PgbenchScript {
    let text: String
    /// The values that are the same in every transaction, for pgbench's option `-D`.
    let constants: [(name: String, value: String)]
    /// The number of messages of the protocol that wait for an answer in one transaction.
    let roundTrips: Int
    /// The tables that the transaction inserts into.
    let tables: [String]

    /// Ten digits: the client's two, then the client's own count.
    private static let digits = 10
    /// Two numbers that differ by less, mostly times, count as equal and are bound as recorded.
    private static let nearby: Int64 = 1_000_000

    /// - Throws: where the two recordings are not of the same statements.
    init(_ first: [RecordedStatement], _ second: [RecordedStatement]) throws {
        guard first.map(\.sql) == second.map(\.sql), first.first?.sql.hasPrefix("BEGIN") == true,
            first.last?.sql == "COMMIT"
        else { throw BenchFailure(description: "two attaches made different statements") }
        var values = Values(ids: try Self.ids(first, second))
        let statements = first.map { statement in
            statement.sql.numberedPlaceholders { values.expression(statement.parameters[$0]) } + ";"
        }
        let number = "(:client_id + 10) * 100000000 + :made"
        text = (["\\set made :made + 1", "\\set n \(number)"] + statements).joined(separator: "\n") + "\n"
        constants = values.constants
        roundTrips = first.count
        tables = Self.tables(first)
    }

    private static func tables(_ statements: [RecordedStatement]) -> [String] {
        let names = statements.compactMap { statement -> String? in
            let words = statement.sql.split(separator: " ", maxSplits: 3)
            return words.starts(with: ["INSERT", "INTO"]) && words.count > 2 ? String(words[2]) : nil
        }
        return Set(names).sorted()
    }

    /// The values that differ between the recordings, without longer texts that only contain another one of them.
    private static func ids(_ first: [RecordedStatement], _ second: [RecordedStatement]) throws -> [String] {
        var differing: Set<String> = []
        for (one, other) in zip(first, second) {
            guard one.parameters.count == other.parameters.count else {
                throw BenchFailure(description: "two attaches bound different values")
            }
            for (value, another) in zip(one.parameters, other.parameters) where value != another {
                guard let value, let another else {
                    throw BenchFailure(description: "of two attaches only one bound NULL")
                }
                if let left = Int64(value), let right = Int64(another), abs(left - right) < nearby { continue }
                differing.insert(value)
            }
        }
        return differing.filter { value in
            value.utf8.count > digits && !differing.contains { $0 != value && value.contains($0) }
        }.sorted()
    }

    /// Makes the expressions that take the places of bound values.
    private struct Values {
        let ids: [String]
        var constants: [(name: String, value: String)] = []

        init(ids: [String]) { self.ids = ids }

        mutating func expression(_ value: String?) -> String {
            guard let value else { return "NULL" }
            // -D takes no empty value.
            guard !value.isEmpty else { return "''" }
            if value.hasPrefix("\\x"), ids.contains(value) {
                // The last eight bytes are replaced by the number.
                return "(CAST(:\(constant(String(value.dropLast(16)))) AS bytea) || int8send(:n))"
            }
            let pieces = pieces(value)
            guard pieces.count > 1 else { return ":\(constant(value))" }
            let texts = pieces.map { $0.isEmpty ? "" : "CAST(:\(constant($0)) AS text)" }
            let parts = [texts[0]] + texts.dropFirst().flatMap { ["CAST(:n AS text)", $0] }
            return "(\(parts.filter { !$0.isEmpty }.joined(separator: " || ")))"
        }

        /// The text around the last ten characters of every id in it.
        private func pieces(_ value: String) -> [String] {
            var (pieces, piece, rest) = ([String](), "", value[...])
            while !rest.isEmpty {
                if let id = ids.first(where: { rest.hasPrefix($0) }) {
                    pieces.append(piece + id.dropLast(PgbenchScript.digits))
                    piece = ""
                    rest.removeFirst(id.count)
                } else {
                    piece.append(rest.removeFirst())
                }
            }
            return pieces + [piece]
        }

        private mutating func constant(_ value: String) -> String {
            if let known = constants.first(where: { $0.value == value }) { return known.name }
            let name = "c\(constants.count + 1)"
            constants.append((name, value))
            return name
        }
    }
}

extension String {
    /// This statement with each `$1`, `$2`, … replaced by an expression.
    ///
    /// - Parameter expression: gets the index from 0.
    fileprivate func numberedPlaceholders(_ expression: (Int) -> String) -> String {
        var (output, rest) = ("", self[...])
        while let mark = rest.firstIndex(of: "$") {
            let digits = rest[rest.index(after: mark)...].prefix { $0.utf8.allSatisfy(\.isDigit) }
            output += rest[..<mark]
            output += Int(digits).map { expression($0 - 1) } ?? "$"
            rest = rest[digits.endIndex...]
        }
        return output + rest
    }
}
