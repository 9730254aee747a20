import Synchronization

/// A cache of decoded (or encoded) JSON by the whole input, so that no entry can be out of date.
///
/// For columns with few different values: SKUs, and the terms of their orders. A full cache is cleared.
final class DecodeCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
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

extension DecodeCache where Key == String, Value: Decodable {
    /// Decodes the JSON of a column.
    func value(_ column: String, of row: Row) throws(StoreError) -> Value {
        try value(for: try row.text(column)) { () throws(StoreError) in try row.json(column) }
    }
}

extension DecodeCache where Key: Encodable, Value == String {
    /// Encodes a value as JSON.
    func text(of key: Key) throws(StoreError) -> String {
        try value(for: key) { () throws(StoreError) in try key.storedJSON() }
    }
}
