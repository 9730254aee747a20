/// Text as HTML.
package enum HTMLText {
    /// Returns text with HTML's special characters escaped (HTML Living Standard section 13.1.4).
    package static func escaped(_ text: String) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): escaped += "&amp;".utf8
            case UInt8(ascii: "<"): escaped += "&lt;".utf8
            case UInt8(ascii: ">"): escaped += "&gt;".utf8
            case UInt8(ascii: "\""): escaped += "&quot;".utf8
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Returns escaped text with the parts between backticks as code.
    package static func marked(_ text: String) -> String {
        escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "<code>\($0.element)</code>" }.joined()
    }

    /// The longest line of code that a narrow window shows without scrolling, in letters.
    private static let narrowLine = 34

    /// Returns a block of code; one that may have to be scrolled takes the focus, so that a keyboard can.
    package static func code(_ text: String) -> String {
        let isWide = text.split(separator: "\n").contains { $0.unicodeScalars.count > narrowLine }
        return "<pre\(isWide ? " tabindex=\"0\"" : "")><code>\(escaped(text))</code></pre>\n"
    }
}
