import Synchronization

/// Holds tasks until it is opened, and lets others wait for their arrival.
package final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var held: [CheckedContinuation<Void, Never>] = []
        var arrived = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Counts the arrival, and returns when the gate is open.
    package func pass() async {
        await withCheckedContinuation { continuation in
            let (isOpen, watchers) = state.withLock { state in
                state.arrived += 1
                if !state.isOpen { state.held.append(continuation) }
                let ready = state.watchers.filter { $0.count <= state.arrived }
                state.watchers.removeAll { $0.count <= state.arrived }
                return (state.isOpen, ready)
            }
            if isOpen { continuation.resume() }
            for watcher in watchers { watcher.continuation.resume() }
        }
    }

    /// Returns when a number of tasks have arrived.
    package func arrivals(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.arrived < count { state.watchers.append((count, continuation)) }
                return state.arrived >= count
            }
            if isThere { continuation.resume() }
        }
    }

    package func open() {
        let held = state.withLock { state in
            state.isOpen = true
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}
