import Foundation
package import Store

/// A fresh, migrated database of one test, on either engine.
package struct TestDatabase: Sendable {
    package let store: Store
    package let engine: TestEngine
    package let url: DatabaseURL
    private let name: String
    private let cleanUp: @Sendable () async throws -> Void

    /// The initial time of every test's database: 2026-01-01T00:00:00Z.
    package static let time: Int64 = 1_767_225_600

    /// Makes PostgreSQL's clock stand still, by a function in a schema that its sessions search before `pg_catalog`.
    ///
    /// With the real clock the speed of the machine would decide which jobs are due between two steps of a test.
    static let stopClock: @Sendable (any Transaction) throws -> Void = { tx in
        try tx.execute("CREATE SCHEMA \(PostgresCluster.schema)")
        try tx.execute("CREATE TABLE \(PostgresCluster.schema).clock (now BIGINT NOT NULL)")
        try tx.execute("INSERT INTO \(PostgresCluster.schema).clock VALUES (?)", time)
        try tx.execute(
            """
            CREATE FUNCTION \(PostgresCluster.schema).clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
            AS 'SELECT to_timestamp(now) FROM \(PostgresCluster.schema).clock'
            """)
    }

    /// Moves PostgreSQL's clock forward; SQLite uses the time of its node.
    package func advanceClock(seconds: Int64) async throws {
        guard engine == .postgres else { return }
        try await store.write { tx in
            try tx.execute("UPDATE \(PostgresCluster.schema).clock SET now = now + ?", seconds)
        }
    }

    /// Copies the migrated template of this list of migrations, and opens a store with few connections on the copy.
    ///
    /// - Parameter rehearse: runs every write closure twice, and rolls back the first run.
    package static func make(
        _ engine: TestEngine, rehearse: Bool = false, migrations: [Migration] = Migrations.all
    ) async throws -> TestDatabase {
        await places.enter()
        do {
            return try await open(engine, rehearse: rehearse, migrations: migrations)
        } catch {
            await places.leave()
            throw error
        }
    }

    private static func open(
        _ engine: TestEngine, rehearse: Bool, migrations: [Migration]
    ) async throws -> TestDatabase {
        let template = try await TestTemplates.shared.template(engine, migrations)
        let name = "paydesk_test_\(TestTemplates.nextNumber())"
        switch engine {
        case .sqlite:
            let folder = FileManager.default.temporaryDirectory.appending(path: "\(name)_\(getpid())")
            let file = folder.appending(path: "test.db")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: URL(fileURLWithPath: template), to: file)
            let url = try DatabaseURL("sqlite:\(file.path)")
            return TestDatabase(store: try open(url, rehearse: rehearse), engine: engine, url: url, name: name) {
                try FileManager.default.removeItem(at: folder)
            }
        case .postgres:
            let cluster = try PostgresCluster.running()
            try await TestTemplates.administer("CREATE DATABASE \(name) TEMPLATE \(template)")
            let url = try cluster.url(database: name)
            return TestDatabase(store: try open(url, rehearse: rehearse), engine: engine, url: url, name: name) {
                try await TestTemplates.administer("DROP DATABASE \(name) WITH (FORCE)")
            }
        }
    }

    /// Opens a second store on the same database, like another node (PostgreSQL only: a SQLite file has one owner).
    ///
    /// - Parameter retries: the number of times that a lost race is run again; 0 shows each lost race.
    package func openAnother(retries: Int = PostgresSettings().retries, node: String? = nil) throws -> Store {
        try Self.open(url, rehearse: false, retries: retries, node: node)
    }

    /// Opens a second store that reaches PostgreSQL through a proxy.
    package func openAnother(through proxy: PostgresProxy) throws -> Store {
        try Self.open(PostgresCluster.running().url(database: name, port: proxy.port), rehearse: false)
    }

    /// Closes the store and removes the database.
    package func remove() async throws {
        await store.engine.close()
        let result: Result<Void, any Error>
        do { result = .success(try await cleanUp()) } catch { result = .failure(error) }
        await places.leave()
        try result.get()
    }

    static func open(
        _ url: DatabaseURL, rehearse: Bool, retries: Int = PostgresSettings().retries, node: String? = nil
    ) throws -> Store {
        switch url {
        case .sqlite:
            return try Store.open(url, rehearse: rehearse, now: { time }, jitter: { 0.5 }, onFailure: { _ in })
        case .postgres(let address):
            var settings = PostgresSettings()
            settings.connections = 3
            // A test machine may be far busier than a server that answers within a second.
            settings.patience = .seconds(30)
            settings.silence = .seconds(30)
            settings.node = node
            settings.rehearse = rehearse
            settings.retries = retries
            // Without retries, a busy machine must not end a wait that is the subject of a test.
            if retries == 0 { (settings.lockTimeout, settings.statementTimeout) = (.seconds(60), .seconds(60)) }
            return Store(engine: PostgresEngine(address, settings: settings))
        }
    }
}

/// Limits the number of databases that tests hold at once: all tests run in one process, and each database costs
/// connections and threads.
private let places = Turnstile(40)

/// Runs a test on a fresh database and removes it, even where the test throws.
@discardableResult
package func withDatabase<T>(
    on engine: TestEngine, rehearse: Bool = false, migrations: [Migration] = Migrations.all,
    _ body: (TestDatabase) async throws -> T
) async throws -> T {
    let database = try await TestDatabase.make(engine, rehearse: rehearse, migrations: migrations)
    let result: Result<T, any Error>
    do { result = .success(try await body(database)) } catch { result = .failure(error) }
    try await database.remove()
    return try result.get()
}

/// Like ``withDatabase(on:rehearse:migrations:_:)``, for tests that need the store alone.
@discardableResult
package func withStore<T>(
    on engine: TestEngine, rehearse: Bool = false, migrations: [Migration] = Migrations.all,
    _ body: (Store) async throws -> T
) async throws -> T {
    try await withDatabase(on: engine, rehearse: rehearse, migrations: migrations) { try await body($0.store) }
}
