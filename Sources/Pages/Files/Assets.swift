import Crypto
import Domain
package import Foundation

/// A style sheet, module or table of texts, as it is served.
package struct Asset: Sendable {
    package let contentType: String
    package let content: Data
    /// nil where compression makes it no smaller.
    package let gzipped: Data?
    /// An entity tag over the content (RFC 9110 section 8.8.3).
    package let tag: String

    init(contentType: String, content: Data) {
        self.contentType = contentType
        self.content = content
        gzipped = Gzip.compressed(content, level: 9)
        tag = "\"\(Assets.digest(content))\""
    }
}

/// The files that browsers load for the pages, under names that change with their content.
///
/// The name of a module also changes with those that it imports, because its text names them.
package struct Assets: Sendable {
    /// The assets by the last parts of their addresses: `sdk/words-0123456789.js`, `theme-0123456789.css`.
    private var served: [String: Asset] = [:]
    private var addresses: [String: String] = [:]
    /// The files of `paydesk.js` under their own names.
    private let sdk: [String: Asset]

    private static let prefix = "/assets/"

    /// The embedded files without a theme, made once in a process: a debug build takes half a second of CPU for them,
    /// and tests start hundreds of servers.
    private static let embedded = Assets(PageFiles())

    /// - Parameter accent: the merchant's colour, `#` and six hexadecimal digits.
    package init(_ files: PageFiles, accent: String) {
        self = files.isEmbedded ? Self.embedded : Assets(files)
        let (theme, content) = ("theme.css", Data(Theme.css(accent).utf8))
        let name = Self.name(theme, Self.digest(content))
        addresses[theme] = Self.prefix + name
        served[name] = Asset(contentType: "text/css; charset=utf-8", content: content)
    }

    private init(_ files: PageFiles) {
        let sources = Self.sources(files)
        let imports = Dictionary(
            uniqueKeysWithValues: sources.filter { $0.key.hasSuffix(".js") }.map { path, text in
                (path, Self.imports(of: text, at: path))
            })
        var names: [String: String] = [:]
        for path in sources.keys {
            names[path] = Self.name(path, Self.digest(of: path, in: sources, imports))
        }
        for (path, text) in sources {
            guard let name = names[path], let type = Self.contentType(path) else { continue }
            let content = Self.renaming(text, imports[path] ?? [], names)
            served[name] = Asset(contentType: type, content: Data(content.utf8))
        }
        addresses = names.mapValues { Self.prefix + $0 }
        sdk = Dictionary(
            sources.compactMap { path, text in
                let name = path.hasPrefix("texts/") ? path.dropFirst(6) : path.dropFirst(4)
                guard path.hasPrefix("sdk/") || path.hasPrefix("texts/"), let type = Self.contentType(path) else {
                    return nil
                }
                return (String(name), Asset(contentType: type, content: Data(text.utf8)))
            }
        ) { first, _ in first }
    }

    /// Returns the address of a file: of `sdk/pay.css` that of its present content.
    package func address(of path: String) -> String? { addresses[path] }

    /// - Parameter name: the address without `/assets/`.
    package func asset(named name: String) -> Asset? { served[name] }

    /// - Parameter name: the name of a file of `paydesk.js`.
    package func sdk(named name: String) -> Asset? { sdk[name] }

    /// The addresses of all assets.
    package var all: [String] { addresses.values.sorted() }

    static func digest(_ content: Data) -> String { Hex.encoded(SHA256.hash(data: content).prefix(8)) }

    // MARK: Names

    private static func sources(_ files: PageFiles) -> [String: String] {
        var sources: [String: String] = [:]
        for path in files.paths {
            guard let data = files[path] else { continue }
            if path.hasPrefix("Assets/") {
                sources[String(path.dropFirst(7))] = String(decoding: data, as: UTF8.self)
            } else if PageLocale.allCases.contains(where: { path == "Texts/\($0.rawValue).json" }) {
                // Tables of pages without a module are not loaded by browsers.
                sources["texts/" + path.dropFirst(6)] = String(decoding: data, as: UTF8.self)
            }
        }
        return sources
    }

    private static func contentType(_ path: String) -> String? {
        switch path.split(separator: ".").last {
        case "js": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json": "application/json; charset=utf-8"
        case "ts": "application/typescript; charset=utf-8"
        default: nil
        }
    }

    private static func name(_ path: String, _ digest: String) -> String {
        guard let dot = path.lastIndex(of: ".") else { return path }
        return "\(path[..<dot])-\(digest)\(path[dot...])"
    }

    /// Returns the digest of a file and of everything that it imports; modules may import each other.
    private static func digest(
        of path: String, in sources: [String: String], _ imports: [String: [Import]]
    ) -> String {
        var (seen, waiting) = (Set([path]), [path])
        while let next = waiting.popLast() {
            for imported in imports[next] ?? [] where seen.insert(imported.path).inserted {
                waiting.append(imported.path)
            }
        }
        let all = ([path] + seen.subtracting([path]).sorted()).map { "\($0)\n\(sources[$0] ?? "")" }
        return digest(Data(all.joined(separator: "\n").utf8))
    }

    /// Writes the served names in the place of those that a module imports.
    private static func renaming(_ text: String, _ imports: [Import], _ names: [String: String]) -> String {
        var result = text
        for found in imports.reversed() {
            guard let name = names[found.path] else { continue }
            let folder = text[found.range].lastIndex(of: "/").map { text[found.range.lowerBound...$0] } ?? ""
            result.replaceSubrange(found.range, with: folder + (name.split(separator: "/").last ?? ""))
        }
        return result
    }

    /// A file that a module imports, and where its name stands in the module's text.
    private typealias Import = (path: String, range: Range<String.Index>)

    /// Finds the names after `from "` and `import("` and where they stand.
    private static func imports(of text: String, at path: String) -> [Import] {
        // A regular expression takes long in a debug build, and few lines name a file.
        text.split(separator: "\n").filter(namesFile).flatMap { line in
            line.matches(of: /(?:from |import\(|import )"(\.[^"]+)"/).map { match in
                var parts = path.split(separator: "/").dropLast().map(String.init)
                for part in match.output.1.split(separator: "/") where part != "." {
                    if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
                }
                return (parts.joined(separator: "/"), match.output.1.startIndex..<match.output.1.endIndex)
            }
        }
    }

    /// Returns true where a line has a quotation mark before a full stop, as a relative name begins.
    private static func namesFile(_ line: Substring) -> Bool {
        zip(line.utf8, line.utf8.dropFirst()).contains { $0 == UInt8(ascii: "\"") && $1 == UInt8(ascii: ".") }
    }
}
