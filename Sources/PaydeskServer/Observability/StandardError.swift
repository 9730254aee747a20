import Foundation
import Synchronization

/// The process's standard error, to which one line at a time is written.
enum StandardError {
    private static let turn = Mutex(())

    /// Writes all bytes, or as many as the other end takes; a log that cannot be written stops nothing.
    static func write(_ bytes: [UInt8]) {
        turn.withLock { _ in
            bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while !rest.isEmpty {
                    let written = Foundation.write(
                        STDERR_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    if written > 0 {
                        rest = rest.dropFirst(written)
                    } else if errno != EINTR {
                        return
                    }
                }
            }
        }
    }
}
