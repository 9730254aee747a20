/// An ECDSA-Sig-Value (RFC 3279 section 2.2.3) on P-256, which has one spelling in DER.
enum ECDSASignatureDER {
    /// Returns r and s, 32 octets each.
    ///
    /// - Returns: nil for anything but DER of two positive numbers that fit.
    static func raw(_ der: ArraySlice<UInt8>) -> [UInt8]? {
        // All lengths are below 128, so each is one octet.
        guard let outer = try? BERCursor.only(0x30, of: der, "signature", in: "ECDSA-Sig-Value"),
            outer.whole.count == outer.contents.count + 2
        else { return nil }
        var cursor = BERCursor(outer.contents, "ECDSA-Sig-Value")
        var raw: [UInt8] = []
        raw.reserveCapacity(64)
        for name in ["r", "s"] {
            guard let number = try? cursor.next(0x02, name), number.whole.count == number.contents.count + 2,
                append(number.contents, to: &raw)
            else { return nil }
        }
        return cursor.isAtEnd ? raw : nil
    }

    /// - Returns: false unless the number is positive, in its shortest form, and fits.
    private static func append(_ number: ArraySlice<UInt8>, to raw: inout [UInt8]) -> Bool {
        guard let first = number.first, first < 0x80 else { return false }
        let digits = first == 0 ? number.dropFirst() : number
        // A leading zero is allowed only where the number would be negative without it.
        guard let leading = digits.first, digits.count <= 32, first != 0 || leading >= 0x80 else { return false }
        raw.append(contentsOf: repeatElement(0, count: 32 - digits.count))
        raw.append(contentsOf: digits)
        return true
    }
}
