import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif
#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Bytes that are overwritten when the last reference to them is released.
///
/// Best effort: Swift may have copied them before they came here, and a slice that leaves a closure has its own copy.
final class WipedBytes: Sendable {
    private let bytes: Mutex<[UInt8]>

    /// Takes the bytes over; the caller's array is empty afterwards.
    init(taking bytes: inout [UInt8]) {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        self.bytes = Mutex(taken)
    }

    deinit { bytes.withLock { Self.wipe(&$0) } }

    func withBytes<Value>(_ body: ([UInt8]) throws -> Value) rethrows -> Value {
        try body(bytes.withLock(\.self))
    }

    /// Overwrites bytes in place, by a call that a compiler does not optimise away.
    static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { wipe($0) }
        bytes.removeAll()
    }

    static func wipe(_ bytes: inout Data) {
        bytes.withUnsafeMutableBytes { wipe($0) }
        bytes.removeAll()
    }

    private static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        #if canImport(Darwin)
            _ = memset_s(start, bytes.count, 0, bytes.count)
        #else
            explicit_bzero(start, bytes.count)
        #endif
    }
}
