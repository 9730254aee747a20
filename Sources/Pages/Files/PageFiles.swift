import CPages
package import Foundation

/// The files of the pages by their paths: `Assets/sdk/pay.css`, `Templates/paid.mustache`, `Texts/en.json`; and the
/// documentation, `Docs/` and a path from the repository's root.
package struct PageFiles: Sendable {
    private let contents: [String: Data]
    /// True where these are the files in the binary and no others.
    let isEmbedded: Bool

    /// Takes the files that are embedded in the binary.
    ///
    /// - Parameter assets: a folder whose files are read in the place of those of `Assets`, in development; nil for
    ///   none.
    package init(assets: URL? = nil) {
        var contents: [String: Data] = [:]
        var index: UInt = 0
        while let file = cpages_file_at(index)?.pointee {
            // The binary's own bytes, which stay where they are: nothing is copied or read before it is asked for.
            contents[String(cString: file.path)] = Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: file.bytes), count: Int(file.count), deallocator: .none)
            index += 1
        }
        if let assets { contents.merge(Self.read(assets)) { $1 } }
        self.contents = contents
        isEmbedded = assets == nil
    }

    package init(_ contents: [String: Data]) {
        self.contents = contents
        isEmbedded = false
    }

    package var paths: [String] { contents.keys.sorted() }

    package subscript(path: String) -> Data? { contents[path] }

    private static func read(_ folder: URL) -> [String: Data] {
        let found = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return Dictionary(
            found.compactMap { path in
                (try? Data(contentsOf: folder.appendingPathComponent(path))).map { ("Assets/\(path)", $0) }
            }
        ) { first, _ in first }
    }
}
