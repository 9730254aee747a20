import Foundation
import GRDB

extension SQLiteEngine {
    /// Copies a consistent snapshot to a new file, which only its user may read, while reads and writes go on.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` when the file exists or cannot be written.
    package func backup(to path: String) async throws(StoreError) {
        try Self.create(path)
        do {
            try copy(to: path)
        } catch {
            unlink(path)
            throw .unavailable("the backup to \(path) failed")
        }
    }

    private static func create(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unavailable("cannot make \(path): \(systemError())") }
        _ = Foundation.close(descriptor)
    }
}
