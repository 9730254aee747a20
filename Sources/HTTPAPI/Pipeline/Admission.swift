import Synchronization

/// Bounds how many requests are in work at once; the next one is turned away at once instead of waiting.
///
/// 0 = off.
final class Admission: Sendable {
    private let limit: Int
    private let count = Atomic<Int>(0)

    init(limit: Int) { self.limit = limit }

    /// - Returns: false when the limit is reached; otherwise ``leave()`` must follow.
    func enter() -> Bool {
        let now = count.add(1, ordering: .relaxed).newValue
        guard limit > 0, now > limit else { return true }
        count.subtract(1, ordering: .relaxed)
        return false
    }

    func leave() { count.subtract(1, ordering: .relaxed) }
}
