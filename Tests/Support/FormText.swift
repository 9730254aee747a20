import Foundation

/// Form text (`application/x-www-form-urlencoded`) as a service reads it that is played in a test: by Foundation, not by the
/// code that it is to test.
package enum FormText {
    /// The fields by their names; of a name that comes twice the first.
    package static func fields(_ text: String) -> [String: String] {
        Dictionary(
            text.split(separator: "&").map { pair in
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(decoded)
                return (sides[0], sides.count > 1 ? sides[1] : "")
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The text that is written with escapes and plus signs; empty where it is no percent-encoded UTF-8.
    package static func decoded(_ text: Substring) -> String {
        text.replacing("+", with: " ").removingPercentEncoding ?? ""
    }
}
