import CZlib
import Foundation
import Testing

@testable import Pages

@Suite("The pages' files")
struct AssetTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources/Pages")

    @Test func `every file is embedded as it is`() throws {
        let files = PageFiles()
        for folder in ["Assets", "Icons", "Templates", "Texts"] {
            let paths = try FileManager.default.subpathsOfDirectory(atPath: Self.root.appending(path: folder).path)
                .filter { $0.contains(".") }.map { "\(folder)/\($0)" }
            #expect(Set(files.paths.filter { $0.hasPrefix(folder) }) == Set(paths))
            for path in paths {
                #expect(try files[path] == Data(contentsOf: Self.root.appending(path: path)), "\(path)")
            }
        }
    }

    @Test func `every template is well formed`() { #expect(Pages(PageFiles(), accent: "#0a6cff").faults.isEmpty) }

    @Test(arguments: [(nil, 100), ("home", 30), ("portal", 100), ("docs", 100)] as [(String?, Int)])
    func `every language has the same texts, with the same values in them`(_ page: String?, _ least: Int) throws {
        let tables = PageLocale.allCases.map { PageTexts($0, PageFiles(), of: page).table }
        #expect(tables[0].count > least && Set(tables[0].keys) == Set(tables[1].keys))
        for (key, text) in tables[0] {
            let values = [text, tables[1][key] ?? ""].map {
                Set($0.matches(of: /\{[a-z_]+\}/).map { String($0.output) })
            }
            #expect(values[0] == values[1], "\(key)")
        }
    }

    @Test func `a name changes with the content, and with what a module imports`() throws {
        func assets(_ text: String) -> Assets {
            Assets(
                PageFiles([
                    "Assets/sdk/a.js": Data(#"import { b } from "./b.js";"#.utf8),
                    "Assets/sdk/b.js": Data(text.utf8), "Assets/sdk/c.js": Data("c".utf8),
                ]), accent: "#0a6cff")
        }
        let (old, new) = (assets("1"), assets("2"))
        for path in ["sdk/a.js", "sdk/b.js"] {
            #expect(old.address(of: path) != new.address(of: path), "\(path)")
            #expect(try #require(old.address(of: path)).wholeMatch(of: /\/assets\/sdk\/[ab]-[0-9a-f]{16}\.js/) != nil)
        }
        #expect(old.address(of: "sdk/c.js") == new.address(of: "sdk/c.js"))
        let name = try #require(new.address(of: "sdk/a.js")).dropFirst("/assets/".count)
        let module = try #require(new.asset(named: String(name)))
        let imported = try #require(new.address(of: "sdk/b.js")).split(separator: "/").last ?? ""
        #expect(String(decoding: module.content, as: UTF8.self) == #"import { b } from "./\#(imported)";"#)
        #expect(module.contentType == "text/javascript; charset=utf-8")
    }

    @Test func `every import of an asset is served`() throws {
        let assets = Assets(PageFiles(), accent: "#0a6cff")
        for address in assets.all where address.hasSuffix(".js") {
            let asset = try #require(assets.asset(named: String(address.dropFirst("/assets/".count))))
            let folder = URL(string: "https://pay.example\(address)")
            let text = String(decoding: asset.content, as: UTF8.self)
            // Names without `.js` are those of types, in comments.
            for match in text.matches(of: /(?:from |import\(|import )"(\.[^"\n]+\.js)"/) {
                let path = try #require(URL(string: String(match.output.1), relativeTo: folder)).absoluteURL.path
                #expect(assets.asset(named: String(path.dropFirst("/assets/".count))) != nil, "\(path) in \(address)")
            }
        }
    }

    @Test func `the icon is an ICO file, and other tables of texts than the module's are not served`() {
        // The type 1 of the format, with three images.
        #expect(Pages(PageFiles(), accent: "#0a6cff").icon.prefix(6) == Data([0, 0, 1, 0, 3, 0]))
        #expect(Assets(PageFiles(), accent: "#0a6cff").all.filter { $0.contains("/texts/") }.count == 2)
    }

    @Test(arguments: [("#0a6cff", "#ffffff"), ("#ffd400", "#000000"), ("#c2185b", "#ffffff")])
    func `the theme has the text colour that can be read`(_ accent: String, _ text: String) throws {
        let assets = Assets(PageFiles([:]), accent: accent)
        let name = try #require(assets.address(of: "theme.css")).dropFirst("/assets/".count)
        let css = String(decoding: try #require(assets.asset(named: String(name))).content, as: UTF8.self)
        #expect(css.contains("--accent: \(accent)") && css.contains("--accent-text: \(text)"))
    }

    private static func inflated(_ data: Data, count: Int) throws -> Data {
        var (input, output, stream) = ([UInt8](data), [UInt8](repeating: 0, count: count + 1), z_stream())
        // 16 more than the window: the gzip format only.
        let size = Int32(MemoryLayout<z_stream>.size)
        try #require(inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, size) == Z_OK)
        defer { inflateEnd(&stream) }
        let status = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                (stream.next_in, stream.avail_in) = (source.baseAddress, UInt32(source.count))
                (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(target.count))
                return inflate(&stream, Z_FINISH)
            }
        }
        try #require(status == Z_STREAM_END)
        return Data(output.prefix(Int(stream.total_out)))
    }

    @Test func `what is compressed is the same when it is inflated`() throws {
        let text = Data(String(repeating: "paydesk ", count: 200).utf8)
        let gzipped = try #require(Gzip.compressed(text))
        #expect(gzipped.count < text.count && gzipped.prefix(2) == Data([0x1F, 0x8B]))
        #expect(try Self.inflated(gzipped, count: text.count) == text)
        #expect(Gzip.compressed(Data("short".utf8)) == nil)
    }

    @Test func `a picture is a PNG of the modules`() throws {
        let png = try #require(BitmapPNG.square(width: 2, quietZone: 1, scale: 4) { $0 == $1 })
        #expect(png.prefix(8) == Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        // 16 pixels a side, one bit each.
        #expect(png[16..<26] == Data([0, 0, 0, 16, 0, 0, 0, 16, 1, 0]))
    }
}
