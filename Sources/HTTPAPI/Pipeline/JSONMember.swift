import Foundation
import FoundationEssentials

enum JSONMember {
    /// Returns the value of a member of the root object, byte for byte.
    ///
    /// - Parameter json: JSON that a parser has accepted.
    /// - Returns: nil where the member is missing or appears twice, or the root is no object.
    static func value(_ name: String, of json: Data) -> Data? {
        var scanner = MemberScanner(bytes: Array(json))
        var found: Range<Int>?
        while let member = scanner.next() {
            guard member.name == name else { continue }
            guard found == nil else { return nil }
            found = member.value
        }
        return found.map { Data(scanner.bytes[$0]) }
    }
}

/// Finds the members of a JSON object without parsing their values.
private struct MemberScanner {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> (name: String, value: Range<Int>)? {
        // Skips the object's start, commas and white space.
        guard let start = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) else { return nil }
        position = start
        skipValue(isName: true)
        guard let name = Self.text(bytes[start..<position]),
            let colon = bytes[position...].firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        position = colon + 1
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
        let value = position
        skipValue(isName: false)
        var end = position
        while end > value, Self.isSpace(bytes[end - 1]) { end -= 1 }
        return (name, value..<end)
    }

    /// Reads a quoted name; only a name with escapes needs the JSON decoder.
    private static func text(_ quoted: ArraySlice<UInt8>) -> String? {
        guard quoted.contains(UInt8(ascii: "\\")) else {
            return String(validating: quoted.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? JSONDecoder().decode(String.self, from: Data(quoted))
    }

    /// Moves behind a name, or to the comma or brace behind a value.
    private mutating func skipValue(isName: Bool) {
        var depth = 0
        var inString = false
        while position < bytes.count {
            let byte = bytes[position]
            if inString {
                if byte == UInt8(ascii: "\\") {
                    position += 1
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                    if isName {
                        position += 1
                        return
                    }
                }
            } else {
                switch byte {
                case UInt8(ascii: "\""): inString = true
                case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
                case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
                    if depth == 0 { return }
                    if byte != UInt8(ascii: ",") { depth -= 1 }
                default: break
                }
            }
            position += 1
        }
        position = min(position, bytes.count)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
