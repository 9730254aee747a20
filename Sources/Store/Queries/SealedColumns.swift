package import FoundationEssentials

/// A column of sealed secrets, and what names a row of its table.
package struct SealedColumn: Sendable, Hashable {
    package let table: String
    package let column: String
    /// The primary key.
    package let key: [String]
    /// Further columns that the place of a secret is made of.
    package let further: [String]

    package init(_ table: String, _ column: String, key: [String], further: [String] = []) {
        self.table = table
        self.column = column
        self.key = key
        self.further = further
    }
}

/// A sealed secret where it stands.
package struct SealedValue: Sendable {
    /// The values of the primary key.
    package let key: [String]
    package let further: [String]
    package let sealed: Data
}

extension Database {
    /// The secrets of a column behind a row, in the order of its table's primary key.
    package func sealedValues(
        _ column: SealedColumn, after key: [String]?, limit: Int64
    ) throws(StoreError) -> [SealedValue] {
        let names = column.key.joined(separator: ", ")
        let marks = column.key.map { _ in "?" }.joined(separator: ", ")
        let start = key == nil ? "" : "AND (\(names)) > (\(marks))"
        let arguments: [any SQLBindable] = (key ?? []) + [limit]
        return try rows(
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
}

extension Transaction {
    /// Puts a secret that was sealed anew in the place of one that still stands as it was read.
    package func reseal(_ column: SealedColumn, _ value: SealedValue, as sealed: Data) throws(StoreError) -> Bool {
        let place = column.key.map { "\($0) = ?" }.joined(separator: " AND ")
        let key: [any SQLBindable] = value.key
        return try execute(
            "UPDATE \(column.table) SET \(column.column) = ? WHERE \(place) AND \(column.column) = ?",
            [sealed] + key + [value.sealed]) == 1
    }
}
