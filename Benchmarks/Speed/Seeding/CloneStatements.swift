import Domain
import Foundation
import Store

/// SQL that copies the rows of one attach for other users, as if each of them had attached a purchase.
///
/// Each id, the user's name and the transaction's number become those of user n; times are spread over twenty days. All
/// else, sealed evidence and JSON included, stays as the server wrote it. The audit's digests are copies too, so that
/// `paydesk check` finds them wrong.
struct CloneStatements {
    let footprint: Footprint
    let dialect: Dialect
    /// The name of the attach's own user.
    let user: String
    let transaction: String

    /// The statements, one for each row of the attach, that write the row for the users `first` to `last`.
    func statements(from first: Int, through last: Int) -> [String] {
        inserts(of: footprint.entries) { into, expressions in
            switch dialect {
            case .sqlite:
                """
                \(into) WITH RECURSIVE s (n) AS (SELECT \(first) UNION ALL SELECT n + 1 FROM s WHERE n < \(last))
                SELECT \(expressions) FROM s
                """
            case .postgres:
                "\(into) SELECT \(expressions) FROM generate_series(\(first)::bigint, \(last)) AS s (n)"
            }
        }
    }

    /// SQLite's statements, one for each row of the attach, that write the row for the user whose number is their only
    /// parameter.
    var ofOneUser: [String] { ofOneUser(footprint.entries) }

    /// SQLite's statements like ``ofOneUser``, for some of the rows.
    func ofOneUser(_ entries: [Footprint.Entry]) -> [String] {
        inserts(of: entries) { into, expressions in "\(into) SELECT \(expressions) FROM (SELECT ?1 AS n) AS s" }
    }

    /// SQLite's statements that add the rows which an earlier footprint lacks, and change its rows of some tables, for the
    /// user whose number is their only parameter.
    ///
    /// A row is known by its first two columns, one of a changed table by its first.
    func ofOneUser(since earlier: Footprint, changing tables: Set<String>) -> [String] {
        footprint.entries.flatMap { entry in
            let isChanged = tables.contains(entry.table)
            let keys = entry.row.columns.prefix(isChanged ? 1 : 2)
            let known = earlier.entries.first { before in
                before.table == entry.table && keys.allSatisfy { before.row[$0] == entry.row[$0] }
            }
            guard let known else { return ofOneUser([entry]) }
            let changes = entry.row.columns.filter { entry.row[$0] != known.row[$0] }
            guard isChanged, let id = keys.first, !changes.isEmpty else { return [] }
            let values = changes.map { "\($0) = \(expression(entry.row[$0]))" }.joined(separator: ", ")
            return [
                """
                UPDATE \(entry.table) SET \(values) FROM (SELECT ?1 AS n) AS s
                WHERE \(entry.table).\(id) = \(expression(entry.row[id]))
                """
            ]
        }
    }

    private func inserts(
        of entries: [Footprint.Entry], _ statement: (_ into: String, _ expressions: String) -> String
    ) -> [String] {
        entries.map { entry in
            let values = zip(entry.row.columns, entry.row.values).filter { $0.1 != .null }
            let columns = values.map { $0.0 }.joined(separator: ", ")
            let expressions = values.map { column, value in
                isEventNumber(entry.table, column) ? eventNumber(value) : expression(value)
            }.joined(separator: ", ")
            return statement("INSERT INTO \(entry.table) (\(columns))", expressions)
        }
    }

    /// Sets the counter of the dispatcher's numbers behind the written events.
    static let afterwards =
        "UPDATE counters SET value = (SELECT COALESCE(MAX(seq), 0) FROM events) WHERE name = 'event'"

    private func isEventNumber(_ table: String, _ column: String) -> Bool { table == "events" && column == "seq" }

    /// The number of the event for user n.
    ///
    /// The attach's own numbers begin at 1, so that those of user n follow those of the user before.
    private func eventNumber(_ value: SQLValue) -> String {
        let events = footprint.entries.count { $0.table == "events" }
        return "n * \(events) + \(expression(value))"
    }

    private func expression(_ value: SQLValue) -> String {
        switch value {
        case .null: return "NULL"
        case .integer(let number):
            // Seconds since 1970, as all times are.
            let isTime = (1_600_000_000...2_200_000_000).contains(number)
            return isTime ? "\(number) - n * 7919 % 1728000" : String(number)
        case .text(let text): return expression(text)
        case .blob(let data):
            let digits = Hex.encoded(data)
            return dialect == .sqlite ? "X'\(digits)'" : "'\\x\(digits)'::bytea"
        }
    }

    /// An SQL expression of the text in which the attach's own ids and names are replaced by those of user n.
    private func expression(_ text: String) -> String {
        var parts: [String] = []
        var plain = text[...]
        while let (range, replacement) = first(in: plain) {
            parts += [quoted(plain[..<range.lowerBound]), replacement]
            plain = plain[range.upperBound...]
        }
        parts.append(quoted(plain))
        let all = parts.filter { $0 != "''" }
        return all.isEmpty ? "''" : all.joined(separator: " || ")
    }

    private func first(in text: Substring) -> (Range<String.Index>, String)? {
        var found: (Range<String.Index>, String)?
        for token in footprint.ids.union([user, transaction]) {
            guard let range = text.firstRange(of: token), range.lowerBound < found?.0.lowerBound ?? text.endIndex
            else { continue }
            found = (range, replacement(of: token))
        }
        return found
    }

    private func replacement(of token: String) -> String {
        switch token {
        case user: "'user-' || \(hexadecimal)"
        case transaction: "'10000000' || \(decimal)"
        // Prefix and time stay, then the number follows, then the part that distinguishes two ids of one attach.
        default: "\(quoted(token.prefix(14))) || \(decimal) || \(quoted(token.suffix(8)))"
        }
    }

    /// SQL for n in 8 digits.
    private var decimal: String {
        dialect == .sqlite ? "printf('%08d', n)" : "lpad(n::text, 8, '0')"
    }

    /// SQL for the same scattered number as in ``Customer/name(_:)``.
    private var hexadecimal: String {
        let scattered = "(n * 2654435761) % 4294967296"
        return dialect == .sqlite ? "printf('%08x', \(scattered))" : "lpad(to_hex(\(scattered)), 8, '0')"
    }

    private func quoted(_ text: some StringProtocol) -> String {
        "'\(String(text).replacing("'", with: "''"))'"
    }
}
