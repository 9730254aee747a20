import DequeModule
import Dispatch
import Foundation
import GRDB
import Synchronization

/// The bounds of group commit.
package struct GroupCommitLimits: Sendable {
    /// The most writes that wait for the writer; a further caller gets ``StoreError/unavailable(_:)``.
    package var waiting = 4_096
    /// The most writes in one commit.
    package var count = 256
    /// The time after which a batch takes no further write.
    ///
    /// A caller waits at most this long for the others, and only while further writes arrive; a commit costs about as
    /// much as this on a slow disk.
    package var time = Duration.milliseconds(25)

    package init() {}
}

/// The only thread that writes to a SQLite database: it drains a bounded queue and commits many callers' writes at
/// once.
///
/// A caller is answered only after the commit that contains its write. A caller cannot take its write out of a batch,
/// not by cancellation either. ``stop()`` must be called: the thread keeps the writer alive.
final class GroupCommitWriter: Sendable {
    private struct State {
        var queue: Deque<QueuedWrite> = []
        var isAsleep = false
        var isStopping = false
        var isStopped = false
        var failure: StoreError?
        var stopWaiters: [CheckedContinuation<Void, Never>] = []

        /// Returns whether the writer sleeps; the first caller that wakes it sets this to false.
        mutating func wakes() -> Bool {
            defer { isAsleep = false }
            return isAsleep
        }

        mutating func takeFirst(_ count: Int) -> [QueuedWrite] {
            let taken = Array(queue.prefix(count))
            queue.removeFirst(taken.count)
            return taken
        }
    }

    /// The number of batches with a savepoint for each write after one that had to run again: writes that fail late may
    /// come in numbers, and to run each twice costs more than the savepoints.
    private static let batchesWithSavepoints = 32

    let changes = UserChanges()
    private let connections: SQLiteFile.Connections
    private let limits: GroupCommitLimits
    private let rehearse: Bool
    private let commit: @Sendable (GRDB.Database) throws -> Void
    private let onFailure: @Sendable (StoreError) -> Void
    private let onStop: @Sendable () -> Void
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)
    private let commitCount = Atomic<Int64>(0)
    private let actionsOnDueTimes = Mutex<[@Sendable () -> Void]>([])

    init(
        connections: SQLiteFile.Connections, limits: GroupCommitLimits, rehearse: Bool,
        commit: @escaping @Sendable (GRDB.Database) throws -> Void,
        onFailure: @escaping @Sendable (StoreError) -> Void,
        onStop: @escaping @Sendable () -> Void
    ) {
        self.connections = connections
        self.limits = limits
        self.rehearse = rehearse
        self.commit = commit
        self.onFailure = onFailure
        self.onStop = onStop
        let thread = Thread { [self] in drain() }
        thread.name = "paydesk-writer"
        thread.start()
    }

    private var pool: DatabasePool { connections.pool }

    var commits: Int64 { commitCount.load(ordering: .relaxed) }

    /// Calls an action on the writer's thread after each commit that changes when something is due.
    func afterChangesOfDueTimes(_ action: @escaping @Sendable () -> Void) {
        actionsOnDueTimes.withLock { $0.append(action) }
    }

    /// The number of writes that wait and are in no batch yet.
    var waiting: Int { state.withLock { $0.queue.count } }

    /// The error that refuses calls; nil while the engine works.
    var refusal: StoreError? {
        state.withLock { $0.failure ?? ($0.isStopping ? .unavailable("the database is closed") : nil) }
    }

    /// Gives a write to the writer, or fails it at once when there is no room.
    func submit(_ write: QueuedWrite) {
        let (refusal, wakes) = state.withLock { state -> (StoreError?, Bool) in
            if let failure = state.failure { return (failure, false) }
            if state.isStopping { return (.unavailable("the database is closed"), false) }
            if state.queue.count >= limits.waiting { return (.unavailable("too many writes are waiting"), false) }
            state.queue.append(write)
            return (nil, state.wakes())
        }
        // Outside of the lock, because the writer would wait for that first.
        if wakes { wake.signal() }
        if let refusal { write.fail(refusal) }
    }

    /// Commits the accepted writes, closes the connections and returns when that is done.
    func stop() async {
        await withCheckedContinuation { continuation in
            let (isStopped, wakes) = state.withLock { state in
                state.isStopping = true
                if !state.isStopped { state.stopWaiters.append(continuation) }
                return (state.isStopped, state.wakes())
            }
            if wakes { wake.signal() }
            if isStopped { continuation.resume() }
        }
    }

    // MARK: The thread

    private func drain() {
        var batchesLeft = 0
        while waitForWork() {
            let ranAgain = commitBatch(usesSavepoints: batchesLeft > 0)
            batchesLeft = ranAgain ? Self.batchesWithSavepoints : max(0, batchesLeft - 1)
        }
        closeConnections()
        onStop()
        let waiters = state.withLock { state in
            state.isStopped = true
            defer { state.stopWaiters = [] }
            return state.stopWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Sleeps until a write waits; returns false when none is left and the writer stops.
    private func waitForWork() -> Bool {
        while true {
            let next = state.withLock { state -> Bool? in
                if !state.queue.isEmpty { return true }
                if state.isStopping { return false }
                state.isAsleep = true
                return nil
            }
            if let next { return next }
            wake.wait()
        }
    }

    /// Commits one batch; returns true where its writes ran again, because one failed after it had changed a row.
    private func commitBatch(usesSavepoints: Bool) -> Bool {
        var taken: [QueuedWrite] = []
        let deadline = ContinuousClock.now + limits.time
        let (outcome, ranAgain) = pool.writeWithoutTransaction { connection in
            GroupCommitBatch(
                connection: connection, changes: changes, rehearse: rehearse,
                usesSavepoints: usesSavepoints || rehearse, commit: commit
            ).run {
                guard taken.count < limits.count, taken.isEmpty || ContinuousClock.now < deadline else { return nil }
                guard let write = state.withLock({ $0.queue.popFirst() }) else { return nil }
                taken.append(write)
                return write
            }
        }
        switch outcome {
        case .committed(let answers, let changesDueTimes):
            commitCount.add(1, ordering: .relaxed)
            for answer in answers { answer() }
            if changesDueTimes { for action in actionsOnDueTimes.withLock({ $0 }) { action() } }
        case .refused(let error):
            // BEGIN itself may have been refused: then the writes still wait, and one batch of them is answered.
            if taken.isEmpty { taken = state.withLock { $0.takeFirst(limits.count) } }
            for write in taken { write.fail(error) }
        case .failed(let error):
            fail(error, batch: taken)
        }
        return ranAgain
    }

    /// Stops the engine: reports the failure to the process, fails this batch with the error, and refuses all waiting
    /// and later calls.
    private func fail(_ error: StoreError, batch: [QueuedWrite]) {
        let later = StoreError.failed("the database stopped after: \(error)")
        let waiting = state.withLock { state in
            state.failure = later
            return state.takeFirst(state.queue.count)
        }
        onFailure(error)
        for write in batch { write.fail(error) }
        for write in waiting { write.fail(later) }
    }

    private func closeConnections() {
        connections.reports.close()
        connections.readers.close()
        // The pool's own reader closes after the writer and cannot checkpoint, so the writer checkpoints while it is
        // open.
        if refusal.map({ if case .failed = $0 { false } else { true } }) ?? true {
            try? pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        }
        try? pool.close()
    }
}
