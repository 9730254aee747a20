import Foundation

/// The way of a backup into the place of an embedded database: a copy beside it, which is completed, then takes its
/// name.
///
/// The owner's lock of the database is held meanwhile. Until ``finish()`` the database is as it was.
package final class SQLiteRestoration: Sendable {
    /// The database that is replaced, without symbolic links.
    private let place: String
    private let lock: OwnerLock

    /// The copy of the backup, to be opened, changed and closed before ``finish()``.
    package var copy: String { place + ".restoring" }

    /// - Throws: ``StoreError/owned(_:)`` while another process has the database.
    package init(at path: String) throws(StoreError) {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw .unavailable("cannot create the folder \(folder.path)")
        }
        place = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        lock = try OwnerLock(database: place)
    }

    package var replacesDatabase: Bool { FileManager.default.fileExists(atPath: place) }

    /// Copies an open backup; what an earlier attempt left is removed first.
    package func take(_ backup: SQLiteEngine) async throws(StoreError) {
        abandon()
        try await backup.backup(to: copy)
    }

    /// Gives the copy, which must be closed, the database's name, and makes that durable.
    ///
    /// The write-ahead log of the replaced database goes first: beside the new one it would be read as its own.
    package func finish() throws(StoreError) {
        guard Self.size(copy + "-wal") == 0 else { throw .unavailable("\(copy) is still in use") }
        for end in Self.companions { unlink(place + end) }
        guard rename(copy, place) == 0 else { throw .unavailable("cannot write \(place): \(systemError())") }
        for end in Self.companions + [".lock"] { unlink(copy + end) }
        let folder = open(URL(fileURLWithPath: place).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw .unavailable("cannot open the folder of \(place): \(systemError())") }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw .unavailable("cannot write \(place): \(systemError())") }
    }

    /// Removes the copy.
    package func abandon() {
        for end in ["", ".lock"] + Self.companions { unlink(copy + end) }
    }

    package func release() { lock.release() }

    private static let companions = ["-wal", "-shm"]

    private static func size(_ path: String) -> UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return attributes?[.size] as? UInt64 ?? 0
    }
}
