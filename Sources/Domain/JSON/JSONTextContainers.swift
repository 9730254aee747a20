/// The encoder that one value writes itself with.
struct JSONTextValueEncoder: Encoder {
    let buffer: JSONTextBuffer
    let place: JSONTextBuffer.Place

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        buffer.beginObject(at: place)
        return KeyedEncodingContainer(JSONTextMembers(buffer: buffer, place: place))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        buffer.beginArray(at: place)
        return JSONTextElements(buffer: buffer, place: place)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        JSONTextSingleValue(buffer: buffer, place: place)
    }
}

/// The members of an object.
private struct JSONTextMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let buffer: JSONTextBuffer
    let place: JSONTextBuffer.Place

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: place)
        buffer.writeNull()
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: place)
        buffer.write(value)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: place)
        buffer.write(value)
    }

    func encode(_ value: Double, forKey key: Key) throws { throw buffer.unsupported() }
    func encode(_ value: Float, forKey key: Key) throws { throw buffer.unsupported() }

    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: place)
        buffer.write(integer: value)
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        try buffer.beginMember(key.stringValue, at: place)
        try buffer.write(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        guard let nested = buffer.beginNestedObject(key.stringValue, at: place) else {
            return buffer.unsupportedEncoder().container(keyedBy: type)
        }
        return KeyedEncodingContainer(JSONTextMembers<Nested>(buffer: buffer, place: nested))
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
    let place: JSONTextBuffer.Place
    private(set) var count = 0

    init(buffer: JSONTextBuffer, place: JSONTextBuffer.Place) {
        self.buffer = buffer
        self.place = place
    }

    var codingPath: [any CodingKey] { [] }

    private mutating func begin() throws {
        try buffer.beginElement(at: place)
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
    let place: JSONTextBuffer.Place

    var codingPath: [any CodingKey] { [] }

    func encodeNil() throws {
        try buffer.beginSingleValue(at: place)
        buffer.writeNull()
    }

    func encode(_ value: Bool) throws {
        try buffer.beginSingleValue(at: place)
        buffer.write(value)
    }

    func encode(_ value: String) throws {
        try buffer.beginSingleValue(at: place)
        buffer.write(value)
    }

    func encode(_ value: Double) throws { throw buffer.unsupported() }
    func encode(_ value: Float) throws { throw buffer.unsupported() }

    func encode(_ value: some FixedWidthInteger & Encodable) throws {
        try buffer.beginSingleValue(at: place)
        buffer.write(integer: value)
    }

    func encode(_ value: some Encodable) throws {
        try buffer.beginSingleValue(at: place)
        try buffer.write(value)
    }
}
