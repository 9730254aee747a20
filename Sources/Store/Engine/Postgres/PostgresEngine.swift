import ServiceLifecycle
import Synchronization

/// The shared engine: any number of Paydesk processes on one PostgreSQL database, through libpq.
package final class PostgresEngine: StoreEngine {
    private struct Reports {
        /// Made at the first report.
        var pool: PostgresPool?
        var isClosed = false
    }

    private let address: PostgresAddress
    private let health: PostgresHealth
    private let pool: PostgresPool
    private let reports = Mutex(Reports())
    private let settings: PostgresSettings
    private let isReadOnly: Bool
    private let commitCount = Atomic<Int64>(0)

    /// Starts the threads; they connect when there is work, so that an unreachable database is no error here.
    package init(_ address: PostgresAddress, settings: PostgresSettings = PostgresSettings(), readOnly: Bool = false) {
        self.settings = settings
        isReadOnly = readOnly
        self.address = address
        health = PostgresHealth(address, settings: settings)
        pool = PostgresPool(address: address, settings: settings, health: health)
    }

    package var dialect: Dialect { .postgres }
    package var userChanges: UserChanges? { nil }
    package var commits: Int64 { commitCount.load(ordering: .relaxed) }
    package var connectionsInUse: Int { pool.inUse }
    /// Calls that wait for a connection.
    package var waiting: Int { pool.waiting }

    @discardableResult
    package func write<T: Sendable>(_ body: @escaping @Sendable (any Transaction) throws -> T) async throws -> T {
        guard !isReadOnly else { throw StoreError.statement("the database is open for reading only") }
        let deadline = ContinuousClock.now + settings.patience
        let value = try await onConnection(of: pool, by: deadline) { session in try session.write(by: deadline, body) }
        commitCount.add(1, ordering: .relaxed)
        return value
    }

    package func read<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T {
        let deadline = ContinuousClock.now + settings.patience
        return try await onConnection(of: pool, by: deadline) { session in try session.read(by: deadline, body) }
    }

    package func report<T: Sendable>(_ body: @escaping @Sendable (any Database) throws -> T) async throws -> T {
        let settings = settings.ofReports
        let pool = reports.withLock { reports -> PostgresPool? in
            guard !reports.isClosed else { return nil }
            let pool = reports.pool ?? PostgresPool(address: address, settings: settings, health: health)
            reports.pool = pool
            return pool
        }
        guard let pool else { throw StoreError.unavailable("the database is closed") }
        let deadline = ContinuousClock.now + settings.patience
        return try await onConnection(of: pool, by: deadline) { session in try session.read(by: deadline, body) }
    }

    package func databaseTime() async throws -> Int64 {
        try await read { database in
            let row = try database.row("SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS now")
            guard let row else { throw StoreError.corrupt("PostgreSQL has no time") }
            return try row.int("now")
        }
    }

    package var isCongested: Bool { pool.isCongested }

    /// Counts the nodes that have a connection under their name; a node that loses its connections is no longer
    /// counted.
    package func liveNodes() async throws -> Int64 {
        try await read { database in
            let row = try database.row(
                """
                SELECT count(DISTINCT right(application_name, 16)) AS nodes FROM pg_stat_activity
                WHERE datname = current_database() AND application_name LIKE '% node=________________'
                """)
            return max(1, try row?.int("nodes") ?? 1)
        }
    }

    package func listen(to channel: String, _ take: @escaping @Sendable (DatabaseMessage) -> Void) async {
        let listener = PostgresListener(address, settings: settings, channel: channel, take: take)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in listener.start { continuation.resume() } }
        } onCancel: {
            listener.stop()
        }
    }

    package func close() async {
        let reports = reports.withLock { reports in
            reports.isClosed = true
            return reports.pool
        }
        await reports?.close()
        await pool.close()
    }

    /// Waits for graceful shutdown, then finishes what was accepted and closes.
    package func run() async throws {
        try? await gracefulShutdown()
        await close()
    }

    private func onConnection<T: Sendable>(
        of pool: PostgresPool, by deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (PostgresSession) throws -> T
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            pool.submit(
                PostgresJob(
                    deadline: deadline,
                    run: { session in continuation.resume(with: Result { try body(session) }) },
                    fail: { continuation.resume(throwing: $0) }))
        }
    }
}
