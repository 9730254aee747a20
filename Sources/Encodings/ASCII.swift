// Characters of ASCII, by the byte that each is in UTF-8.
extension UInt8 {
    /// `0` to `9`.
    @inlinable package var isDigit: Bool { (0x30...0x39).contains(self) }

    /// `A` to `Z`.
    @inlinable package var isCapital: Bool { (0x41...0x5A).contains(self) }

    /// `a` to `z`.
    @inlinable package var isSmallLetter: Bool { (0x61...0x7A).contains(self) }

    /// `A` to `Z` and `a` to `z`.
    @inlinable package var isLetter: Bool { isCapital || isSmallLetter }

    @inlinable package var isLetterOrDigit: Bool { isLetter || isDigit }

    /// A letter, a digit or `_`.
    @inlinable package var isWord: Bool { isLetterOrDigit || self == UInt8(ascii: "_") }

    /// The characters that URLs never need to escape (RFC 3986 section 2.3): letters, digits, `-`, `.`, `_` and `~`.
    @inlinable package var isURLUnreserved: Bool {
        isWord || self == UInt8(ascii: "-") || self == UInt8(ascii: ".") || self == UInt8(ascii: "~")
    }

    /// `!` to `~`: printed, and no space.
    @inlinable package var isVisible: Bool { (0x21...0x7E).contains(self) }
}

extension StringProtocol {
    /// Returns whether the text has so many bytes in UTF-8, and each of them passes the test.
    @inlinable package func hasBytes(_ count: ClosedRange<Int>, where isAllowed: (UInt8) -> Bool) -> Bool {
        count.contains(utf8.count) && utf8.allSatisfy(isAllowed)
    }

    /// Returns whether the text has so many bytes, all of them letters or digits of ASCII, `_`, or one of the further characters.
    @inlinable package func isWord(_ count: ClosedRange<Int>, or further: String = "") -> Bool {
        hasBytes(count) { byte in byte.isWord || further.utf8.contains(byte) }
    }

    /// Returns whether the text is made of so many digits of ASCII.
    @inlinable package func isDigits(_ count: ClosedRange<Int>) -> Bool { hasBytes(count, where: \.isDigit) }
}
