/// Strict base64 (RFC 4648): no whitespace, no other alphabet, and only the canonical spelling of each byte string.
package enum Base64 {
    /// RFC 4648 section 5 without padding, as a JWS is written (RFC 7515 section 2).
    ///
    /// - Returns: nil for padding, foreign characters, an impossible length, and trailing bits that are not zero.
    package static func decodeURL(_ text: ArraySlice<UInt8>) -> [UInt8]? { decode(text, urlTable, isCanonical: true) }

    /// RFC 4648 section 4 with its padding, as `x5c` holds certificates (RFC 7515 section 4.1.6).
    ///
    /// - Returns: nil as above, and for missing padding.
    package static func decodeStandard(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        var body = text
        for _ in 0..<2 where body.last == UInt8(ascii: "=") { body.removeLast() }
        return decode(body, standardTable, isCanonical: true)
    }

    /// Removes spaces and line breaks, which some clients' encoders insert.
    @inlinable package static func withoutSpace(_ text: [UInt8]) -> [UInt8] {
        text.contains(where: isSpace) ? text.filter { !isSpace($0) } : text
    }

    @inlinable package static func isSpace(_ character: UInt8) -> Bool {
        character == 0x20 || character == 0x0A || character == 0x0D || character == 0x09
    }

    /// RFC 4648 section 4 with its padding.
    package static func encode(_ bytes: [UInt8]) -> String {
        encode(bytes, standardAlphabet, padding: UInt8(ascii: "="))
    }

    /// - Parameters:
    ///   - alphabet: 64 letters.
    ///   - padding: fills the last group of four; nil leaves it short.
    static func encode(_ bytes: [UInt8], _ alphabet: [UInt8], padding: UInt8?) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                if place <= group.count {
                    text.append(alphabet[bits >> (18 - 6 * place) & 63])
                } else if let padding {
                    text.append(padding)
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Parameter isCanonical: refuses bits behind the last byte that are not zero.
    static func decode(_ text: ArraySlice<UInt8>, _ table: [UInt8], isCanonical: Bool) -> [UInt8]? {
        let remainder = text.count % 4
        guard remainder != 1 else { return nil }
        // An empty array is a static object that all threads share, and the initialiser below would write to it.
        guard !text.isEmpty else { return [] }
        let size = text.count / 4 * 3 + (remainder == 0 ? 0 : remainder - 1)
        var sound = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            sound = text.withUnsafeBufferPointer { input in
                table.withUnsafeBufferPointer { decodeBlocks(input, $0, output, isCanonical: isCanonical) }
            }
            count = sound ? size : 0
        }
        return sound ? bytes : nil
    }

    /// Decodes all of `input`; `table` has 256 entries, and `output` has room for exactly the decoded bytes.
    private static func decodeBlocks(
        _ input: UnsafeBufferPointer<UInt8>, _ table: UnsafeBufferPointer<UInt8>,
        _ output: UnsafeMutableBufferPointer<UInt8>, isCanonical: Bool
    ) -> Bool {
        let whole = input.count & ~3
        var seen: UInt8 = 0
        var target = 0
        for source in stride(from: 0, to: whole, by: 4) {
            let first = table[Int(input[source])]
            let second = table[Int(input[source + 1])]
            let third = table[Int(input[source + 2])]
            let fourth = table[Int(input[source + 3])]
            seen |= first | second | third | fourth
            output.initializeElement(at: target, to: first << 2 | second >> 4)
            output.initializeElement(at: target + 1, to: second << 4 | third >> 2)
            output.initializeElement(at: target + 2, to: third << 6 | fourth)
            target += 3
        }
        guard whole < input.count else { return seen & invalid == 0 }
        let first = table[Int(input[whole])]
        let second = table[Int(input[whole + 1])]
        seen |= first | second
        output.initializeElement(at: target, to: first << 2 | second >> 4)
        guard whole + 2 < input.count else {
            return seen & invalid == 0 && (!isCanonical || second & 0x0F == 0)
        }
        let third = table[Int(input[whole + 2])]
        output.initializeElement(at: target + 1, to: second << 4 | third >> 2)
        return (seen | third) & invalid == 0 && (!isCanonical || third & 0x03 == 0)
    }

    /// Marks a byte outside of the alphabet; values use the lower six bits only.
    private static let invalid: UInt8 = 0x80
    private static let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standardAlphabet = Array((common + "+/").utf8)
    static let urlAlphabet = Array((common + "-_").utf8)
    private static let standardTable = table(standardAlphabet)
    static let urlTable = table(urlAlphabet)

    private static func table(_ alphabet: [UInt8]) -> [UInt8] {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }
}
