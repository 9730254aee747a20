package import Domain
import Synchronization

/// Which users the commits of this process have changed, so that what was read of the others stands unasked.
///
/// For a database that no other process writes. Users share slots: one may count as changed who was not, never the other
/// way round.
package final class UserChanges: Sendable {
    private struct State {
        var commits: Int64 = 0
        /// The last commit that changed a user of each slot.
        var last = [Int64](repeating: 0, count: 4_096)
    }

    private let state = Mutex(State())

    /// Which commits a snapshot that is opened now holds at least.
    package var position: Int64 { state.withLock { $0.commits } }

    /// Whether a user is still what a snapshot showed that was opened after this position was read.
    package func isUnchanged(_ user: ID<User>, since position: Int64) -> Bool {
        let hash = user.hashValue
        return state.withLock { $0.last[Self.slot(hash, of: $0.last.count)] <= position }
    }

    /// Said before a commit: what was read until now counts no more, whether the commit succeeds or not.
    func announce(_ users: [ID<User>]) {
        guard !users.isEmpty else { return }
        state.withLock { state in
            for user in users { state.last[Self.slot(user.hashValue, of: state.last.count)] = state.commits + 1 }
        }
    }

    /// Said after what was announced is committed: a snapshot that is opened now shows it.
    func committed(_ users: [ID<User>]) {
        guard !users.isEmpty else { return }
        state.withLock { $0.commits += 1 }
    }

    private static func slot(_ hash: Int, of count: Int) -> Int { Int(UInt(bitPattern: hash) % UInt(count)) }
}
