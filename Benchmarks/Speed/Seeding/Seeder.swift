import Foundation
import GRDB
import NIOCore
import Store
import TestSupport

/// Fills the database of an installation with the rows that attaches leave there.
enum Seeder {
    /// Users whose rows are written by one transaction.
    private static let chunk = 20_000

    /// Attaches one purchase through the server, then multiplies the rows of that attach while the server is down.
    static func fill(_ installation: Installation, to grants: Int) async throws {
        let clones = try await clonesOfOneAttach(installation)
        let url = try DatabaseURL(installation.databaseURL)
        let chunks = stride(from: 1, to: grants, by: chunk).map { first in
            clones.statements(from: first, through: min(first + chunk - 1, grants - 1))
        }
        try await write(chunks + [[CloneStatements.afterwards]], to: url)
    }

    /// Attaches one purchase through the server, stops it, and finds the rows of that attach.
    static func clonesOfOneAttach(_ installation: Installation) async throws -> CloneStatements {
        let (customer, sale) = (Customer.new(), Customer.purchase())
        try await installation.whileServing { server in
            let request = customer.attach(sale, port: server.port)
            _ = try await server.measure(LoadPlan(clients: 1, length: .once, requests: [request]))
        }
        return try await clones(
            try DatabaseURL(installation.databaseURL), user: customer.name, transaction: sale.id)
    }

    /// Runs statements, those of each chunk in one transaction, while the server is down.
    static func write(_ chunks: [[String]], to url: DatabaseURL) async throws {
        switch url {
        case .sqlite(let path): try fill(path, chunks)
        case .postgres(let address): try await fill(address, chunks)
        }
    }

    private static func clones(_ url: DatabaseURL, user: String, transaction: String) async throws -> CloneStatements {
        try await read(url) { db in
            CloneStatements(
                footprint: try Footprint(of: [user, transaction], in: db), dialect: db.dialect, user: user,
                transaction: transaction)
        }
    }

    /// Writes to the file itself, without a journal: no other process has it open, and a broken run discards it.
    private static func fill(_ path: String, _ chunks: [[String]]) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { connection in
            for pragma in ["journal_mode = OFF", "synchronous = OFF", "cache_size = -400000"] {
                try connection.execute(sql: "PRAGMA \(pragma)")
            }
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        for statements in chunks {
            try queue.write { connection in
                for statement in statements { try connection.execute(sql: statement) }
            }
        }
        try queue.close()
        // Flushes the written pages now, so that the measured commits do not wait for them.
        let file = open(path, O_RDONLY)
        defer { close(file) }
        guard file >= 0, fsync(file) == 0 else { throw BenchFailure(description: "cannot write \(path)") }
    }

    private static func fill(_ address: PostgresAddress, _ chunks: [[String]]) async throws {
        var settings = PostgresSettings()
        settings.connections = 1
        settings.statementTimeout = .seconds(300)
        let store = Store(engine: PostgresEngine(address, settings: settings))
        let result: Result<Void, any Error>
        do {
            // The autovacuum of the throwaway server, which would gather the statistics, is off. Without them the
            // triggers' statements read whole tables, because these were empty when their plans were made.
            var nextAnalysis = 2
            for (number, statements) in chunks.enumerated() {
                try await store.write { transaction in
                    for statement in statements { try transaction.execute(statement) }
                }
                if number == nextAnalysis {
                    try await store.write { try $0.execute("ANALYZE") }
                    nextAnalysis *= 4
                }
            }
            try await store.write { try $0.execute("ANALYZE") }
            result = .success(())
        } catch { result = .failure(error) }
        await store.engine.close()
        try result.get()
    }
}
