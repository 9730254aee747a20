/// The time at which a signer states that it signed (RFC 5652 section 11.3).
enum SigningTime {
    /// Milliseconds since 1970-01-01 UTC.
    ///
    /// - Throws: `malformed` for anything but one UTCTime or GeneralizedTime with seconds, without fraction, ending in Z.
    static func milliseconds(_ value: ArraySlice<UInt8>) throws(AppleRefusal) -> Int64 {
        var cursor = BERCursor(value, "signingTime")
        var digits: [UInt8] = []
        if let time = try cursor.next(if: 0x17, "UTCTime")?.contents, time.count == 13 {
            // Two digits of the year: 1950 to 2049 (RFC 5280 section 4.1.2.5.1).
            digits = Array((time.first ?? 0 < UInt8(ascii: "5") ? "20" : "19").utf8) + time
        } else if let time = try cursor.next(if: 0x18, "GeneralizedTime")?.contents, time.count == 15 {
            digits = Array(time)
        }
        guard cursor.isAtEnd, digits.count == 15, digits.last == UInt8(ascii: "Z"),
            let milliseconds = RFC3339.milliseconds(Self.text(digits))
        else { throw .malformed("signingTime is no time") }
        return milliseconds
    }

    /// `20260131235959Z` as RFC 3339 writes it.
    private static func text(_ digits: [UInt8]) -> String {
        var text: [UInt8] = []
        for (index, digit) in digits.enumerated() {
            switch index {
            case 4, 6: text.append(UInt8(ascii: "-"))
            case 8: text.append(UInt8(ascii: "T"))
            case 10, 12: text.append(UInt8(ascii: ":"))
            default: break
            }
            text.append(digit)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
