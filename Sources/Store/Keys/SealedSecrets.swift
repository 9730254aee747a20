package import Foundation

/// A column of sealed secrets, and the key of its table.
package struct SealedColumn: Sendable, Hashable {
    package let table: String
    package let column: String
    /// The primary key.
    package let key: [String]
    /// Further columns that are part of the context of the seal.
    package let further: [String]

    package init(_ table: String, _ column: String, key: [String], further: [String] = []) {
        self.table = table
        self.column = column
        self.key = key
        self.further = further
    }
}

/// A sealed secret with the key of its row.
package struct SealedValue: Sendable {
    /// The values of the primary key.
    package let key: [String]
    package let further: [String]
    package let sealed: Data
}

/// Sealed secrets of every table, to be sealed again with another key.
///
/// `db.secrets` reads; `tx.secrets` also writes.
package struct SecretQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var secrets: SecretQueries<any Database> { SecretQueries(db: self, tx: self) }
}

extension Transaction {
    package var secrets: SecretQueries<any Transaction> { SecretQueries(db: self, tx: self) }
}

extension SecretQueries {
    /// Lists the secrets of a column that come after a row, in the order of the table's primary key.
    package func list(
        _ column: SealedColumn, after key: [String]?, limit: Int64
    ) throws(StoreError) -> [SealedValue] {
        let names = column.key.joined(separator: ", ")
        let marks = column.key.map { _ in "?" }.joined(separator: ", ")
        let start = key == nil ? "" : "AND (\(names)) > (\(marks))"
        let arguments: [any SQLBindable] = (key ?? []) + [limit]
        return try db.rows(
            """
            SELECT \((column.key + column.further).joined(separator: ", ")), \(column.column) AS sealed FROM \(column.table)
            WHERE \(column.column) IS NOT NULL AND length(\(column.column)) > 0 \(start) ORDER BY \(names) LIMIT ?
            """, arguments
        ).map { row throws(StoreError) in
            var (key, further): ([String], [String]) = ([], [])
            for name in column.key { key.append(try row.text(name)) }
            for name in column.further { further.append(try row.text(name)) }
            return SealedValue(key: key, further: further, sealed: try row.blob("sealed"))
        }
    }

    /// Lists the newest sealed secret of each kind that a node must be able to open.
    package func listNewest() throws(StoreError) -> [Data] {
        var newest: [Data] = []
        for select in [
            "SELECT secret AS sealed FROM webhooks ORDER BY id DESC LIMIT 1",
            """
            SELECT instruction AS sealed FROM (SELECT id, instruction FROM payments ORDER BY id DESC LIMIT 100) AS newest
            WHERE instruction IS NOT NULL ORDER BY id DESC LIMIT 1
            """,
            "SELECT secret AS sealed FROM snapshot_keys ORDER BY n DESC LIMIT 1",
            "SELECT body AS sealed FROM notifications WHERE body IS NOT NULL ORDER BY received_at DESC LIMIT 1",
        ] {
            if let row = try db.row(select) { newest.append(try row.blob("sealed")) }
        }
        return newest
    }
}

extension SecretQueries where Connection == any Transaction {
    /// Replaces a secret by one that was sealed again, unless it has changed since it was read.
    package func update(_ column: SealedColumn, _ value: SealedValue, as sealed: Data) throws(StoreError) -> Bool {
        let condition = column.key.map { "\($0) = ?" }.joined(separator: " AND ")
        let key: [any SQLBindable] = value.key
        return try tx.execute(
            "UPDATE \(column.table) SET \(column.column) = ? WHERE \(condition) AND \(column.column) = ?",
            [sealed] + key + [value.sealed]) == 1
    }
}
