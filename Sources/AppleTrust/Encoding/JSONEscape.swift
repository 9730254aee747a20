import Encodings

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
