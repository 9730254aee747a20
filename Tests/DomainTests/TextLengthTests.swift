import Domain
import Testing

struct TextLengthTests {
    /// A character (extended grapheme cluster) of 10 scalars and 19 bytes.
    private static let cluster = "e" + String(repeating: "\u{301}", count: 9)

    @Test(arguments: [
        ("", 0...3, true), ("", 1...3, false), ("abc", 1...3, true), ("abcd", 1...3, false),
        ("\u{1F600}\u{1F600}\u{1F600}", 3...3, true), ("\u{1F600}\u{1F600}", 3...3, false), (cluster, 1...9, false),
        (cluster, 1...10, true), (String(repeating: "x", count: 13), 1...3, false),
    ])
    func `a length is counted in scalars`(_ text: String, _ range: ClosedRange<Int>, _ holds: Bool) {
        #expect(text.hasScalars(range) == holds)
    }

    @Test(arguments: [
        ("abcd", 3, "abc", "abc"), ("abc", 3, "abc", "abc"), (cluster, 2, "e\u{301}", "e"),
        ("\u{503C}x", 1, "\u{503C}", ""),
        ("\u{503C}x", 3, "\u{503C}x", "\u{503C}"), ("", 3, "", ""),
    ])
    func `a text is cut between scalars`(_ text: String, _ count: Int, _ scalars: String, _ bytes: String) {
        #expect(Array(text.firstScalars(count).unicodeScalars) == Array(scalars.unicodeScalars))
        #expect(Array(text.firstBytes(count).unicodeScalars) == Array(bytes.unicodeScalars))
    }

    @Test(arguments: [
        ("plain \u{1F468}\u{200D}\u{1F469}", true, true), ("\u{1B}[31m", false, false), ("two\nlines", false, true),
        ("a\tb\r\n", false, true), ("\u{9B}31m", false, false), ("bell\u{7}", false, false), ("\u{7F}", false, false),
        ("\0", false, false), ("\u{2028}", false, true),
    ])
    func `control characters are found`(_ text: String, _ isPlain: Bool, _ isPlainText: Bool) {
        #expect(text.isPlain == isPlain && text.isPlainText == isPlainText)
    }

    @Test(arguments: [
        ("plain \u{4F1A}", "plain \u{4F1A}"), ("\u{1B}[31mred", #"\u{1B}[31mred"#), ("two\nlines", #"two\u{A}lines"#),
        ("\u{202E}txt.exe", #"\u{202E}txt.exe"#),
    ])
    func `what a terminal shows stays on its line`(_ text: String, _ shown: String) {
        #expect(text.shownOnOneLine == shown)
    }

    @Test(arguments: [
        ("\u{1F600}", 128, true), ("u", 128, true), ("u", 129, false), ("e\u{301}", 65, false), ("a\u{9B}", 1, false),
    ])
    func `a user's id has up to 128 scalars`(_ unit: String, _ count: Int, _ holds: Bool) {
        let text = String(repeating: unit, count: count)
        #expect((ExternalUserID(text) != nil) == holds)
    }
}
