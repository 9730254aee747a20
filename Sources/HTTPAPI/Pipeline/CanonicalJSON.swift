import Domain
import FoundationEssentials

/// Canonical JSON: the same values with another order of members, other white space or other escapes have the same
/// bytes.
///
/// Numbers are compared by their exact decimal value, never as floating point: 1, 1.0 and 1e0 are equal, and two
/// integers beyond 2^53 stay different. Text with a member that appears twice has no canonical form, because readers
/// differ in which of the two counts.
enum CanonicalJSON {
    /// Returns the canonical form.
    ///
    /// - Returns: nil for text that is no JSON, is nested deeper than 64, or has a member twice; such a body is
    ///   compared byte for byte.
    static func form(_ text: Data) -> Data? {
        var reader = CanonicalReader(bytes: Array(text))
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        return reader.position == reader.bytes.count ? Data(value) : nil
    }
}

private struct CanonicalReader {
    let bytes: [UInt8]
    var position = 0

    private static let depthLimit = 64

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func skipSpace() {
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    }

    mutating func value(depth: Int) -> [UInt8]? {
        skipSpace()
        guard depth < Self.depthLimit, position < bytes.count else { return nil }
        switch bytes[position] {
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string().map(Self.quoted)
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        skipSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: mark) else { return false }
        position += 1
        return true
    }

    private mutating func word(_ word: String) -> [UInt8]? {
        guard bytes[position...].starts(with: word.utf8) else { return nil }
        position += word.utf8.count
        return Array(word.utf8)
    }

    private mutating func object(depth: Int) -> [UInt8]? {
        guard take("{") else { return nil }
        var members: [(name: [UInt8], value: [UInt8])] = []
        if !take("}") {
            repeat {
                skipSpace()
                guard let name = string(), take(":"), let value = value(depth: depth + 1) else { return nil }
                members.append((name, value))
            } while take(",")
            guard take("}") else { return nil }
        }
        members.sort { $0.name.lexicographicallyPrecedes($1.name) }
        guard zip(members, members.dropFirst()).allSatisfy({ $0.name != $1.name }) else { return nil }
        let inner = members.map { Self.quoted($0.name) + [UInt8(ascii: ":")] + $0.value }
        return [UInt8(ascii: "{")] + inner.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    }

    private mutating func array(depth: Int) -> [UInt8]? {
        guard take("[") else { return nil }
        var elements: [[UInt8]] = []
        if !take("]") {
            repeat {
                guard let value = value(depth: depth + 1) else { return nil }
                elements.append(value)
            } while take(",")
            guard take("]") else { return nil }
        }
        return [UInt8(ascii: "[")] + elements.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
    }

    /// Reads a string and resolves its escapes.
    private mutating func string() -> [UInt8]? {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                text += escaped
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> [UInt8]? {
        guard position < bytes.count else { return nil }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "u"): return scalar()
        default: return nil
        }
    }

    /// Reads one Unicode scalar from one or two UTF-16 escapes.
    private mutating func scalar() -> [UInt8]? {
        guard let first = unit() else { return nil }
        var value = UInt32(first)
        if (0xD800..<0xDC00).contains(first) {
            guard bytes[position...].starts(with: #"\u"#.utf8) else { return nil }
            position += 2
            guard let second = unit(), (0xDC00..<0xE000).contains(second) else { return nil }
            value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        }
        return Unicode.Scalar(value).map { Array(String($0).utf8) }
    }

    private mutating func unit() -> UInt16? {
        guard position + 4 <= bytes.count else { return nil }
        var value: UInt16 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = Hex.value(byte) else { return nil }
            value = value << 4 | UInt16(digit)
        }
        position += 4
        return value
    }

    /// Reads a number as its sign, significant digits and exponent.
    private mutating func number() -> [UInt8]? {
        let isNegative = position < bytes.count && bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        var digits = digits()
        guard !digits.isEmpty else { return nil }
        var exponent = 0
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            let fraction = self.digits()
            guard !fraction.isEmpty else { return nil }
            digits += fraction
            exponent = -fraction.count
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            var sign = 1
            if position < bytes.count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[position]) {
                sign = bytes[position] == UInt8(ascii: "-") ? -1 : 1
                position += 1
            }
            let power = self.digits()
            guard (1...9).contains(power.count), let value = Int(String(decoding: power, as: UTF8.self)) else {
                return nil
            }
            exponent += sign * value
        }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        let significant = digits.drop { $0 == UInt8(ascii: "0") }
        guard !significant.isEmpty else { return [UInt8(ascii: "0")] }
        let text = String(decoding: significant, as: UTF8.self)
        return Array("\(isNegative ? "-" : "")\(text)e\(exponent)".utf8)
    }

    private mutating func digits() -> [UInt8] {
        let start = position
        while position < bytes.count, bytes[position].isDigit { position += 1 }
        return Array(bytes[start..<position])
    }

    /// Writes a string after its length, a form that needs no escapes and is unambiguous.
    private static func quoted(_ text: [UInt8]) -> [UInt8] { Array("\"\(text.count):".utf8) + text }
}
