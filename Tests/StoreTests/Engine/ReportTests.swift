import Foundation
import TestSupport
import Testing

@testable import Store

/// Tests of long reads beside short ones that must not wait for them.
@Suite struct ReportTests {
    /// Runs a test with an engine with these limits, on a database of its own.
    private func withEngine(
        _ engine: TestEngine, _ limits: ReportLimits, _ body: (any StoreEngine) async throws -> Void
    ) async throws {
        try await withDatabase(on: engine, migrations: EngineFixture.migrations) { database in
            let own: any StoreEngine
            switch database.url {
            case .sqlite(let path):
                await database.store.engine.close()
                own = try SQLiteEngine(path: path, reports: limits, now: { 0 }, onFailure: { _ in })
            case .postgres(let address):
                var settings = PostgresFixture.settings
                settings.connections = 1
                settings.reports = limits
                own = PostgresEngine(address, settings: settings)
            }
            let result: Result<Void, any Error>
            do { result = .success(try await body(own)) } catch { result = .failure(error) }
            await own.close()
            try result.get()
        }
    }

    private static func limits(threads: Int = 1, waiting: Int = 64, time: Duration = .seconds(60)) -> ReportLimits {
        var limits = ReportLimits()
        (limits.threads, limits.waiting, limits.time) = (threads, waiting, time)
        return limits
    }

    private static let endless = """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000)
        SELECT COUNT(*) AS number FROM n
        """

    @Test(arguments: TestEngine.allCases)
    func `reports that hang keep back neither reads nor writes, and end with the engine`(
        _ engine: TestEngine
    ) async throws {
        try await withEngine(engine, Self.limits(threads: 2)) { store in
            let gates = [Gate(), Gate()]
            let hanging = gates.map { gate in Task { try await store.report { _ in gate.pass() } } }
            for gate in gates { await gate.reached() }
            try await store.write { tx in try tx.addNote(1) }
            try await expectNotes([1], in: store)
            for gate in gates { gate.open() }
            for task in hanging { try await task.value }
            let count = try await store.report { db in try db.rows("SELECT id FROM notes").count }
            #expect(count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `beyond the bound a report is refused at once`(_ engine: TestEngine) async throws {
        try await withEngine(engine, Self.limits(waiting: 1)) { store in
            let (first, second) = (Gate(), Gate())
            let running = Task { try await store.report { _ in first.pass() } }
            await first.reached()
            // The first of the two waits, and the other one is refused.
            let both = (0..<2).map { _ in Task { await failure { try await store.report { _ in second.pass() } } } }
            let refused = await withTaskGroup(of: StoreErrorKind?.self) { group in
                for task in both { group.addTask { await task.value } }
                let refused = await group.next()
                first.open()
                second.open()
                return refused
            }
            #expect(refused == .unavailable)
            try await running.value
            let results = [await both[0].value, await both[1].value]
            #expect(results.filter { $0 == nil }.count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a report that takes too long is ended, and the next one runs`(_ engine: TestEngine) async throws {
        try await withEngine(engine, Self.limits(time: .seconds(1))) { store in
            let kind = await failure { try await store.report { db in try db.rows(Self.endless).count } }
            #expect(kind == .unavailable)
            let count = try await store.report { db in try db.rows("SELECT id FROM notes").count }
            #expect(count == 0)
        }
    }

    @Test func `closing ends a report that would run for long`() async throws {
        try await withEngine(.sqlite, Self.limits()) { store in
            let gate = Gate()
            let running = Task {
                await failure {
                    try await store.report { db in
                        gate.pass()
                        return try db.rows(Self.endless).count
                    }
                }
            }
            await gate.reached()
            gate.open()
            await store.close()
            #expect(await running.value == .unavailable)
            let kind = await failure { try await store.report { _ in } }
            #expect(kind == .unavailable)
        }
    }
}
