package import FoundationEssentials
import Synchronization

/// The names of a result's columns, in the order of the result.
package final class ResultColumns: Sendable {
    package let names: [String]
    /// The position after the one that was found last: rows are mostly read in the order of their columns, so that most
    /// searches end at their first comparison.
    private let next = Atomic<Int>(0)

    package init(_ names: [String]) { self.names = names }

    func index(of name: String) -> Int? {
        let start = next.load(ordering: .relaxed)
        guard let found = names[start...].firstIndex(of: name) ?? names[..<start].firstIndex(of: name)
        else { return nil }
        next.store(found + 1, ordering: .relaxed)
        return found
    }
}

/// A row of a result, whose columns are read by name; a column that breaks the schema's promise is a
/// ``StoreError/corrupt(_:)``.
package struct Row: Sendable {
    /// The result's columns, shared by all its rows.
    private let shared: ResultColumns
    package let values: [SQLValue]

    package init(columns: ResultColumns, values: [SQLValue]) {
        shared = columns
        self.values = values
    }

    package var columns: [String] { shared.names }

    package subscript(_ column: String) -> SQLValue {
        guard let index = shared.index(of: column) else { return .null }
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
        switch self[column] {
        case .null: nil
        case .integer(let value): value
        default: throw .corrupt("column \(column) is not an integer")
        }
    }

    package func optionalText(_ column: String) throws(StoreError) -> String? {
        switch self[column] {
        case .null: nil
        case .text(let value): value
        default: throw .corrupt("column \(column) is not text")
        }
    }

    package func optionalBlob(_ column: String) throws(StoreError) -> Data? {
        switch self[column] {
        case .null: nil
        case .blob(let value): value
        default: throw .corrupt("column \(column) is not a blob")
        }
    }
}
