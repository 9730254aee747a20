import Encodings

/// Reads fields of one object of a token; null counts as absent, and a refusal names the field.
struct FieldReader {
    let json: JSONDocument
    let members: [JSONMember]

    func has(_ name: String) -> Bool { node(name) != nil }

    func text(_ name: String) throws(ApplePayRefusal) -> String {
        guard let node = node(name) else { throw .malformed("\(name) is missing") }
        guard let text = json.string(node) else { throw .malformed("\(name) is no text") }
        return text
    }

    func object(_ name: String) throws(ApplePayRefusal) -> FieldReader {
        guard case .object(let members)? = node(name) else { throw .malformed("\(name) is no object") }
        return FieldReader(json: json, members: members)
    }

    /// Decodes base64 in its canonical spelling, of at least one byte.
    func base64(_ name: String) throws(ApplePayRefusal) -> [UInt8] {
        guard let bytes = Base64.decodeStandard(try bytes(name)), !bytes.isEmpty else {
            throw .malformed("\(name) is no base64")
        }
        return bytes
    }

    /// Decodes hex digits of either case, two for each byte.
    func hex(_ name: String) throws(ApplePayRefusal) -> [UInt8] {
        guard let bytes = Hex.decoded(try bytes(name)), !bytes.isEmpty else { throw .malformed("\(name) is no hex") }
        return bytes
    }

    /// The bytes of a text, copied only where it has escapes.
    private func bytes(_ name: String) throws(ApplePayRefusal) -> ArraySlice<UInt8> {
        if let node = node(name), let plain = json.plainBytes(node) { return plain }
        return Array(try text(name).utf8)[...]
    }

    private func node(_ name: String) -> JSONNode? {
        guard let node = members[name] else { return nil }
        if case .null = node { return nil }
        return node
    }
}
