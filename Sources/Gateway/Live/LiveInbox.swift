import Synchronization

/// The changes that this node's streams have not looked at.
package final class LiveInbox: Sendable {
    private struct State {
        var own = LiveChanges()
        var others = LiveChanges()
    }

    private let state = Mutex(State())
    /// Wakes the reader.
    let signal = JobSignal()

    init() {}

    /// Adds the changes of this process's commit.
    func take(_ changes: LiveChanges) {
        guard !changes.isEmpty else { return }
        state.withLock { $0.own.merge(changes) }
        signal.notify()
    }

    /// Adds the changes of another process.
    func hear(_ changes: LiveChanges) {
        guard !changes.isEmpty else { return }
        state.withLock { $0.others.merge(changes) }
        signal.notify()
    }

    /// Adds changes that could not be looked at now, without waking the reader.
    func putBack(_ changes: LiveChanges) { state.withLock { $0.others.merge(changes) } }

    /// Removes and returns the changes of this process and of others.
    func empty() -> (own: LiveChanges, others: LiveChanges) {
        state.withLock { state in
            defer { state = State() }
            return (state.own, state.others)
        }
    }
}
