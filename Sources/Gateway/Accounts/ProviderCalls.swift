import ServiceLifecycle
import Synchronization

/// Owns the calls that may move money, so that a client who hangs up cannot cut one in two.
///
/// A request only awaits its call; on graceful shutdown the service waits until the last call has ended and was recorded.
package final class ProviderCalls: Service {
    private struct State {
        var running = 0
        var idle: [CheckedContinuation<Void, Never>] = []
    }

    /// The executor of a request's task, on which a call that outlives the request runs as well.
    @TaskLocal package static var executor: (any TaskExecutor)?

    private let state = Mutex(State())

    package init() {}

    /// Runs the call in a task of its own, which the caller's cancellation does not reach.
    package func perform<T: Sendable>(_ call: @escaping @Sendable () async -> T) async -> T {
        state.withLock { $0.running += 1 }
        return await Task(executorPreference: Self.executor) {
            let result = await call()
            self.finish()
            return result
        }.value
    }

    package func run() async throws {
        try? await gracefulShutdown()
        await untilIdle()
    }

    /// Returns when no call is running.
    package func untilIdle() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.running > 0 { state.idle.append(continuation) }
                return state.running == 0
            }
            if isIdle { continuation.resume() }
        }
    }

    private func finish() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.running -= 1
            guard state.running == 0 else { return [] }
            defer { state.idle = [] }
            return state.idle
        }
        for continuation in waiting { continuation.resume() }
    }
}
