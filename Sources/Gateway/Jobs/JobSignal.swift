import Synchronization

/// Wakes the workers of this node when something was asked for; what another node asked for is found by looking.
package final class JobSignal: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var next = 0
        /// Asked for while nobody waited.
        var isPending = false
    }

    private let state = Mutex(State())

    package init() {}

    package func notify() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard !state.waiting.isEmpty else {
                state.isPending = true
                return []
            }
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns at the next ``notify()``, at once when there was one since the last wait, or when the task is cancelled.
    package func wait() async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state -> Bool in
                    guard !state.isPending && !Task.isCancelled else {
                        state.isPending = false
                        return true
                    }
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
