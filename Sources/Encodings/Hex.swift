/// Hexadecimal digits, two for each byte (RFC 4648 section 8).
public enum Hex {
    /// The case of the digits above 9: `a`–`f` or `A`–`F`.
    public enum Letters: Sendable {
        case lower, upper
    }

    /// The most bytes that a text of no fixed length is read into.
    public static let limit = 1 << 16

    @usableFromInline static let lower = Array("0123456789abcdef".utf8)
    @usableFromInline static let upper = Array("0123456789ABCDEF".utf8)

    /// Writes bytes as digits.
    @inlinable public static func encoded(_ bytes: some Sequence<UInt8>, _ letters: Letters = .lower) -> String {
        let digits = letters == .lower ? lower : upper
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads exactly so many bytes.
    ///
    /// - Parameters:
    ///   - count: of the bytes, half the number of the digits.
    ///   - letters: the only case that is taken; nil takes both.
    /// - Returns: nil for another number of digits and for anything else than digits.
    @inlinable public static func decoded(
        _ text: some StringProtocol, count: Int, _ letters: Letters? = nil
    ) -> [UInt8]? {
        text.utf8.count == count * 2 ? decoded(text.utf8, letters, limit: count) : nil
    }

    /// Reads all digits.
    ///
    /// - Parameters:
    ///   - letters: the only case that is taken; nil takes both.
    ///   - limit: the most bytes that are read.
    /// - Returns: nil for an odd number of digits, for more than the limit and for anything else than digits.
    @inlinable public static func decoded(
        _ text: some Collection<UInt8>, _ letters: Letters? = nil, limit: Int = Hex.limit
    ) -> [UInt8]? {
        guard text.count.isMultiple(of: 2), text.count / 2 <= limit else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        var high: UInt8?
        for character in text {
            guard let digit = value(character, letters) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }

    /// The value of a digit, 0 to 15; nil for any other byte.
    @inlinable public static func value(_ digit: UInt8, _ letters: Letters? = nil) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46 where letters != .lower: digit - 0x41 + 10
        case 0x61...0x66 where letters != .upper: digit - 0x61 + 10
        default: nil
        }
    }
}
