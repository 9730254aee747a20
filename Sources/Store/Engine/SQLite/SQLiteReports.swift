import DequeModule
import Dispatch
import Foundation
import GRDB
import GRDBSQLite
import Synchronization

/// The few threads for long reads, each with a connection of its own, which take calls from one bounded queue.
///
/// SQLite's progress handler ends a call that exceeds the time limit. The threads start with the first calls.
final class SQLiteReports: Sendable {
    private struct Job: Sendable {
        /// The time until which the caller waits for a thread.
        let deadline: ContinuousClock.Instant
        let run: @Sendable (DatabaseQueue) -> Void
        let fail: @Sendable (StoreError) -> Void
    }

    private struct State {
        var jobs: Deque<Job> = []
        var idle = 0
        /// Connections that no thread uses yet.
        var spare: [DatabaseQueue]
        var isClosing = false
    }

    private let connections: [DatabaseQueue]
    private let limits: ReportLimits
    private let state: Mutex<State>
    private let work = DispatchSemaphore(value: 0)
    private let threads = DispatchGroup()
    private let isClosing = Atomic<Bool>(false)

    init(_ connections: [DatabaseQueue], limits: ReportLimits) {
        self.connections = connections
        self.limits = limits
        state = Mutex(State(spare: connections))
    }

    /// Runs the closure on one consistent snapshot.
    func read<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            submit(
                Job(
                    deadline: .now + limits.time,
                    run: { [self] connection in
                        continuation.resume(with: Result { try read(connection, body) })
                    },
                    fail: { continuation.resume(throwing: $0) }))
        }
    }

    /// Ends the running reads, fails the waiting ones, and closes the connections.
    func close() {
        isClosing.store(true, ordering: .releasing)
        let (waiting, idle) = state.withLock { state in
            state.isClosing = true
            defer {
                state.jobs = []
                state.idle = 0
            }
            return (Array(state.jobs), state.idle)
        }
        for job in waiting { job.fail(.unavailable("the database is closed")) }
        for _ in 0..<idle { work.signal() }
        threads.wait()
        for connection in connections { try? connection.close() }
    }

    private func submit(_ job: Job) {
        let accepted = state.withLock { state -> Result<(wakes: Bool, new: DatabaseQueue?), StoreError> in
            if state.isClosing { return .failure(.unavailable("the database is closed")) }
            if state.jobs.count >= limits.waiting { return .failure(.unavailable("too many reports are waiting")) }
            state.jobs.append(job)
            if state.idle > 0 {
                state.idle -= 1
                return .success((true, nil))
            }
            let new = state.spare.popLast()
            if new != nil { threads.enter() }
            return .success((false, new))
        }
        switch accepted {
        case .failure(let refusal): job.fail(refusal)
        case .success((true, _)): work.signal()
        case .success((false, let connection?)):
            let thread = Thread { [self] in serve(connection) }
            thread.name = "paydesk-report"
            thread.start()
        case .success: break
        }
    }

    // MARK: The threads

    private func serve(_ connection: DatabaseQueue) {
        while let job = next() {
            if job.deadline > .now { job.run(connection) } else { job.fail(.unavailable("no thread was free in time")) }
        }
        threads.leave()
    }

    /// Returns the next call, waiting for one; nil when the engine closes.
    private func next() -> Job? {
        while true {
            let (job, isClosing) = state.withLock { state in
                let job = state.jobs.popFirst()
                if job == nil, !state.isClosing { state.idle += 1 }
                return (job, state.isClosing)
            }
            if let job { return job }
            if isClosing { return nil }
            work.wait()
        }
    }

    private func read<T: Sendable>(
        _ connection: DatabaseQueue, _ body: (any Database) throws -> T
    ) throws -> T {
        let end = ContinuousClock.now + limits.time
        do {
            return try SQLiteReaders.read(
                connection,
                endingWhen: { [self] in
                    isClosing.load(ordering: .acquiring) || ContinuousClock.now > end
                }, body)
        } catch let error as DatabaseError {
            throw StoreError(sqlite: error)
        }
    }
}

/// Ends the statements of a connection as soon as a condition holds (https://sqlite.org/c3ref/progress_handler.html).
final class SQLiteProgress {
    /// The virtual machine instructions between two checks of the condition; some tens of microseconds.
    private static let instructions: Int32 = 4_000

    private let isOver: () -> Bool

    private init(_ isOver: @escaping () -> Bool) { self.isOver = isOver }

    /// Runs the body; a statement that runs while the condition holds fails with SQLITE_INTERRUPT.
    static func watch<T>(
        _ connection: GRDB.Database, _ isOver: @escaping () -> Bool, _ body: () throws -> T
    ) rethrows -> T {
        let progress = SQLiteProgress(isOver)
        sqlite3_progress_handler(
            connection.sqliteConnection, instructions,
            { context in
                guard let context else { return 0 }
                return Unmanaged<SQLiteProgress>.fromOpaque(context).takeUnretainedValue().isOver() ? 1 : 0
            }, Unmanaged.passUnretained(progress).toOpaque())
        defer {
            sqlite3_progress_handler(connection.sqliteConnection, 0, nil, nil)
            withExtendedLifetime(progress) {}
        }
        return try body()
    }
}
