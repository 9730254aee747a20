import Domain
import Foundation
import Synchronization

/// Makes this process the owner of an embedded database: an advisory lock on `<file>.lock`, held until ``release()``.
///
/// The lock belongs to the open file, so the kernel frees it when the process dies; the file itself stays, because
/// removing it would let two processes lock two different files of the same name.
package final class OwnerLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// - Throws: ``StoreError/owned(_:)`` when another owner holds the lock.
    package init(database path: String) throws(StoreError) {
        let lockPath = path + ".lock"
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unavailable("cannot open \(lockPath): \(systemError())") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let owner = Self.owner(descriptor)
            close(descriptor)
            guard code == EWOULDBLOCK else { throw .unavailable("cannot lock \(lockPath): error \(code)") }
            throw .owned("\(path) is in use by \(owner); one process owns the file, so stop that one first")
        }
        Self.sign(descriptor)
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Releases the lock; a second call does nothing.
    package func release() {
        descriptor.withLock { held in
            if let descriptor = held { close(descriptor) }
            held = nil
        }
    }

    /// Writes the process id for the error text of a second owner; the lock holds without it.
    private static func sign(_ descriptor: Int32) {
        let text = Array("\(getpid())\n".utf8)
        guard ftruncate(descriptor, 0) == 0 else { return }
        _ = pwrite(descriptor, text, text.count, 0)
    }

    private static func owner(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).prefix(while: \.isDigit)
        return digits.isEmpty ? "another process" : "process \(String(decoding: digits, as: UTF8.self))"
    }
}

/// The text of the last failed system call.
func systemError() -> String { String(cString: strerror(errno)) }
