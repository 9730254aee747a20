import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A header that led to a sound chain, with its parsed content.
struct KnownHeader: Sendable {
    /// The base64url text of the segment.
    let text: ArraySlice<UInt8>
    let bytes: [UInt8]
    /// The strings of `x5c`, still base64.
    let certificates: [ArraySlice<UInt8>]
    let peer: PeerCertificates
}

/// A cache of the few headers under which Apple signs at a time, so that each is parsed once.
///
/// The content of a header follows from its bytes alone. Trust is decided each time: an entry is no verdict.
final class HeaderMemory: Sendable {
    private struct State {
        var entries: [KnownHeader] = []
        /// The next to be replaced.
        var oldest = 0
    }

    private static let capacity = 8
    private let state = Mutex(State())

    var count: Int { state.withLock { $0.entries.count } }

    func header(_ text: ArraySlice<UInt8>) -> KnownHeader? {
        state.withLock { state in state.entries.first { Self.isSame($0.text, text) } }
    }

    /// Caches the header of a sound chain; a peer that signs with another chain cannot displace any.
    func insert(_ header: KnownHeader) {
        state.withLock { state in
            if state.entries.contains(where: { Self.isSame($0.text, header.text) }) { return }
            if state.entries.count < Self.capacity { return state.entries.append(header) }
            state.entries[state.oldest] = header
            state.oldest = (state.oldest + 1) % Self.capacity
        }
    }

    private static func isSame(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        return one.withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard let first = one.baseAddress, let second = other.baseAddress else { return true }
                return memcmp(first, second, one.count) == 0
            }
        }
    }
}
