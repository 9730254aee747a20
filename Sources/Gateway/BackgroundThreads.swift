import Foundation
import Synchronization

/// Threads beside the event loops for work that uses much CPU, with a lower priority than the loops.
///
/// A signature takes some tenths of a millisecond, and a restore has 200; a full page is encoded in some milliseconds.
/// On an event loop all its connections would wait for that.
package final class BackgroundThreads: TaskExecutor {
    /// The threads that check signatures: half as many as there are cores, for the whole process.
    package static let verification = BackgroundThreads(
        "verify", threads: max(1, ProcessInfo.processInfo.activeProcessorCount / 2))
    /// The thread that encodes pages of lists.
    package static let encoding = BackgroundThreads("encode", threads: 1)

    /// The largest number of waiting tasks; further ones are refused.
    private static let waitingLimit = 1_024
    /// The nice value of the threads (nice(2)), so that event loops come first on a busy core.
    private static let niceness: Int32 = 5

    private struct State {
        var jobs: [UnownedJob] = []
        var next = 0
        var waiting = 0
    }

    private let state = Mutex(State())
    private let ready = DispatchSemaphore(value: 0)

    private init(_ name: String, threads: Int) {
        for number in 1...threads {
            let thread = Thread { [self] in work() }
            thread.name = "\(name)-\(number)"
            thread.start()
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        ready.signal()
    }

    /// Runs work on one of the threads, in the order of arrival.
    ///
    /// - Throws: the errors of the work; `temporarilyUnavailable` where too much work waits already.
    package func run<T: Sendable>(
        _ body: @escaping @Sendable () async throws(GatewayError) -> T
    ) async throws(GatewayError) -> T {
        let isTaken = state.withLock { state in
            guard state.waiting < Self.waitingLimit else { return false }
            state.waiting += 1
            return true
        }
        guard isTaken else { throw .temporarilyUnavailable(retryAfter: 1) }
        defer { state.withLock { $0.waiting -= 1 } }
        let result = await Task(executorPreference: self) { () async -> Result<T, GatewayError> in
            do throws(GatewayError) { return .success(try await body()) } catch { return .failure(error) }
        }.value
        return try result.get()
    }

    private func work() {
        // On Linux the nice value applies to the calling thread only.
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceness)
        while true {
            ready.wait()
            let job = state.withLock { state -> UnownedJob? in
                guard state.next < state.jobs.count else { return nil }
                let job = state.jobs[state.next]
                state.next += 1
                if state.next == state.jobs.count {
                    (state.jobs, state.next) = ([], 0)
                } else if state.next >= 1_024 {
                    state.jobs.removeFirst(state.next)
                    state.next = 0
                }
                return job
            }
            job?.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
