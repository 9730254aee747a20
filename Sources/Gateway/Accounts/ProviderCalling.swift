import Domain
import Logging
import ProviderKit
import ServiceLifecycle
import Synchronization

/// Access to the accounts' providers.
///
/// Calls are bounded for each account (``AccountLoad``), their ends count for its health, and a client who hangs up cuts
/// none of them (``ProviderCalls``).
struct ProviderCalling: Sendable {
    let registry: ProviderRegistry
    let calls: ProviderCalls
    let load: AccountLoad
    let logger: Logger

    func client(of account: ConfiguredAccount) -> AccountClient {
        AccountClient(account: account, load: load, logger: logger)
    }

    /// Makes a call to an account's service beside those of its client, and counts its time.
    func measured<T, Failure: Error>(
        _ account: AccountID, _ call: () async throws(Failure) -> T
    ) async throws(Failure) -> T {
        let start = ContinuousClock.now
        defer { load.measure(account, since: start) }
        return try await call()
    }

    /// Runs a call in a task of its own, which the caller's cancellation does not reach.
    func perform<T: Sendable>(_ call: @escaping @Sendable () async -> T) async -> T { await calls.perform(call) }

    /// Runs a call that may fail in a task of its own, which the caller's cancellation does not reach.
    ///
    /// - Throws: the errors of the call.
    func complete<T: Sendable>(
        _ call: @escaping @Sendable () async throws(GatewayError) -> T
    ) async throws(GatewayError) -> T {
        let outcome = await calls.perform { () async -> Result<T, GatewayError> in
            do throws(GatewayError) { return .success(try await call()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}

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
