import Synchronization

/// Values that were decoded from stored JSON before, by their whole text, so that none of them can be out of date.
///
/// For what few texts say again and again: SKUs, and the terms of their orders. When it is full it starts anew.
final class DecodedTexts<Value: Decodable & Sendable>: Sendable {
    private let capacity = 256
    private let values = Mutex<[String: Value]>([:])

    func value(_ column: String, of row: Row) throws(StoreError) -> Value {
        let text = try row.text(column)
        if let known = values.withLock({ $0[text] }) { return known }
        let value: Value = try row.json(column)
        values.withLock { values in
            if values.count >= capacity { values = [:] }
            values[text] = value
        }
        return value
    }
}

/// The texts of values that were encoded before, by the whole value.
final class EncodedTexts<Value: Encodable & Hashable & Sendable>: Sendable {
    private let capacity = 256
    private let texts = Mutex<[Value: String]>([:])

    func text(of value: Value) throws(StoreError) -> String {
        if let known = texts.withLock({ $0[value] }) { return known }
        let text = try value.storedJSON()
        texts.withLock { texts in
            if texts.count >= capacity { texts = [:] }
            texts[value] = text
        }
        return text
    }
}
