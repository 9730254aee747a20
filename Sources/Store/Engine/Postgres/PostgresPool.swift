import DequeModule
import Dispatch
import Foundation
import Synchronization

/// A call that waits for a connection; exactly one of the two closures is called, once.
struct PostgresJob: Sendable {
    /// The time until which the caller waits for a connection.
    let deadline: ContinuousClock.Instant
    let run: @Sendable (PostgresSession) -> Void
    let fail: @Sendable (StoreError) -> Void
}

/// A fixed number of threads, each with its own connection, that take calls from one bounded queue.
///
/// The thread that became idle last is woken first, so that few calls use few connections: their data is still in the
/// processor's caches, and connections that are not needed are never opened. No blocking call occupies Swift's
/// cooperative pool. ``close()`` must be called: the threads keep the pool alive.
final class PostgresPool: Sendable {
    private struct State {
        var jobs: Deque<PostgresJob> = []
        /// The wake-ups of the idle threads, the last to fall idle last.
        var idle: [DispatchSemaphore] = []
        /// The time since which every call that was taken had waited too long; nil when the last one had not.
        var isLateSince: ContinuousClock.Instant?
        var workers: Int
        var connected = 0
        var isClosing = false
        var closeWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let address: PostgresAddress
    private let settings: PostgresSettings
    private let health: PostgresHealth
    private let state: Mutex<State>
    private let stopWatch = DispatchSemaphore(value: 0)

    /// - Parameter health: shared by the pools of one server, so that each of them learns of its return from any answer.
    init(address: PostgresAddress, settings: PostgresSettings, health: PostgresHealth) {
        self.address = address
        self.settings = settings
        self.health = health
        let workers = max(1, settings.connections)
        state = Mutex(State(workers: workers))
        for number in 1...workers {
            start("paydesk-pg-\(number)") { [self] in serve() }
        }
        start("paydesk-pg-watch") { [self] in watch() }
    }

    private func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }

    /// Threads that work on a call.
    var inUse: Int { state.withLock { max(0, $0.workers - $0.idle.count) } }

    /// Calls that no thread has taken yet.
    var waiting: Int { state.withLock { $0.jobs.count } }

    /// True when calls have waited long for a while.
    ///
    /// That is, a sixteenth of their limit during a quarter of it, or half of it now; a short delay does not count. A
    /// request makes several calls, so it waits a few times as long.
    var isCongested: Bool {
        state.withLock { state in
            guard let head = state.jobs.first?.deadline else { return false }
            let now = ContinuousClock.now
            if head - now < settings.patience / 2 { return true }
            return state.isLateSince.map { now - $0 > settings.patience / 4 } ?? false
        }
    }

    /// Gives a call to the threads, or fails it at once when there is no room.
    func submit(_ job: PostgresJob) {
        let accepted = state.withLock { state -> Result<DispatchSemaphore?, StoreError> in
            if state.isClosing { return .failure(.unavailable("the database is closed")) }
            if state.jobs.count >= settings.waiting { return .failure(.unavailable("too many calls are waiting")) }
            state.jobs.append(job)
            return .success(state.idle.popLast())
        }
        switch accepted {
        case .success(let thread): thread?.signal()
        case .failure(let refusal): job.fail(refusal)
        }
    }

    /// Finishes the accepted calls and closes the connections.
    func close() async {
        await withCheckedContinuation { continuation in
            let (isClosed, idle) = state.withLock { state in
                state.isClosing = true
                if state.workers > 0 { state.closeWaiters.append(continuation) }
                defer { state.idle = [] }
                return (state.workers == 0, state.idle)
            }
            // Every waiting thread wakes up, finds no work and ends.
            for thread in idle { thread.signal() }
            if isClosed { continuation.resume() }
        }
    }

    // MARK: The threads

    private func serve() {
        let session = PostgresSession(address: address, settings: settings, health: health)
        let wakeUp = DispatchSemaphore(value: 0)
        var wasConnected = false
        func report() {
            guard session.isConnected != wasConnected else { return }
            wasConnected.toggle()
            state.withLock { $0.connected += wasConnected ? 1 : -1 }
        }
        while let job = next(wakeUp) {
            report()
            do throws(StoreError) {
                guard job.deadline > .now else { throw .unavailable("no connection was free in time") }
                guard health.admits() else { throw .unavailable("PostgreSQL does not answer") }
                try session.connect(by: job.deadline)
                report()
                job.run(session)
                report()
            } catch {
                report()
                giveUp(job, session, error)
            }
        }
        session.drop()
        report()
        finish()
    }

    /// Returns the next call, waiting for one; nil when the pool closes and none is left.
    private func next(_ wakeUp: DispatchSemaphore) -> PostgresJob? {
        while true {
            let (job, isClosing) = state.withLock { state in
                let job = state.jobs.popFirst()
                if let job {
                    recordDelay(of: job, in: &state)
                } else if !state.isClosing {
                    state.idle.append(wakeUp)
                }
                return (job, state.isClosing)
            }
            if let job { return job }
            if isClosing { return nil }
            wakeUp.wait()
        }
    }

    private func recordDelay(of job: PostgresJob, in state: inout State) {
        let now = ContinuousClock.now
        let isLate = job.deadline - now < settings.patience * 15 / 16
        state.isLateSince = isLate ? state.isLateSince ?? now : nil
    }

    /// Leaves a call to the other threads while one of them is connected, because one connection's failure is not the
    /// pool's.
    private func giveUp(_ job: PostgresJob, _ session: PostgresSession, _ error: StoreError) {
        let (isTaken, thread) = state.withLock { state -> (Bool, DispatchSemaphore?) in
            guard state.connected > 0, job.deadline > .now, !health.isDown else { return (false, nil) }
            state.jobs.prepend(job)
            return (true, state.idle.popLast())
        }
        guard isTaken else { return job.fail(error) }
        thread?.signal()
        Thread.sleep(forTimeInterval: Double(session.pause.milliseconds) / 1_000)
    }

    private func finish() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            state.workers -= 1
            guard state.workers == 0 else { return nil }
            defer { state.closeWaiters = [] }
            return state.closeWaiters
        }
        guard let waiters else { return }
        stopWatch.signal()
        for waiter in waiters { waiter.resume() }
    }

    /// Fails the calls that have waited too long, even while every thread is busy.
    private func watch() {
        let interval = DispatchTimeInterval.milliseconds(Int(max(10, settings.patience.milliseconds / 10)))
        while stopWatch.wait(timeout: .now() + interval) == .timedOut {
            let late = state.withLock { state in
                var late: [PostgresJob] = []
                while let job = state.jobs.first, job.deadline <= .now {
                    late.append(state.jobs.removeFirst())
                }
                return late
            }
            for job in late { job.fail(.unavailable("no connection was free in time")) }
        }
    }
}
