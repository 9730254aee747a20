import Foundation

/// A point at which tests stop the process, or let the disk fail: those of a file's write, then those of a purchase.
package enum PurchaseStep: String, Sendable, CaseIterable {
    case begin, written, synced, renamed, sending, answered, finishing, finished, removed
}

/// A folder whose files are whole or absent, also after the device lost its power.
struct DurableFolder: Sendable {
    let url: URL
    /// Called at each step of a write; throwing is what a failing disk does.
    var step: @Sendable (PurchaseStep) throws -> Void = { _ in }

    /// Writes a file: a temporary file, `fsync`, a rename, and `fsync` of the folder.
    func write(_ content: Data, to name: String) throws {
        try step(.begin)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        let temporary = url.appendingPathComponent(".\(name).new")
        guard FileManager.default.createFile(atPath: temporary.path, contents: nil) else { throw Self.failure() }
        let file = try FileHandle(forWritingTo: temporary)
        do {
            try file.write(contentsOf: content)
            try step(.written)
            try Self.synchronize(file.fileDescriptor)
            try file.close()
            try step(.synced)
        } catch {
            try? file.close()
            try? FileManager.default.removeItem(at: temporary)
            throw error
        }
        guard rename(temporary.path, url.appendingPathComponent(name).path) == 0 else { throw Self.failure() }
        try synchronizeFolder()
        try step(.renamed)
    }

    /// Returns a file's content; nil where there is none.
    func read(_ name: String) throws -> Data? {
        let file = url.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try Data(contentsOf: file)
    }

    /// The names of the files, without temporary ones and those that were put aside.
    func names() throws -> [String] {
        guard FileManager.default.fileExists(atPath: url.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: url.path).filter { !$0.hasPrefix(".") }.sorted()
    }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(at: url.appendingPathComponent(name))
        try synchronizeFolder()
    }

    /// Keeps an unreadable file under another name, out of the way.
    func putAside(_ name: String) throws {
        let aside = url.appendingPathComponent(".unreadable-\(name)")
        guard rename(url.appendingPathComponent(name).path, aside.path) == 0 else { throw Self.failure() }
    }

    private func synchronizeFolder() throws {
        let descriptor = open(url.path, O_RDONLY)
        guard descriptor >= 0 else { throw Self.failure() }
        defer { _ = close(descriptor) }
        try Self.synchronize(descriptor)
    }

    private static func synchronize(_ descriptor: Int32) throws {
        #if canImport(Darwin)
            // `fsync` leaves the content in the drive's cache there.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw failure() }
    }

    private static func failure() -> any Error { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

/// File names made from ids and addresses.
enum FileNames {
    /// An id of Apple's as a file's name; another text than `[A-Za-z0-9_-]` by its digest.
    static func name(_ id: String) -> String {
        let isPlain = !id.isEmpty && id.utf8.count <= 64 && id.unicodeScalars.allSatisfy(plain.contains)
        return (isPlain ? id : digest(id)) + ".json"
    }

    /// A short name of a text (FNV-1a, 64 bits); what is stored under it says itself whose it is.
    static func digest(_ text: String) -> String {
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "x" + String(hash, radix: 16)
    }

    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
}
