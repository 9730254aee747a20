import Encodings

/// A strict reader of bounded JSON texts (RFC 8259): names may not repeat, nothing may follow the root, no U+0000.
struct JSONParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0
    private var values = 0

    init(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw JSONSyntaxError(problem: "not UTF-8", offset: 0)
        }
        self.bytes = bytes
    }

    /// Reads the whole text as one object and returns its members.
    mutating func document() throws(JSONSyntaxError) -> [JSONMember] {
        skipSpace()
        guard take("{") else { throw error("not an object") }
        let members = try object()
        skipSpace()
        guard position == bytes.count else { throw error("text after the object") }
        return members
    }

    private mutating func value() throws(JSONSyntaxError) -> JSONNode {
        values += 1
        guard values <= JSONLimits.values else { throw error("too many values") }
        guard position < bytes.count else { throw error("the text ends early") }
        switch bytes[position] {
        case UInt8(ascii: "\""):
            position += 1
            let (range, escaped) = try string()
            return .string(range, escaped: escaped)
        case UInt8(ascii: "{"):
            position += 1
            return .object(try object())
        case UInt8(ascii: "["):
            position += 1
            return .array(try array())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    /// Reads an object's members; its opening brace has been read.
    private mutating func object() throws(JSONSyntaxError) -> [JSONMember] {
        try enter()
        defer { depth -= 1 }
        var members: [JSONMember] = []
        skipSpace()
        if take("}") { return members }
        repeat {
            skipSpace()
            guard take("\"") else { throw error("a name is missing") }
            let name = try name()
            guard members[name] == nil else { throw error("a name stands twice") }
            guard members.count < JSONLimits.members else { throw error("too many members") }
            skipSpace()
            guard take(":") else { throw error("a colon is missing") }
            skipSpace()
            let start = position
            let value = try value()
            members.append(JSONMember(name: name, value: value, extent: start..<position))
            skipSpace()
        } while take(",")
        guard take("}") else { throw error("an object does not end") }
        return members
    }

    /// Reads an array's elements; its opening bracket has been read.
    private mutating func array() throws(JSONSyntaxError) -> [JSONNode] {
        try enter()
        defer { depth -= 1 }
        var elements: [JSONNode] = []
        skipSpace()
        if take("]") { return elements }
        repeat {
            skipSpace()
            elements.append(try value())
            skipSpace()
        } while take(",")
        guard take("]") else { throw error("an array does not end") }
        return elements
    }

    private mutating func name() throws(JSONSyntaxError) -> String {
        let (range, escaped) = try string()
        let name = escaped ? JSONEscape.decode(bytes[range]) : String(validating: bytes[range], as: UTF8.self)
        guard let name else { throw error("a name is no text") }
        return name
    }

    /// Reads a string and returns its range; its opening quote has been read.
    private mutating func string() throws(JSONSyntaxError) -> (Range<Int>, escaped: Bool) {
        let start = position
        var escaped = false
        skipPlain()
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let range = start..<position
                position += 1
                if escaped, JSONEscape.decode(bytes[range]) == nil { throw error("a wrong escape") }
                return (range, escaped)
            case UInt8(ascii: "\\"):
                escaped = true
                position += 2
                skipPlain()
            default: throw error("a control character in a string")
            }
        }
        throw error("a string does not end")
    }

    /// Skips to the next quote, backslash or control character, or to the end: eight bytes at a time, because a
    /// notification is mostly one long string.
    private mutating func skipPlain() {
        guard position < bytes.count else { return }
        position = bytes.withUnsafeBytes { bytes in
            var index = position
            while index + 8 <= bytes.count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                // The lowest set bit marks the first such byte; bytes above it may be marked wrongly.
                let marks =
                    Self.marks(word, below: 0x20) | Self.marks(word ^ Self.each(UInt8(ascii: "\"")), below: 1)
                    | Self.marks(word ^ Self.each(UInt8(ascii: "\\")), below: 1)
                if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
                index += 8
            }
            while index < bytes.count, Self.isPlain(bytes[index]) { index += 1 }
            return index
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// The byte repeated in all eight positions of a word.
    private static func each(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// The highest bit of each byte of the word that is below the limit, which is 128 at most.
    private static func marks(_ word: UInt64, below limit: UInt8) -> UInt64 {
        (word &- each(limit)) & ~word & each(0x80)
    }

    /// Reads a number in exactly the spelling of RFC 8259 section 6 and returns its range.
    private mutating func number() throws(JSONSyntaxError) -> Range<Int> {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return start..<position
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while position < bytes.count, bytes[position].isDigit { position += 1 }
        guard position > start else { throw error("no JSON value") }
    }

    private mutating func literal(_ text: StaticString, _ node: JSONNode) throws(JSONSyntaxError) -> JSONNode {
        let end = position + text.utf8CodeUnitCount
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard end <= bytes.count, bytes[position..<end].elementsEqual(expected) else { throw error("no JSON value") }
        position = end
        return node
    }

    private mutating func enter() throws(JSONSyntaxError) {
        depth += 1
        guard depth <= JSONLimits.depth else { throw error("too deep") }
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private func error(_ problem: String) -> JSONSyntaxError { JSONSyntaxError(problem: problem, offset: position) }
}

/// The limits on a peer's JSON text; Apple's largest objects have some forty members.
enum JSONLimits {
    /// The nesting of objects and arrays.
    static let depth = 16
    /// Members of one object.
    static let members = 128
    /// Values in the whole text.
    static let values = 2_048
}

/// The reason why a JSON text was refused, and at which byte.
struct JSONSyntaxError: Error {
    let problem: String
    let offset: Int
}

/// The escapes of JSON strings (RFC 8259 section 7).
enum JSONEscape {
    /// Decodes the bytes between the quotes of a string.
    ///
    /// - Returns: nil for an unknown escape, a lone surrogate, U+0000 and bytes that are no UTF-8.
    static func decode(_ bytes: ArraySlice<UInt8>) -> String? {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        var rest = bytes
        while let escape = rest.firstIndex(of: UInt8(ascii: "\\")) {
            output.append(contentsOf: rest[..<escape])
            rest = rest[(escape + 1)...]
            guard let kind = rest.popFirst() else { return nil }
            if kind == UInt8(ascii: "u") {
                guard let scalar = scalar(&rest), scalar.value != 0 else { return nil }
                output.append(contentsOf: String(scalar).utf8)
            } else {
                guard let plain = plain(kind) else { return nil }
                output.append(plain)
            }
        }
        output.append(contentsOf: rest)
        return String(validating: output, as: UTF8.self)
    }

    private static func plain(_ kind: UInt8) -> UInt8? {
        switch kind {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): kind
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Reads the scalar of `\uXXXX`, or of two of them that are a surrogate pair; the first `\u` has been read.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let first = unit(&rest) else { return nil }
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
        guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"),
            let second = unit(&rest), (0xDC00..<0xE000).contains(second)
        else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }

    private static func unit(_ rest: inout ArraySlice<UInt8>) -> UInt32? {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = rest.popFirst(), let digit = Hex.value(byte) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
