import Domain
package import ServiceLifecycle

/// The database: SQLite or PostgreSQL through the same calls.
///
/// The closures are synchronous, so no provider can be called inside a transaction.
package struct Store: Sendable {
    package let engine: any StoreEngine
    /// The latencies of this store's calls, from the call to its answer.
    package let latencies = StoreLatencies()

    package init(engine: any StoreEngine) {
        self.engine = engine
    }

    /// Runs the closure in a transaction and returns after its commit is durable.
    ///
    /// - Throws: the closure's error (then nothing is written), or ``StoreError``.
    @discardableResult
    package func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        let start = ContinuousClock.now
        defer { latencies.write.observe(since: start) }
        return try await engine.write(body)
    }

    /// Runs the closure on one consistent snapshot: for reads that are bounded by one user or key, or that an index
    /// answers at once.
    package func read<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T {
        let start = ContinuousClock.now
        defer { latencies.read.observe(since: start) }
        return try await engine.read(body)
    }

    /// Runs the closure on one consistent snapshot: for lists, searches, sums, exports and other reads that may take
    /// long.
    ///
    /// Reports have few threads and connections of their own (``ReportLimits``), so that no ``read(_:)`` waits behind
    /// them.
    ///
    /// - Throws: the closure's error, or ``StoreError``; ``StoreError/unavailable(_:)`` where too many calls wait, or
    ///   where this one exceeds the time limit.
    package func report<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T {
        let start = ContinuousClock.now
        defer { latencies.report.observe(since: start) }
        return try await engine.report(body)
    }
}

/// The limits of ``Store/report(_:)``.
package struct ReportLimits: Sendable {
    /// The number of threads, each with a connection of its own.
    package var threads = 2
    /// The most calls that wait for a thread; a further caller gets ``StoreError/unavailable(_:)``.
    package var waiting = 64
    /// The longest time that a call waits for a thread, and the longest that it may take: the whole call on SQLite,
    /// each of its statements on PostgreSQL.
    package var time = Duration.seconds(5)

    package init() {}

    /// The limits of a command, which reads whole tables and behind which no other call waits.
    package static var ofCommand: ReportLimits {
        var limits = ReportLimits()
        limits.threads = 1
        limits.time = .seconds(600)
        return limits
    }
}

/// An engine; as a ``Service`` it owns the connections and, on graceful shutdown, closes them after the last accepted
/// write.
package protocol StoreEngine: Sendable, Service {
    var dialect: Dialect { get }
    @discardableResult
    func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T
    func read<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T
    func report<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T
    /// The seconds since 1970 by the database's clock, which on SQLite is the node's own.
    func databaseTime() async throws -> Int64
    /// The number of processes that serve this database, this one included.
    func liveNodes() async throws -> Int64
    /// True when calls wait so long that further requests should be refused.
    var isCongested: Bool { get }
    /// The users that this process has changed; nil where other processes write as well.
    var userChanges: UserChanges? { get }
    /// The number of commits since the start; group commit keeps it below the number of writes.
    var commits: Int64 { get }
    /// Calls an action after each commit that changes when something is due, where no other process writes.
    ///
    /// - Parameter action: is called on the thread of the writer and must not block.
    /// - Returns: false where other processes write, so that the commits of this one do not tell everything.
    func afterChangesOfDueTimes(_ action: @escaping @Sendable () -> Void) -> Bool
    /// The number of connections that work on a call now: on SQLite those of reads, beside the one writer.
    var connectionsInUse: Int { get }
    /// Passes on what processes send each other through the database (``Transaction/send(_:to:)``), until the task is
    /// cancelled; returns at once where no other process writes.
    ///
    /// - Parameters:
    ///   - channel: a name of lower-case letters and underscores.
    ///   - take: is called on a thread of the engine and must not block.
    func listen(to channel: String, _ take: @escaping @Sendable (DatabaseMessage) -> Void) async
    /// Closes every connection; later calls fail with ``StoreError/unavailable(_:)``. For commands and tests; `serve` runs the service.
    func close() async
}

extension StoreEngine {
    package var connectionsInUse: Int { 0 }

    package func afterChangesOfDueTimes(_ action: @escaping @Sendable () -> Void) -> Bool { false }

    /// Returns at once: no other process writes.
    package func listen(to channel: String, _ take: @escaping @Sendable (DatabaseMessage) -> Void) async {}
}

/// A message of ``StoreEngine/listen(to:_:)``.
package enum DatabaseMessage: Sendable, Equatable {
    /// Messages arrive from now on; earlier ones may be lost.
    case connected
    case text(String)
    /// No messages arrive until the next `connected`.
    case disconnected
}

/// An error of the database or its engine; the text is for the log and never holds a bound value.
package enum StoreError: Error, Sendable, Equatable {
    /// The call wrote no row and may be tried again: no connection, a full disk, a lock or statement timeout.
    case unavailable(String)
    /// The commit was sent and its outcome is not known; look for its rows, or let the caller retry.
    case outcomeUnknown(String)
    /// The storage can no longer be trusted; the process stops.
    case failed(String)
    /// A stored value breaks the schema's promise.
    case corrupt(String)
    /// A statement that violates a constraint or is not valid SQL: a programming error.
    case statement(String)
    /// The embedded database is owned by another process.
    case owned(String)
}
