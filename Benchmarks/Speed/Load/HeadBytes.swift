/// The parts of HTTP/1.1 and JSON that find a text in a message without making strings of all of it.
enum HeadBytes {
    /// The length in bytes of the head at the start, its empty line included; nil while it is not whole.
    static func end(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var index = 3
        while index < bytes.count {
            // The last byte of the four decides how far the search can advance.
            switch bytes[index] {
            case 0x0A:
                if bytes[index - 1] == 0x0D, bytes[index - 2] == 0x0A, bytes[index - 3] == 0x0D { return index + 1 }
                index += 2
            case 0x0D: index += 1
            default: index += 4
            }
        }
        return nil
    }

    /// The number that follows a text, which is in lower case; the case of the bytes does not matter.
    static func number(after text: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
        find(text, in: bytes).flatMap { number(bytes, from: $0 + text.count) }
    }

    /// The characters that follow a text in lower case and perhaps blanks.
    ///
    /// - Parameter count: the number of characters.
    static func word(after text: [UInt8], count: Int, in bytes: UnsafeRawBufferPointer) -> String? {
        guard var start = find(text, in: bytes).map({ $0 + text.count }) else { return nil }
        while start < bytes.count, bytes[start] == 0x20 { start += 1 }
        guard start + count <= bytes.count else { return nil }
        return String(decoding: bytes[start..<start + count], as: UTF8.self)
    }

    static func number(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var index = start
        while index < bytes.count, bytes[index] == 0x20 { index += 1 }
        var value: Int?
        while index < bytes.count, bytes[index] &- 0x30 < 10, value ?? 0 < 1_000_000_000 {
            value = (value ?? 0) * 10 + Int(bytes[index] - 0x30)
            index += 1
        }
        return value
    }

    private static func find(_ text: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
        guard bytes.count > text.count else { return nil }
        return (0..<(bytes.count - text.count)).first { start in
            bytes[start] == text[0]
                && text.indices.allSatisfy { index in
                    let byte = bytes[start + index]
                    return (byte &- 0x41 < 26 ? byte | 0x20 : byte) == text[index]
                }
        }
    }
}
