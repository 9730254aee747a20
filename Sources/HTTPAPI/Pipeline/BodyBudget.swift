import Gateway
import Synchronization

/// Bounds how much of all requests' bodies is in memory at once, so that many slow senders cannot fill it.
final class BodyBudget: Sendable {
    private let limit: Int
    private let held = Atomic<Int>(0)

    init(bytes: Int) { limit = bytes }

    /// - Throws: `temporarilyUnavailable` when there is no room; otherwise as much has to be given back.
    func take(_ bytes: Int) throws(GatewayError) {
        guard held.add(bytes, ordering: .relaxed).newValue > limit else { return }
        held.subtract(bytes, ordering: .relaxed)
        throw .temporarilyUnavailable(retryAfter: 1)
    }

    func giveBack(_ bytes: Int) { held.subtract(bytes, ordering: .relaxed) }
}
