import Synchronization

/// Wakes the workers of this node when something was asked for; what another node asked for is found by looking.
package final class JobSignal: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
        /// How often it was asked.
        var asked: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// What ``wait(since:)`` compares with: taken before looking for work, so that nothing asked for meanwhile is missed.
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
