/// Hexadecimal digits, two for each byte (RFC 4648 section 8).
package enum Hex {
    /// Whether the digits above 9 are `a`–`f` or `A`–`F`.
    package enum Letters: Sendable {
        case lower, upper
    }

    private static let lower = Array("0123456789abcdef".utf8)
    private static let upper = Array("0123456789ABCDEF".utf8)

    /// Writes bytes as digits.
    package static func encoded(_ bytes: some Sequence<UInt8>, _ letters: Letters = .lower) -> String {
        let digits = letters == .lower ? lower : upper
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads exactly so many bytes.
    ///
    /// - Parameters:
    ///   - count: of the bytes, half the number of the digits.
    ///   - letters: the only case that is taken; nil takes both.
    /// - Returns: nil for another number of digits and for anything else than digits.
    package static func decoded(_ text: some StringProtocol, count: Int, _ letters: Letters? = nil) -> [UInt8]? {
        guard text.utf8.count == count * 2 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var high: UInt8?
        for character in text.utf8 {
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

    /// The value of a digit, 0 to 15; nil where the byte is none.
    package static func value(_ digit: UInt8, _ letters: Letters? = nil) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x41...0x46 where letters != .lower: digit - 0x41 + 10
        case 0x61...0x66 where letters != .upper: digit - 0x61 + 10
        default: nil
        }
    }
}
