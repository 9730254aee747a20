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
    private let served: [String: Asset]
    private let addresses: [String: String]
    /// The files of `paydesk.js` under their own names.
    private let sdk: [String: Asset]

    private static let prefix = "/assets/"

    /// - Parameters:
    ///   - accent: the merchant's colour, `#` and six hexadecimal digits.
    package init(_ files: PageFiles, accent: String) {
        let sources = Self.sources(files)
        var (served, addresses) = ([String: Asset](), [String: String]())
        for path in sources.keys {
            addresses[path] = Self.name(path, Self.digest(of: path, in: sources))
        }
        addresses["theme.css"] = Self.name("theme.css", Self.digest(Data(Theme.css(accent).utf8)))
        for (path, text) in sources {
            guard let name = addresses[path], let type = Self.contentType(path) else { continue }
            let content = path.hasSuffix(".js") ? Self.renaming(text, at: path, addresses) : text
            served[name] = Asset(contentType: type, content: Data(content.utf8))
        }
        if let name = addresses["theme.css"] {
            served[name] = Asset(contentType: "text/css; charset=utf-8", content: Data(Theme.css(accent).utf8))
        }
        self.served = served
        self.addresses = addresses.mapValues { Self.prefix + $0 }
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
    private static func digest(of path: String, in sources: [String: String]) -> String {
        var (seen, waiting) = (Set([path]), [path])
        while let next = waiting.popLast() {
            guard next.hasSuffix(".js"), let text = sources[next] else { continue }
            for imported in imports(of: text, at: next).map(\.path) where seen.insert(imported).inserted {
                waiting.append(imported)
            }
        }
        let all = ([path] + seen.subtracting([path]).sorted()).map { "\($0)\n\(sources[$0] ?? "")" }
        return digest(Data(all.joined(separator: "\n").utf8))
    }

    /// Writes the served names in the place of those that a module imports.
    private static func renaming(_ text: String, at path: String, _ addresses: [String: String]) -> String {
        var result = text
        for found in imports(of: text, at: path).reversed() {
            guard let name = addresses[found.path] else { continue }
            let folder = text[found.range].lastIndex(of: "/").map { text[found.range.lowerBound...$0] } ?? ""
            result.replaceSubrange(found.range, with: folder + (name.split(separator: "/").last ?? ""))
        }
        return result
    }

    /// Finds the names after `from "` and `import("` and where they stand.
    private static func imports(of text: String, at path: String) -> [(path: String, range: Range<String.Index>)] {
        text.matches(of: /(?:from |import\(|import )"(\.[^"\n]+)"/).map { match in
            var parts = path.split(separator: "/").dropLast().map(String.init)
            for part in match.output.1.split(separator: "/") where part != "." {
                if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
            }
            return (parts.joined(separator: "/"), match.output.1.startIndex..<match.output.1.endIndex)
        }
    }
}
