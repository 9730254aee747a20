import Encodings

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

/// Whole numbers out of JSON's number syntax, without floating point wherever the text has no exponent.
enum JSONNumber {
    /// The number rounded toward minus infinity; nil outside Int64.
    static func floored(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let (whole, fraction) = split(text) else { return throughDouble(text) }
        guard let value = integer(whole) else { return nil }
        let negative = text.first == UInt8(ascii: "-")
        guard negative, fraction.contains(where: { $0 != UInt8(ascii: "0") }) else { return value }
        let (below, overflow) = value.subtractingReportingOverflow(1)
        return overflow ? nil : below
    }

    /// The number where it is whole; nil for a fraction and outside Int64.
    static func exact(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let (whole, fraction) = split(text), fraction.allSatisfy({ $0 == UInt8(ascii: "0") }) else {
            return nil
        }
        return integer(whole)
    }

    /// The digits before and after the point; nil where there is an exponent.
    private static func split(_ text: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        guard !text.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return nil }
        guard let point = text.firstIndex(of: UInt8(ascii: ".")) else { return (text, []) }
        return (text[..<point], text[(point + 1)...])
    }

    private static func integer(_ text: ArraySlice<UInt8>) -> Int64? {
        let negative = text.first == UInt8(ascii: "-")
        var value: Int64 = 0
        for digit in negative ? text.dropFirst() : text {
            guard digit.isDigit else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let amount = Int64(digit - 0x30)
            let (sum, carry) =
                negative ? product.subtractingReportingOverflow(amount) : product.addingReportingOverflow(amount)
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    private static func throughDouble(_ text: ArraySlice<UInt8>) -> Int64? {
        guard let value = Double(String(decoding: text, as: UTF8.self)) else { return nil }
        return Int64(exactly: value.rounded(.down))
    }
}
