import Synchronization

/// What was made of a value before, by the whole value, so that none of it can be out of date.
///
/// For what a few values say again and again: SKUs, and the terms of their orders. When it is full it starts anew.
final class Remembered<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let capacity = 256
    private let values = Mutex<[Key: Value]>([:])

    fileprivate func value(for key: Key, make: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        if let known = values.withLock({ $0[key] }) { return known }
        let value = try make()
        values.withLock { values in
            if values.count >= capacity { values = [:] }
            values[key] = value
        }
        return value
    }
}

extension Remembered where Key == String, Value: Decodable {
    /// What a column's JSON says.
    func value(_ column: String, of row: Row) throws(StoreError) -> Value {
        try value(for: try row.text(column)) { () throws(StoreError) in try row.json(column) }
    }
}

extension Remembered where Key: Encodable, Value == String {
    /// A value as JSON.
    func text(of key: Key) throws(StoreError) -> String {
        try value(for: key) { () throws(StoreError) in try key.storedJSON() }
    }
}
