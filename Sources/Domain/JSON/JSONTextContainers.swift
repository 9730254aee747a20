/// The encoder that one value writes itself with.
struct JSONTextValueEncoder: Encoder {
    let buffer: JSONTextBuffer
    let depth: Int

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        buffer.beginObject(at: depth)
        return KeyedEncodingContainer(JSONTextMembers(buffer: buffer, depth: depth))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        buffer.beginArray(at: depth)
        return JSONTextElements(buffer: buffer, depth: depth)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        JSONTextSingleValue(buffer: buffer, depth: depth)
    }
}

/// The members of an object.
private struct JSONTextMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let buffer: JSONTextBuffer
    let depth: Int

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: depth)
        buffer.writeNull()
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: depth)
        buffer.write(value)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: depth)
        buffer.write(value)
    }

    func encode(_ value: Double, forKey key: Key) throws { throw buffer.unsupported() }
    func encode(_ value: Float, forKey key: Key) throws { throw buffer.unsupported() }

    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: depth)
        buffer.write(integer: value)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: depth)
        try buffer.write(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        buffer.unsupportedEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        buffer.unsupportedEncoder().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { buffer.unsupportedEncoder() }
    func superEncoder(forKey key: Key) -> any Encoder { buffer.unsupportedEncoder() }
}

/// The elements of an array.
private struct JSONTextElements: UnkeyedEncodingContainer {
    let buffer: JSONTextBuffer
    let depth: Int
    private(set) var count = 0

    init(buffer: JSONTextBuffer, depth: Int) {
        self.buffer = buffer
        self.depth = depth
    }

    var codingPath: [any CodingKey] { [] }

    private mutating func begin() throws {
        try buffer.beginElement(at: depth)
        count += 1
    }

    mutating func encodeNil() throws {
        try begin()
        buffer.writeNull()
    }

    mutating func encode(_ value: Bool) throws {
        try begin()
        buffer.write(value)
    }

    mutating func encode(_ value: String) throws {
        try begin()
        buffer.write(value)
    }

    mutating func encode(_ value: Double) throws { throw buffer.unsupported() }
    mutating func encode(_ value: Float) throws { throw buffer.unsupported() }

    mutating func encode(_ value: some FixedWidthInteger & Encodable) throws {
        try begin()
        buffer.write(integer: value)
    }

    mutating func encode(_ value: some Encodable) throws {
        try begin()
        try buffer.write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        buffer.unsupportedEncoder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        buffer.unsupportedEncoder().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { buffer.unsupportedEncoder() }
}

/// A value that is neither an object nor an array, or that is written as another value.
private struct JSONTextSingleValue: SingleValueEncodingContainer {
    let buffer: JSONTextBuffer
    let depth: Int

    var codingPath: [any CodingKey] { [] }

    func encodeNil() throws {
        try buffer.beginSingleValue(at: depth)
        buffer.writeNull()
    }

    func encode(_ value: Bool) throws {
        try buffer.beginSingleValue(at: depth)
        buffer.write(value)
    }

    func encode(_ value: String) throws {
        try buffer.beginSingleValue(at: depth)
        buffer.write(value)
    }

    func encode(_ value: Double) throws { throw buffer.unsupported() }
    func encode(_ value: Float) throws { throw buffer.unsupported() }

    func encode(_ value: some FixedWidthInteger & Encodable) throws {
        try buffer.beginSingleValue(at: depth)
        buffer.write(integer: value)
    }

    func encode(_ value: some Encodable) throws {
        try buffer.beginSingleValue(at: depth)
        try buffer.write(value)
    }
}
