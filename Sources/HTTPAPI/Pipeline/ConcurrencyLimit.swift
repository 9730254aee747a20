import Synchronization

/// Bounds how many requests are in work at once; the next one is turned away at once instead of waiting.
///
/// Callers without credentials have a quarter of the places, so that they never turn away the others. 0 = off.
final class ConcurrencyLimit: Sendable {
    private let limit: Int
    private let isCongested: @Sendable () -> Bool
    private let count = Atomic<Int>(0)
    private let strangers = Atomic<Int>(0)

    /// - Parameter isCongested: whether what has begun waits too long already, whatever the number.
    init(limit: Int, isCongested: @escaping @Sendable () -> Bool = { false }) {
        self.limit = limit
        self.isCongested = isCongested
    }

    /// Whether a request had better be turned away before anything is done for it.
    ///
    /// At twice the capacity every second request is refused, so a refusal must cost next to nothing.
    var isFull: Bool {
        guard limit > 0 else { return false }
        return count.load(ordering: .relaxed) >= limit || isCongested()
    }

    /// - Parameter isStranger: whether nobody vouches for the caller.
    /// - Returns: false when the limit is reached; otherwise ``leave(isStranger:)`` must follow.
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
