import Domain

/// Decodes `application/x-www-form-urlencoded` (WHATWG URL, section 5.1): query strings and forms of pay pages.
enum FormDecoder {
    private static let fieldLimit = 100

    /// Returns the fields in their order; text that is not valid percent-encoding is taken literally.
    static func decode(_ text: String) -> [(String, String)] {
        text.split(separator: "&").prefix(fieldLimit).map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(unescape)
            return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
        }
    }

    private static func unescape(_ text: Substring) -> String {
        PercentEncoding.text(text, readsPlus: true) ?? String(text.replacing("+", with: " "))
    }
}
