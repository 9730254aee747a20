import Foundation
import GRDB
import ServiceLifecycle
import Synchronization

/// The embedded engine: one SQLite file, owned by one process, written by one thread.
///
/// `onFailure` is called once when the storage can no longer be trusted; the process has to stop then, because a
/// failed commit or fsync must never be tried again as if nothing had happened.
package final class SQLiteEngine: StoreEngine {
    private let pool: DatabasePool
    private let readers: SQLiteReaders
    private let reports: SQLiteReports
    private let now: @Sendable () -> Int64
    /// nil when the database is open for reading only.
    private let writer: GroupCommitWriter?
    private let isClosed = Atomic<Bool>(false)
    private let readsUnderWay = Atomic<Int>(0)
    /// The most reads that run or wait for a reader.
    private static let readLimit = 4_096

    /// Opens the database for this process alone.
    ///
    /// - Throws: ``StoreError/owned(_:)`` when another process has it.
    package convenience init(
        path: String, readers: Int = 4, limits: GroupCommitLimits = GroupCommitLimits(),
        reports: ReportLimits = ReportLimits(), rehearse: Bool = false,
        now: @escaping @Sendable () -> Int64, onFailure: @escaping @Sendable (StoreError) -> Void
    ) throws(StoreError) {
        try self.init(
            path: path, readers: readers, limits: limits, reports: reports, rehearse: rehearse,
            commit: { try $0.step("COMMIT") }, now: now, onFailure: onFailure)
    }

    /// Opens a database that another process may own at the same time: no lock, and ``write(_:)`` throws.
    package init(readOnly path: String, now: @escaping @Sendable () -> Int64) throws(StoreError) {
        let connections = try SQLiteFile.connect(path, readers: 1, reports: .ofCommand, readOnly: true)
        (pool, readers, reports) = (connections.pool, connections.readers, connections.reports)
        self.now = now
        writer = nil
    }

    /// The initialiser for tests: `commit` sends COMMIT, or fails as a disk would.
    init(
        path: String, readers: Int, limits: GroupCommitLimits, reports: ReportLimits = ReportLimits(), rehearse: Bool,
        commit: @escaping @Sendable (GRDB.Database) throws -> Void,
        now: @escaping @Sendable () -> Int64, onFailure: @escaping @Sendable (StoreError) -> Void
    ) throws(StoreError) {
        let file = try SQLiteFile.prepare(path)
        let lock = try OwnerLock(database: file)
        let connections = try SQLiteFile.connect(file, readers: readers, reports: reports, readOnly: false)
        (pool, self.readers, self.reports) = (connections.pool, connections.readers, connections.reports)
        self.now = now
        writer = GroupCommitWriter(
            connections: connections, limits: limits, rehearse: rehearse, commit: commit,
            onFailure: onFailure, onStop: { lock.release() })
    }

    package var dialect: Dialect { .sqlite }
    package var userChanges: UserChanges? { writer?.changes }
    package var commits: Int64 { writer?.commits ?? 0 }
    package var connectionsInUse: Int { min(readsUnderWay.load(ordering: .relaxed), readers.count) }
    /// The number of writes that wait for the writer.
    package var waiting: Int { writer?.waiting ?? 0 }

    package func afterChangesOfDueTimes(_ action: @escaping @Sendable () -> Void) -> Bool {
        writer?.afterChangesOfDueTimes(action)
        return writer != nil
    }

    @discardableResult
    package func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        guard let writer else { throw StoreError.statement("the database is open for reading only") }
        return try await withCheckedThrowingContinuation { continuation in
            writer.submit(
                QueuedWrite(
                    run: { transaction in
                        let value = try body(transaction)
                        return { continuation.resume(returning: value) }
                    },
                    fail: { continuation.resume(throwing: $0) }))
        }
    }

    package func read<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T {
        if let refusal { throw refusal }
        defer { readsUnderWay.subtract(1, ordering: .relaxed) }
        guard readsUnderWay.add(1, ordering: .relaxed).newValue <= Self.readLimit else {
            throw StoreError.unavailable("too many reads are waiting")
        }
        do {
            // On the caller's own thread: such a read is bounded and mostly finds its pages in memory, which takes less
            // time than switching to another thread and back. Longer reads are reports.
            return try readers.read(body)
        } catch let error as DatabaseError {
            throw refusal ?? StoreError(sqlite: error)
        }
    }

    package func report<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T {
        if let refusal { throw refusal }
        return try await reports.read(body)
    }

    package func databaseTime() async throws -> Int64 { now() }

    /// Returns 1, because a SQLite file has one owner.
    package func liveNodes() async throws -> Int64 { 1 }

    /// Always false: the writer takes all waiting calls at once, so the bound of its queue is enough.
    package var isCongested: Bool { false }

    package func close() async {
        isClosed.store(true, ordering: .releasing)
        if let writer {
            await writer.stop()
        } else {
            reports.close()
            readers.close()
            try? pool.close()
        }
    }

    /// Copies the database page by page (SQLite's backup API); the copy has no write-ahead log.
    func copy(to path: String) throws {
        let target = try DatabaseQueue(path: path)
        try pool.backup(to: target)
        try target.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        try target.close()
    }

    /// The error that refuses calls; nil while the engine works.
    private var refusal: StoreError? {
        writer?.refusal ?? (isClosed.load(ordering: .acquiring) ? .unavailable("the database is closed") : nil)
    }

    /// Waits for graceful shutdown, then commits what was accepted and closes.
    package func run() async throws {
        try? await gracefulShutdown()
        await close()
    }
}

extension SQLiteEngine {
    /// Copies a consistent snapshot to a new file, which only its user may read, while reads and writes go on.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` when the file exists or cannot be written.
    package func backup(to path: String) async throws(StoreError) {
        try Self.create(path)
        do {
            try copy(to: path)
        } catch {
            unlink(path)
            throw .unavailable("the backup to \(path) failed")
        }
    }

    private static func create(_ path: String) throws(StoreError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unavailable("cannot make \(path): \(systemError())") }
        _ = Foundation.close(descriptor)
    }
}
