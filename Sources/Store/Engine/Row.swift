package import FoundationEssentials

/// A row of a result, whose columns are read by name; a column that breaks the schema's promise is a
/// ``StoreError/corrupt(_:)``.
package struct Row: Sendable {
    /// The names of the result's columns, shared by all its rows.
    package let columns: [String]
    package let values: [SQLValue]

    package init(columns: [String], values: [SQLValue]) {
        self.columns = columns
        self.values = values
    }

    package subscript(_ column: String) -> SQLValue {
        guard let index = columns.firstIndex(of: column) else { return .null }
        return values[index]
    }

    package func int(_ column: String) throws(StoreError) -> Int64 {
        guard case .integer(let value) = self[column] else { throw .corrupt("column \(column) is not an integer") }
        return value
    }

    package func text(_ column: String) throws(StoreError) -> String {
        guard case .text(let value) = self[column] else { throw .corrupt("column \(column) is not text") }
        return value
    }

    package func blob(_ column: String) throws(StoreError) -> Data {
        guard case .blob(let value) = self[column] else { throw .corrupt("column \(column) is not a blob") }
        return value
    }

    package func bool(_ column: String) throws(StoreError) -> Bool { try int(column) != 0 }

    package func optionalInt(_ column: String) throws(StoreError) -> Int64? {
        self[column] == .null ? nil : try int(column)
    }

    package func optionalText(_ column: String) throws(StoreError) -> String? {
        self[column] == .null ? nil : try text(column)
    }

    package func optionalBlob(_ column: String) throws(StoreError) -> Data? {
        self[column] == .null ? nil : try blob(column)
    }
}
