/// A value of a parsed JSON text; strings and numbers are ranges of the text.
enum JSONNode: Sendable {
    case null
    case bool(Bool)
    case number(Range<Int>)
    /// The bytes between the quotes, and whether an escape is among them.
    case string(Range<Int>, escaped: Bool)
    case array([JSONNode])
    case object([JSONMember])
}

/// A name and its value in a JSON object.
struct JSONMember: Sendable {
    let name: String
    let value: JSONNode
    /// The range of the value in the text, in bytes.
    let extent: Range<Int>
}

/// A JSON text whose root is an object, and the means to read typed values out of it.
struct JSONDocument: Sendable {
    let bytes: [UInt8]
    let root: [JSONMember]

    /// - Throws: where the text is not strict JSON (RFC 8259) with an object at its root, repeats a name, or is larger
    ///   than `JSONLimits`.
    init(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        var parser = try JSONParser(bytes)
        self.bytes = bytes
        root = try parser.document()
    }

    /// The value of a string node; nil for any other node.
    func string(_ node: JSONNode) -> String? {
        guard case .string(let range, let escaped) = node else { return nil }
        return escaped ? JSONEscape.decode(bytes[range]) : String(validating: bytes[range], as: UTF8.self)
    }

    /// The bytes of a string without escapes; nil for any other node.
    func plainBytes(_ node: JSONNode) -> ArraySlice<UInt8>? {
        guard case .string(let range, false) = node else { return nil }
        return bytes[range]
    }

    /// A number's whole part, rounded toward minus infinity; nil for any other node and outside Int64.
    func flooredInteger(_ node: JSONNode) -> Int64? {
        guard case .number(let range) = node else { return nil }
        return JSONNumber.floored(bytes[range])
    }

    /// A whole number, also written as `3.0`; nil for any other node, for fractions and outside Int64.
    func integer(_ node: JSONNode) -> Int64? {
        guard case .number(let range) = node else { return nil }
        return JSONNumber.exact(bytes[range])
    }
}

extension [JSONMember] {
    /// The member's value; nil where there is none of this name.
    subscript(name: String) -> JSONNode? { first { $0.name == name }?.value }
}
