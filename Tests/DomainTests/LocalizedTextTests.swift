import Foundation
import Testing

@testable import Domain

@Suite("Phrases in two languages")
struct LocalizedTextTests {
    @Test func `values stand in both languages, numbers in their order`() {
        let text: LocalizedText = "must be \(1) to \("1,000")"
        #expect(text.english == "must be 1 to 1,000" && text.chinese == "必须在 1 到 1,000 之间")
        #expect(text == "must be 1 to 1,000")
        let written: LocalizedText = "must be -5 to 1,000,000"
        #expect(written.chinese == "必须在 -5 到 1,000,000 之间")
        #expect((LocalizedText("nobody has translated this")).chinese == "不符合要求")
    }

    /// Returns true where a Chinese text has an English word, three small Latin letters or more outside of a field's
    /// name.
    static func isMixed(_ chinese: String) -> Bool {
        chinese.replacing("%@", with: "").contains(/(?:^|[^A-Za-z0-9_.])[a-z]{3,}(?:$|[^A-Za-z0-9_.])/)
            || !chinese.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) }
    }

    @Test func `every Chinese phrase is Chinese throughout`() {
        for (pattern, chinese) in ChineseTexts.byPattern { #expect(!Self.isMixed(chinese), "\(pattern): \(chinese)") }
    }

    @Test func `every phrase of the sources has its Chinese`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        var found = 0
        for layer in ["Domain", "Gateway", "HTTPAPI"] {
            let files = FileManager.default.enumerator(
                at: root.appending(path: layer), includingPropertiesForKeys: nil)
            for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                for pattern in Self.phrases(of: text) {
                    found += 1
                    let isKnown =
                        ChineseTexts.byPattern[pattern]
                        ?? ChineseTexts.byPattern[LocalizedText.general(pattern).pattern]
                    #expect(isKnown != nil, "\(file.lastPathComponent): \(pattern)")
                }
            }
        }
        #expect(found > 70)
    }

    /// Returns the literals that are the reasons of refusals, as patterns.
    private static func phrases(of text: String) -> [String] {
        let calls = text.matches(
            of:
                #/
                (?:invalidRequest|conflict|subscriptionIs|SKUFault)\(([^{}]*?)reason:\s*
                (?:[^"(){}]*\?\s*)?"((?:[^"\\]|\\.)*)"
                /#)
        let rules = text.matches(of: /require\([^"]*"[a-z_]+",\s*"((?:[^"\\]|\\.)*)"\)/)
        let typed = text.matches(of: /LocalizedText =\s*"((?:[^"\\]|\\.)+)"/)
        return (calls.map { String($0.2) } + rules.map { String($0.1) } + typed.map { String($0.1) }).map(pattern)
    }

    /// Replaces each `\(…)` by a mark.
    private static func pattern(_ literal: String) -> String {
        var (pattern, rest) = ("", literal[...])
        while let start = rest.firstRange(of: "\\(") {
            pattern += rest[..<start.lowerBound] + LocalizedText.mark
            var depth = 1
            var index = start.upperBound
            while index < rest.endIndex, depth > 0 {
                if rest[index] == "(" { depth += 1 }
                if rest[index] == ")" { depth -= 1 }
                index = rest.index(after: index)
            }
            rest = rest[index...]
        }
        return pattern + rest
    }
}
