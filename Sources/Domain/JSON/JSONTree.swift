import Encodings

/// A JSON text as its author wrote it: members in their order, numbers as text.
package indirect enum JSONTree: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number as text, in the spelling of RFC 8259 section 6.
    case number(String)
    case string(String)
    case array([JSONTree])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: JSONTree
    }
}

/// The reason why bytes are not accepted as JSON, and the place of the fault.
package struct JSONFault: Error, Sendable, Equatable {
    package enum Problem: Sendable, Equatable {
        /// The text does not follow the grammar of RFC 8259.
        case syntax
        /// An object names this member twice, so that two readers could understand different things.
        case duplicate(String)
        /// More objects and arrays inside one another than are read.
        case depth
        /// A text that no database column holds: it contains U+0000.
        case nul
    }

    package let problem: Problem
    /// The number of bytes before the fault.
    package let offset: Int
}

extension JSONTree {
    /// Parses a whole text.
    ///
    /// - Parameters:
    ///   - depth: how many objects and arrays may stand inside one another.
    ///   - takesNUL: whether a text may contain U+0000.
    package init(_ bytes: [UInt8], depth: Int = 32, takesNUL: Bool = false) throws(JSONFault) {
        var reader = JSONReader(bytes: bytes, depth: depth, takesNUL: takesNUL)
        self = try reader.document()
    }
}

/// A reader of JSON (RFC 8259) that takes no duplicate members.
private struct JSONReader {
    let bytes: [UInt8]
    let depth: Int
    let takesNUL: Bool
    private var position = 0

    init(bytes: [UInt8], depth: Int, takesNUL: Bool) {
        self.bytes = bytes
        self.depth = depth
        self.takesNUL = takesNUL
    }

    mutating func document() throws(JSONFault) -> JSONTree {
        skipSpace()
        let value = try value(level: 0)
        skipSpace()
        guard position == bytes.count else { throw fault(.syntax) }
        return value
    }

    private func fault(_ problem: JSONFault.Problem, at offset: Int? = nil) -> JSONFault {
        JSONFault(problem: problem, offset: offset ?? position)
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func value(level: Int) throws(JSONFault) -> JSONTree {
        switch next {
        case UInt8(ascii: "{"): return .object(try object(level: level + 1))
        case UInt8(ascii: "["): return .array(try array(level: level + 1))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object(level: Int) throws(JSONFault) -> [JSONTree.Member] {
        guard level <= depth else { throw fault(.depth) }
        position += 1
        skipSpace()
        var members: [JSONTree.Member] = []
        var names: Set<String> = []
        guard next != UInt8(ascii: "}") else {
            position += 1
            return members
        }
        while true {
            skipSpace()
            let start = position
            guard next == UInt8(ascii: "\"") else { throw fault(.syntax) }
            let name = try string()
            // Compared by scalars: "é" written in one or in two of them are different names (RFC 8259 section 8.3).
            guard names.insert(name).inserted || !members.contains(where: { $0.name.utf8.elementsEqual(name.utf8) })
            else { throw fault(.duplicate(name), at: start) }
            skipSpace()
            guard next == UInt8(ascii: ":") else { throw fault(.syntax) }
            position += 1
            skipSpace()
            members.append(JSONTree.Member(name: name, value: try value(level: level)))
            skipSpace()
            if next == UInt8(ascii: ",") {
                position += 1
            } else if next == UInt8(ascii: "}") {
                position += 1
                return members
            } else {
                throw fault(.syntax)
            }
        }
    }

    private mutating func array(level: Int) throws(JSONFault) -> [JSONTree] {
        guard level <= depth else { throw fault(.depth) }
        position += 1
        skipSpace()
        var elements: [JSONTree] = []
        guard next != UInt8(ascii: "]") else {
            position += 1
            return elements
        }
        while true {
            skipSpace()
            elements.append(try value(level: level))
            skipSpace()
            if next == UInt8(ascii: ",") {
                position += 1
            } else if next == UInt8(ascii: "]") {
                position += 1
                return elements
            } else {
                throw fault(.syntax)
            }
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSONTree) throws(JSONFault) -> JSONTree {
        let end = position + text.utf8CodeUnitCount
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard end <= bytes.count, bytes[position..<end].elementsEqual(expected) else { throw fault(.syntax) }
        position = end
        return value
    }

    private mutating func number() throws(JSONFault) -> String {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        if next == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if next == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if let byte = next, byte | 0x20 == UInt8(ascii: "e") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while let byte = next, byte.isDigit { position += 1 }
        guard position > start else { throw fault(.syntax) }
    }

    // MARK: Texts

    private mutating func string() throws(JSONFault) -> String {
        position += 1
        let start = position
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        guard next != UInt8(ascii: "\"") else { return try text(bytes[start..<position], closedAt: position) }
        var decoded = Array(bytes[start..<position])
        while let byte = next, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") {
                let place = position
                let scalar = try escape()
                guard takesNUL || scalar.value != 0 else { throw fault(.nul, at: place) }
                decoded.append(contentsOf: Array(String(Character(scalar)).utf8))
            } else {
                guard byte >= 0x20 else { throw fault(byte == 0 && !takesNUL ? .nul : .syntax) }
                decoded.append(byte)
                position += 1
            }
        }
        guard next == UInt8(ascii: "\"") else { throw fault(.syntax) }
        return try text(decoded[...], closedAt: position)
    }

    private mutating func text(_ content: ArraySlice<UInt8>, closedAt end: Int) throws(JSONFault) -> String {
        guard let text = String(validating: content, as: UTF8.self) else { throw fault(.syntax) }
        position = end + 1
        return text
    }

    private mutating func escape() throws(JSONFault) -> Unicode.Scalar {
        position += 1
        guard let byte = next else { throw fault(.syntax) }
        let plain: Unicode.Scalar? =
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): Unicode.Scalar(byte)
            case UInt8(ascii: "b"): "\u{8}"
            case UInt8(ascii: "f"): "\u{C}"
            case UInt8(ascii: "n"): "\n"
            case UInt8(ascii: "r"): "\r"
            case UInt8(ascii: "t"): "\t"
            default: nil
            }
        if let plain {
            position += 1
            return plain
        }
        let high = try codeUnit()
        if let scalar = Unicode.Scalar(high) { return scalar }
        // The first half of a surrogate pair (RFC 8259 section 7); a lone half is no text.
        guard (0xD800...0xDBFF).contains(high), next == UInt8(ascii: "\\") else { throw fault(.syntax) }
        position += 1
        let low = try codeUnit()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(high - 0xD800) << 10) + UInt32(low - 0xDC00))
        else { throw fault(.syntax) }
        return scalar
    }

    /// Four hexadecimal digits behind `u`.
    private mutating func codeUnit() throws(JSONFault) -> UInt16 {
        guard next == UInt8(ascii: "u"), position + 4 < bytes.count,
            let unit = Hex.decoded(bytes[position + 1...position + 4])
        else { throw fault(.syntax) }
        position += 5
        return UInt16(unit[0]) << 8 | UInt16(unit[1])
    }
}

extension JSONTree {
    /// Returns whether any object in the text has a member twice, or the text is no JSON.
    ///
    /// Text that carries money or names a person is refused where two readers could understand it differently.
    package static func isAmbiguous(_ bytes: [UInt8]) -> Bool {
        do throws(JSONFault) {
            _ = try JSONTree(bytes, depth: 128, takesNUL: true)
            return false
        } catch {
            return true
        }
    }
}

extension JSONTree {
    package init(_ value: JSONValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let value): .bool(value)
            case .integer(let value): .number(String(value))
            case .number(let value): .number(String(value))
            case .string(let text): .string(text)
            case .array(let values): .array(values.map(JSONTree.init))
            case .object(let members):
                .object(members.sorted { $0.key < $1.key }.map { Member(name: $0.key, value: JSONTree($0.value)) })
            }
    }
}
