import Store

/// The rows that one attach wrote, found by searching its ids in all tables.
struct Footprint: Sendable {
    struct Entry: Sendable {
        let table: String
        let row: Row
    }

    /// The rows by table, in the order of the tables' creation, so that a referenced row comes first.
    let entries: [Entry]
    /// The ids of the attach's own objects.
    let ids: Set<String>

    /// - Parameters:
    ///   - names: the texts that only this attach has: its user's name and its transaction's number.
    ///   - left: the tables that are left out.
    init(of names: Set<String>, in database: any Database, leavingOut left: Set<String> = []) throws {
        var all: [Entry] = []
        // The database's triggers write the places of the orders that are copied.
        for table in try Self.tables(database) where table != "order_places" && !left.contains(table) {
            all += try database.rows("SELECT * FROM \(table)").map { Entry(table: table, row: $0) }
        }
        var known = names
        var found: [Entry] = []
        while true {
            found = all.filter { entry in entry.row.texts.contains { text in known.contains { text.contains($0) } } }
            let more = found.reduce(into: known) { known, entry in
                for text in entry.row.texts { known.formUnion(Self.ids(in: text)) }
            }
            guard more != known else { break }
            known = more
        }
        entries = found
        ids = known.subtracting(names)
    }

    private static func tables(_ database: any Database) throws -> [String] {
        let sql =
            switch database.dialect {
            case .sqlite:
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
            case .postgres:
                """
                SELECT relname::text AS name FROM pg_class
                WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY oid
                """
            }
        return try database.rows(sql).map { try $0.text("name") }
    }

    /// Every id in a text: three letters, `_` and 26 characters.
    private static func ids(in text: String) -> [String] {
        text.matches(of: #/[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}/#).map { String($0.output) }
    }
}

extension Row {
    fileprivate var texts: [String] {
        values.compactMap { if case .text(let text) = $0 { text } else { nil } }
    }
}
