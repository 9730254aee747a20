import TestSupport
import Testing

@testable import Store

/// Engines with few connections on a new PostgreSQL database.
enum PostgresFixture {
    /// A single connection, with time limits for a busy test machine.
    static var settings: PostgresSettings {
        var settings = PostgresSettings()
        settings.connections = 1
        settings.patience = .seconds(30)
        settings.silence = .seconds(30)
        settings.longestPause = .milliseconds(10)
        return settings
    }

    static func withEngine<T>(
        _ settings: PostgresSettings = settings, through proxy: PostgresProxy? = nil,
        _ body: (PostgresEngine, TestDatabase) async throws -> T
    ) async throws -> T {
        try await withDatabase(on: .postgres, migrations: EngineFixture.migrations) { database in
            guard case .postgres(let address) = database.url else { throw StoreError.corrupt("not PostgreSQL") }
            let cluster = try PostgresCluster.running()
            let name = try #require(address.parameters["dbname"])
            let engine = PostgresEngine(
                try cluster.address(database: name, port: proxy?.port), settings: settings)
            let result: Result<T, any Error>
            do { result = .success(try await body(engine, database)) } catch { result = .failure(error) }
            await engine.close()
            return try result.get()
        }
    }

    /// Runs a test like ``withEngine(_:through:_:)``, with a proxy that can cut the connection.
    static func withProxy<T>(
        _ settings: PostgresSettings = settings,
        _ body: (PostgresEngine, PostgresProxy, TestDatabase) async throws -> T
    ) async throws -> T {
        let proxy = try PostgresProxy(to: PostgresCluster.running().port)
        defer { proxy.stop() }
        return try await withEngine(settings, through: proxy) { engine, database in
            try await body(engine, proxy, database)
        }
    }

    static func terminate(_ backend: Int64) throws {
        try PostgresCluster.running().administer("SELECT pg_terminate_backend(\(backend), 10000)")
    }
}

extension Database {
    /// Returns the process id of this connection at the server.
    func backend() throws(StoreError) -> Int64 {
        try row("SELECT pg_backend_pid() AS pid")?.int("pid") ?? 0
    }
}
