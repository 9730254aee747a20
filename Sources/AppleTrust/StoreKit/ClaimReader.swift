/// Reads typed fields of one JSON object; null counts as absent, a wrong type is `malformed` and names the field.
struct ClaimReader {
    private let json: JSONText
    private let members: [JSONMember]

    init(_ json: JSONText) { self.init(json, json.root) }

    private init(_ json: JSONText, _ members: [JSONMember]) {
        self.json = json
        self.members = members
    }

    /// A field that may not be absent.
    func required<Value>(
        _ name: String, _ read: (ClaimReader) -> (String) throws(AppleRefusal) -> Value?
    ) throws(AppleRefusal) -> Value {
        guard let value = try read(self)(name) else { throw .malformed("\(name) is missing") }
        return value
    }

    func text(_ name: String) throws(AppleRefusal) -> String? {
        guard let node = node(name) else { return nil }
        guard let text = json.string(node) else { throw wrong(name, "text") }
        return text
    }

    /// Text that names something, so it has 1 to 255 bytes.
    func identifier(_ name: String) throws(AppleRefusal) -> String? {
        guard let text = try text(name) else { return nil }
        guard (1...255).contains(text.utf8.count) else { throw wrong(name, "a name") }
        return text
    }

    /// An id that Apple made, of at most 64 bytes; those that are known have 20.
    func appleID(_ name: String) throws(AppleRefusal) -> String? {
        guard let text = try identifier(name) else { return nil }
        guard text.utf8.count <= 64 else { throw wrong(name, "an id of Apple's") }
        return text
    }

    /// Milliseconds since 1970-01-01 UTC, fractions floored, within the years 0 to 9999.
    func date(_ name: String) throws(AppleRefusal) -> Int64? {
        guard let node = node(name) else { return nil }
        guard let date = json.flooredInteger(node), (-62_167_219_200_000...253_402_300_799_999).contains(date) else {
            throw wrong(name, "a time in milliseconds")
        }
        return date
    }

    func integer(_ name: String, in range: ClosedRange<Int64>) throws(AppleRefusal) -> Int64? {
        guard let node = node(name) else { return nil }
        guard let integer = json.integer(node), range.contains(integer) else { throw wrong(name, "a whole number") }
        return integer
    }

    /// An amount in milliunits of a currency.
    func milliunits(_ name: String) throws(AppleRefusal) -> Int64? { try integer(name, in: 0...Int64.max) }

    func flag(_ name: String) throws(AppleRefusal) -> Bool? {
        guard let node = node(name) else { return nil }
        guard case .bool(let flag) = node else { throw wrong(name, "true or false") }
        return flag
    }

    func code<Known: RawRepresentable<String>>(_ name: String) throws(AppleRefusal) -> AppleCode<Known>? {
        try text(name).map(AppleCode.init(rawValue:))
    }

    func code<Known: RawRepresentable<Int>>(_ name: String) throws(AppleRefusal) -> AppleCode<Known>? {
        try integer(name, in: Self.int32).map { AppleCode(rawValue: Int($0)) }
    }

    /// A UUID in lower case (RFC 9562 section 4).
    func uuid(_ name: String) throws(AppleRefusal) -> String? {
        guard let text = try text(name) else { return nil }
        let characters = Array(text.lowercased().utf8)
        let isUUID =
            characters.count == 36
            && characters.indices.allSatisfy { index in
                [8, 13, 18, 23].contains(index)
                    ? characters[index] == UInt8(ascii: "-")
                    : (0x30...0x39).contains(characters[index]) || (0x61...0x66).contains(characters[index])
            }
        guard isUUID else { throw wrong(name, "a UUID") }
        return String(decoding: characters, as: UTF8.self)
    }

    func texts(_ name: String) throws(AppleRefusal) -> [String] {
        guard let node = node(name) else { return [] }
        guard case .array(let nodes) = node else { throw wrong(name, "a list") }
        var texts: [String] = []
        for node in nodes {
            guard let text = json.string(node) else { throw wrong(name, "a list of texts") }
            texts.append(text)
        }
        return texts
    }

    func object(_ name: String) throws(AppleRefusal) -> ClaimReader? {
        guard let node = node(name) else { return nil }
        guard case .object(let members) = node else { throw wrong(name, "an object") }
        return ClaimReader(json, members)
    }

    static let int32 = Int64(Int32.min)...Int64(Int32.max)

    private func node(_ name: String) -> JSONNode? {
        guard let node = members[name] else { return nil }
        if case .null = node { return nil }
        return node
    }

    private func wrong(_ name: String, _ expected: String) -> AppleRefusal { .malformed("\(name) is not \(expected)") }
}
