import Domain

/// `application/x-www-form-urlencoded` (WHATWG URL, section 5.1): query strings and pay pages' forms.
enum FormDecoder {
    private static let fieldLimit = 100

    /// The fields in their order; what is not valid percent-encoding is taken as it stands.
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
