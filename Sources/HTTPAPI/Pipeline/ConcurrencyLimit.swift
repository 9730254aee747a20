import Synchronization

/// Bounds the number of requests in work; further ones are refused at once instead of waiting.
///
/// Callers without credentials may use a quarter of it, so that they never cause others to be refused. 0 = off.
final class ConcurrencyLimit: Sendable {
    private let limit: Int
    private let isCongested: @Sendable () -> Bool
    private let count = Atomic<Int>(0)
    private let strangers = Atomic<Int>(0)

    /// - Parameter isCongested: returns whether work already waits too long, whatever the number of requests.
    init(limit: Int, isCongested: @escaping @Sendable () -> Bool = { false }) {
        self.limit = limit
        self.isCongested = isCongested
    }

    /// True where a request should be refused before any work for it.
    ///
    /// At twice the capacity every second request is refused, so a refusal must cost next to nothing.
    var isFull: Bool {
        guard limit > 0 else { return false }
        return count.load(ordering: .relaxed) >= limit || isCongested()
    }

    /// Counts a request that begins.
    ///
    /// - Parameter isStranger: true for a caller without credentials.
    /// - Returns: false where the limit is reached; otherwise ``leave(isStranger:)`` must follow.
    func enter(isStranger: Bool = false) -> Bool {
        guard !isStranger || Self.enter(strangers, limit: max(1, limit / 4), isOff: limit == 0) else { return false }
        guard Self.enter(count, limit: limit, isOff: limit == 0) else {
            if isStranger { strangers.subtract(1, ordering: .relaxed) }
            return false
        }
        return true
    }

    private static func enter(_ count: borrowing Atomic<Int>, limit: Int, isOff: Bool) -> Bool {
        let now = count.add(1, ordering: .relaxed).newValue
        guard !isOff, now > limit else { return true }
        count.subtract(1, ordering: .relaxed)
        return false
    }

    func leave(isStranger: Bool = false) {
        count.subtract(1, ordering: .relaxed)
        if isStranger { strangers.subtract(1, ordering: .relaxed) }
    }
}
