import Synchronization

/// Bounds how many requests are in work at once; the next one is turned away at once instead of waiting.
///
/// 0 = off.
final class Admission: Sendable {
    private let limit: Int
    private let isCongested: @Sendable () -> Bool
    private let count = Atomic<Int>(0)

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

    /// - Returns: false when the limit is reached; otherwise ``leave()`` must follow.
    func enter() -> Bool {
        let now = count.add(1, ordering: .relaxed).newValue
        guard limit > 0, now > limit else { return true }
        count.subtract(1, ordering: .relaxed)
        return false
    }

    func leave() { count.subtract(1, ordering: .relaxed) }
}
