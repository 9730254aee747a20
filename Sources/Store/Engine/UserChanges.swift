package import Domain
import Synchronization

/// The users that commits of this process have changed, so that cached reads about the others stay valid.
///
/// For a database that no other process writes. Users share slots, so an unchanged user may count as changed, never the
/// reverse.
package final class UserChanges: Sendable {
    private struct State {
        var commits: Int64 = 0
        /// The last commit that changed a user of each slot.
        var last = [Int64](repeating: 0, count: 4_096)
    }

    private let state = Mutex(State())

    /// The number of commits that a snapshot opened now certainly shows.
    package var position: Int64 { state.withLock { $0.commits } }

    /// Returns whether a user has not changed since a snapshot that was opened after this position was read.
    package func isUnchanged(_ user: ID<User>, since position: Int64) -> Bool {
        let hash = user.hashValue
        return state.withLock { $0.last[Self.slot(hash, of: $0.last.count)] <= position }
    }

    /// Marks users as changed before a commit, whether it will succeed or not: cached reads about them are out of date.
    func announce(_ users: [ID<User>]) {
        guard !users.isEmpty else { return }
        state.withLock { state in
            for user in users { state.last[Self.slot(user.hashValue, of: state.last.count)] = state.commits + 1 }
        }
    }

    /// Counts the commit of announced changes, which a snapshot opened from now on shows.
    func committed(_ users: [ID<User>]) {
        guard !users.isEmpty else { return }
        state.withLock { $0.commits += 1 }
    }

    private static func slot(_ hash: Int, of count: Int) -> Int { Int(UInt(bitPattern: hash) % UInt(count)) }
}
