import Foundation
import Testing

/// Compares the code on the page "Writing a provider" with the package `Examples/PiggyDesk`, file by file.
struct WritingAProviderTests {
    private static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Returns the Swift blocks of each section whose title is a file's name, as one text.
    private static func files() throws -> [String: String] {
        var blocks: [String: [String]] = [:]
        var (file, block): (String?, [Substring]?) = (nil, nil)
        let page = try text("Sources/ProviderKit/ProviderKit.docc/WritingAProvider.md")
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if let lines = block {
                if line == "```" {
                    if let file { blocks[file, default: []].append(lines.joined(separator: "\n")) }
                    block = nil
                } else {
                    block = lines + [line]
                }
            } else if line == "```swift" {
                block = []
            } else if line.hasPrefix("#") {
                let title = line.drop { $0 == "#" || $0 == " " }
                file = title.hasSuffix(".swift`") ? String(title.dropFirst().dropLast()) : nil
            }
        }
        return blocks.mapValues { $0.joined(separator: "\n\n") + "\n" }
    }

    @Test func `the page's files are those that are compiled and conform`() throws {
        let example = "Examples/PiggyDesk"
        let folder = Self.root.appending(path: example)
        let paths = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
            .filter { $0.hasSuffix(".swift") && !$0.hasPrefix(".") }
        let files = try Self.files()
        #expect(Set(files.keys) == Set(paths.map { String($0.split(separator: "/").last ?? "") }))
        for path in paths {
            let name = String(path.split(separator: "/").last ?? "")
            #expect(files[name] == (try Self.text("\(example)/\(path)")), "\(name)")
        }
    }

    @Test func `a provider is registered as the page says`() throws {
        let page = try Self.text("Sources/ProviderKit/ProviderKit.docc/WritingAProvider.md")
        let call = #"provider("Piggy", [.product(name: "Crypto", package: "swift-crypto")])"#
        #expect(page.contains("+ \(call)"))
        #expect(try Self.text("Package.swift").contains(call.replacing("Piggy", with: "Sandbox")))
        let list = "Sources/PaydeskProviders/PaydeskProviders.swift"
        #expect(page.contains("`\(list)`"))
        for kind in ["Sandbox", "Stripe"] {
            #expect(try Self.text(list).contains("import \(kind)Provider\n"))
            #expect(try Self.text(list).contains("\(kind)Provider.self"))
            #expect(try Self.text("Package.swift").contains(#""\#(kind)Provider""#))
        }
        #expect(page.contains("`import PiggyProvider`") && page.contains("`PiggyProvider.self`"))
        #expect(page.contains(#"`"PiggyProvider"`"#))
        // A file with another name than its account's stops the start.
        #expect(page.contains("account: piggy-main\nkind: piggy\n") && page.contains("providers/piggy-main.yaml`"))
    }
}
