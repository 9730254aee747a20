import Foundation
import FoundationEssentials

/// What can be told of JSON text without parsing it, so that a hostile body never reaches the parser.
enum JSONText {
    /// Whether a string may hold U+0000, which SQL text cannot: an escape of it, or the byte itself.
    static func holdsNUL(_ json: Data) -> Bool {
        json.contains(0) || json.range(of: Data("\\u0000".utf8)) != nil
    }

    static func isNested(atMost limit: Int, _ json: Data) -> Bool {
        var depth = 0
        var inString = false
        var escaped = false
        for byte in json {
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
