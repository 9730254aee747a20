import Dispatch
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Store

/// The small schema of the engine tests.
enum EngineFixture {
    static let migrations = [
        Migration(
            number: 1, name: "engine",
            sql: """
                CREATE TABLE notes (
                    id {int} NOT NULL PRIMARY KEY,
                    body {text} NOT NULL UNIQUE,
                    data {blob}
                ) {strict};
                -- Rows that writers compete for.
                CREATE TABLE counters (name {text} NOT NULL PRIMARY KEY, value {int} NOT NULL) {strict};
                INSERT INTO counters (name, value) VALUES ('first', 0), ('second', 0);
                """)
    ]

    /// Runs a test with a path in a new temporary folder, which is removed afterwards.
    static func withFolder<T>(_ body: (String) async throws -> T) async throws -> T {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "paydesk_engine_\(number.add(1, ordering: .relaxed).newValue)_\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await body(folder.path)
    }

    private static let number = Atomic<Int>(0)

    /// Runs a test with a SQLite engine whose batches end only when the queue is empty, so that the test determines a
    /// batch.
    static func withSQLite<T>(
        limits: GroupCommitLimits = unhurried,
        commit: @escaping @Sendable (GRDB.Database) throws -> Void = { try $0.execute(sql: "COMMIT") },
        onFailure: @escaping @Sendable (StoreError) -> Void = { _ in },
        _ body: (SQLiteEngine) async throws -> T
    ) async throws -> T {
        try await withFolder { folder in
            let path = folder + "/engine.db"
            let first = Store(engine: try SQLiteEngine(path: path, now: { 0 }, onFailure: { _ in }))
            try await Migrator.apply(migrations, to: first, at: 0)
            await first.engine.close()
            let engine = try SQLiteEngine(
                path: path, readers: 2, limits: limits, rehearse: false, commit: commit, now: { 0 },
                onFailure: onFailure)
            let result: Result<T, any Error>
            do { result = .success(try await body(engine)) } catch { result = .failure(error) }
            await engine.close()
            return try result.get()
        }
    }

    static var unhurried: GroupCommitLimits {
        var limits = GroupCommitLimits()
        limits.time = .seconds(3_600)
        return limits
    }

    /// Runs writes in one batch: a first write blocks the writer until all of them wait.
    static func inOneBatch(
        _ engine: SQLiteEngine, _ bodies: [@Sendable (any Transaction) throws -> Void],
        after first: @escaping @Sendable (any Transaction) throws -> Void = { _ in }
    ) async -> [Result<Void, any Error>] {
        let gate = Gate()
        let holder = Task {
            try await engine.write { tx in
                gate.pass()
                try first(tx)
            }
        }
        await gate.reached()
        var tasks: [Task<Void, any Error>] = []
        for body in bodies {
            tasks.append(Task { try await engine.write(body) })
            while engine.waiting < tasks.count { await Task.yield() }
        }
        gate.open()
        _ = await holder.result
        var results: [Result<Void, any Error>] = []
        for task in tasks { results.append(await task.result) }
        return results
    }
}

/// A point where a closure stops until the test opens it.
final class Gate: Sendable {
    private let isReached = Atomic<Bool>(false)
    private let semaphore = DispatchSemaphore(value: 0)

    /// Called in the closure, which may run more than once: signals the test and waits for it.
    func pass() {
        isReached.store(true, ordering: .releasing)
        semaphore.wait()
        semaphore.signal()
    }

    /// Called in the test: returns when a closure is at the gate.
    func reached() async {
        while !isReached.load(ordering: .acquiring) { await Task.yield() }
    }

    /// Called in the test: lets every closure pass.
    func open() { semaphore.signal() }
}

/// Runs each job on a thread of its own, for reads that wait at a ``Gate``: SQLite is read on the caller's thread, and
/// Swift's own pool has few.
final class OwnThreads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread { job.runSynchronously(on: executor) }.start()
    }
}

/// Counts the runs of closures, which may be repeated.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    /// Returns the number of calls with this one.
    @discardableResult
    func next() -> Int { count.add(1, ordering: .sequentiallyConsistent).newValue }

    var value: Int { count.load(ordering: .sequentiallyConsistent) }
}

extension Transaction {
    func addNote(_ id: Int64, _ body: String? = nil) throws(StoreError) {
        try execute("INSERT INTO notes (id, body) VALUES (?, ?)", id, body ?? "note \(id)")
    }
}

extension StoreEngine {
    func noteIDs() async throws -> [Int64] {
        try await read { database in try database.rows("SELECT id FROM notes ORDER BY id").map { try $0.int("id") } }
    }
}

/// Expects that exactly these notes are stored.
func expectNotes(
    _ ids: [Int64], in engine: any StoreEngine, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let stored = try await engine.noteIDs()
    #expect(stored == ids, sourceLocation: sourceLocation)
}

/// The case of a store's error, without its text.
enum StoreErrorKind: Equatable {
    case unavailable, outcomeUnknown, failed, corrupt, statement, owned

    init?(_ error: (any Error)?) {
        switch error as? StoreError {
        case .unavailable: self = .unavailable
        case .outcomeUnknown: self = .outcomeUnknown
        case .failed: self = .failed
        case .corrupt: self = .corrupt
        case .statement: self = .statement
        case .owned: self = .owned
        case nil: return nil
        }
    }
}

/// Returns the kind of a call's error; nil where it succeeded.
func failure<T>(_ call: () async throws -> T) async -> StoreErrorKind? {
    do {
        _ = try await call()
        return nil
    } catch {
        return StoreErrorKind(error)
    }
}

extension Result {
    /// The kind of the error; nil where the call succeeded.
    var kind: StoreErrorKind? {
        switch self {
        case .success: nil
        case .failure(let error): StoreErrorKind(error)
        }
    }
}
