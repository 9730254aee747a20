import Synchronization

/// Bytes that are overwritten when the last reference ends, and that descriptions do not show.
///
/// This is best effort: a copy that a caller makes stays, and the compiler may have made others.
public final class SecretBytes: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let bytes: Mutex<[UInt8]>

    public init(_ bytes: some Collection<UInt8>) { self.bytes = Mutex(Array(bytes)) }

    deinit {
        bytes.withLock { bytes in
            for index in bytes.indices { bytes[index] = 0 }
        }
    }

    /// Passes the bytes to a closure, which must not store them.
    public func withBytes<Result: Sendable>(_ body: (borrowing [UInt8]) throws -> Result) rethrows -> Result {
        try bytes.withLock { try body($0) }
    }

    public var count: Int { bytes.withLock { $0.count } }
    public var description: String { "SecretBytes" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
