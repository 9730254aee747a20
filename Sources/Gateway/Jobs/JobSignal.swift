import Synchronization

/// Wakes workers of this node after one of its requests has made jobs for them; jobs of other nodes are found by
/// polling.
package final class JobSignal: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
        /// The number of notifications so far.
        var asked: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of notifications so far: read it before a search for work and pass it to ``wait(since:)``, so that a
    /// notification in between is not missed.
    package var asked: UInt64 { state.withLock { $0.asked } }

    package func notify() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.asked &+= 1
            guard !state.waiting.isEmpty else { return [] }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns at the next ``notify()``, at once when there was one since then, or when the task is cancelled.
    package func wait(since asked: UInt64) async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    guard state.asked == asked && !Task.isCancelled else { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }
}

/// The signals of a node, one for each group of its workers.
package struct JobSignals: Sendable {
    /// Wakes all workers except those of events and deliveries.
    package let workers = JobSignal()
    /// Wakes the dispatcher when there may be new events.
    package let events = JobSignal()
    /// Wakes the workers that deliver events to webhooks.
    package let deliveries = JobSignal()
    /// Wakes the search for what is due, after a commit of the only process that writes.
    let dueTimes = JobSignal()
    /// Wakes the readers who wait for events, after some got their numbers.
    let numbered = JobSignal()
    /// The changes for the live streams of this node.
    package let live = LiveInbox()

    /// The signal that wakes the workers of these kinds.
    func signal(of kinds: [JobKind]) -> JobSignal {
        kinds.contains(.deliverWebhook) || kinds.contains(.retryDeliveries) ? deliveries : workers
    }
}
