/// A caller's trace (W3C Trace Context), which log lines, providers and webhooks get as well.
package struct TraceContext: Sendable, Hashable {
    /// 32 small hexadecimal digits.
    package let id: String
    /// The flags that this version of the standard knows: 1 for a trace that is recorded, 2 for a random id.
    package let flags: UInt8

    private static let knownFlags: UInt8 = 3
    private static let idLength = 32
    private static let spanLength = 16

    /// Reads a `traceparent` header; nil for one that is not well formed, which the standard ignores.
    ///
    /// A later version may append fields, which are ignored.
    package init?(traceparent text: String) {
        let length = 55
        guard text.utf8.count >= length else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, let version = Self.byte(parts[0]), version != 0xFF, version != 0 || parts.count == 4,
            Self.isID(parts[1], Self.idLength), Self.isID(parts[2], Self.spanLength), let flags = Self.byte(parts[3])
        else { return nil }
        id = String(parts[1])
        self.flags = flags & Self.knownFlags
    }

    /// Reads the stored form.
    package init?(stored text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, Self.isID(parts[0], Self.idLength), let flags = Self.byte(parts[1]) else { return nil }
        id = String(parts[0])
        self.flags = flags & Self.knownFlags
    }

    /// The form in which it is stored beside what the request has changed.
    package var stored: String { "\(id)-\(Hex.encoded([flags]))" }

    /// Makes the header of a call to another service, as a new span of this trace.
    package func traceparent(_ random: RandomSource) -> String {
        var span = random.bytes(Self.spanLength / 2)
        // A span of zeros alone is not valid.
        if span.allSatisfy({ $0 == 0 }) { span[0] = 1 }
        return "00-\(id)-\(Hex.encoded(span))-\(Hex.encoded([flags]))"
    }

    private static func isID(_ text: Substring, _ length: Int) -> Bool {
        let digits = text.utf8
        return digits.count == length && digits.allSatisfy { value(of: $0) != nil }
            && digits.contains { $0 != UInt8(ascii: "0") }
    }

    /// The value of two small hexadecimal digits.
    private static func byte(_ text: Substring) -> UInt8? {
        let digits = Array(text.utf8)
        guard digits.count == 2, let high = value(of: digits[0]), let low = value(of: digits[1]) else { return nil }
        return high << 4 | low
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
