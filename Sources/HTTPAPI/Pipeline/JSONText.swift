import Domain
import Foundation
import FoundationEssentials

/// What can be told of JSON text without parsing it, so that a hostile body never reaches the parser.
enum JSONText {
    /// Whether a text or a name holds U+0000, which SQL text cannot: an escape of it, or the byte itself.
    static func holdsNUL(_ json: Data) -> Bool {
        json.withUnsafeBytes { bytes in
            var index = 0
            while index < bytes.count {
                switch bytes[index] {
                case 0: return true
                case UInt8(ascii: "\\"):
                    if bytes[index...].starts(with: #"\u0000"#.utf8) { return true }
                    // What follows is escaped, so that a backslash there begins nothing.
                    index += 2
                default: index += 1
                }
            }
            return false
        }
    }

    static func isNested(atMost limit: Int, _ json: Data) -> Bool {
        json.withUnsafeBytes { bytes in
            var depth = 0
            var inString = false
            var escaped = false
            for byte in bytes {
                if inString {
                    if escaped {
                        escaped = false
                    } else if byte == UInt8(ascii: "\\") {
                        escaped = true
                    } else if byte == UInt8(ascii: "\"") {
                        inString = false
                    }
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""): inString = true
                case UInt8(ascii: "["), UInt8(ascii: "{"):
                    depth += 1
                    guard depth <= limit else { return false }
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                default: break
                }
            }
            return true
        }
    }
}

extension JSONText {
    /// Where a number is that its type cannot hold, 1.5 pieces or 10^30 of them.
    ///
    /// `JSONDecoder` forgets the place of such a number, but not that of a text, so it is asked again with a text there.
    static func misfit<Value: Decodable>(_: Value.Type, in body: Data) -> DecodingError? {
        guard let json = try? JSONDecoder().decode(JSONValue.self, from: body),
            let marked = try? JSONEncoder().encode(json.withFractionsAsText)
        else { return nil }
        do {
            _ = try JSONDecoder().decode(Value.self, from: marked)
            return nil
        } catch {
            return error as? DecodingError
        }
    }
}

extension JSONValue {
    /// This value with a text in the place of every number that is no 64-bit integer.
    fileprivate var withFractionsAsText: JSONValue {
        switch self {
        case .number: .string("")
        case .array(let values): .array(values.map(\.withFractionsAsText))
        case .object(let members): .object(members.mapValues(\.withFractionsAsText))
        case .null, .bool, .integer, .string: self
        }
    }
}
