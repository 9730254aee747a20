import Foundation
import ServiceLifecycle
import TestSupport
import Testing

@testable import Store

@Suite struct EngineTests {
    private struct Refused: Error, Equatable { let id: Int }

    @Test(arguments: TestEngine.allCases)
    func `what a caller was told is written is seen by a later read`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let id = try await store.write { tx in
                try tx.addNote(7)
                return try tx.row("SELECT id FROM notes WHERE body = ?", "note 7")?.int("id")
            }
            #expect(id == 7)
            try await expectNotes([7], in: store.engine)
            #expect(store.engine.commits >= 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a closure that throws writes nothing and its error comes back unchanged`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            await #expect(throws: Refused(id: 3)) {
                try await store.write { tx in
                    try tx.addNote(1)
                    throw Refused(id: 3)
                }
            }
            try await expectNotes([], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a constraint violation is a statement error that names no value`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            try await store.write { tx in try tx.addNote(1, "secret-value") }
            let error = await #expect(throws: StoreError.self) {
                try await store.write { tx in try tx.addNote(2, "secret-value") }
            }
            #expect(StoreErrorKind(error) == .statement)
            #expect(error?.text.contains("secret-value") == false)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a swallowed constraint violation is not committed`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            try await store.write { tx in try tx.addNote(1) }
            let kind = await failure {
                try await store.write { tx in
                    try tx.addNote(2)
                    try? tx.addNote(1)
                }
            }
            #expect(kind == .statement)
            try await expectNotes([1], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `after a failed statement every further one fails`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let later = Counter()
            let kind = await failure {
                try await store.write { tx in
                    _ = try? tx.execute("INSERT INTO nowhere VALUES (1)")
                    do { try tx.addNote(1) } catch { later.next() }
                    do { _ = try tx.rows("SELECT 1") } catch { later.next() }
                }
            }
            #expect(kind == .statement)
            #expect(later.value == 2)
            try await expectNotes([], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a read cannot write`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let kind = await failure {
                try await store.read { db in
                    try db.rows("INSERT INTO notes (id, body) VALUES (1, 'x') RETURNING id")
                }
            }
            #expect(kind == .statement)
            try await expectNotes([], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a read sees one snapshot while others write`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let gate = Gate()
            let reader = Task(executorPreference: OwnThreads()) {
                try await store.read { db in
                    let before = try db.rows("SELECT id FROM notes").count
                    gate.pass()
                    return (before, try db.rows("SELECT id FROM notes").count)
                }
            }
            await gate.reached()
            try await store.write { tx in try tx.addNote(1) }
            gate.open()
            let (before, after) = try await reader.value
            #expect(before == 0)
            #expect(after == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the cancellation of one read leaves the others alone`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let gate = Gate()
            let cancelled = Task(executorPreference: OwnThreads()) { try await store.read { _ in gate.pass() } }
            await gate.reached()
            let other = Task { try await store.engine.noteIDs() }
            cancelled.cancel()
            gate.open()
            _ = await cancelled.result
            let ids = try await other.value
            #expect(ids == [])
            try await expectNotes([], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `rehearsing runs a closure twice and its effects are there once`(engine: TestEngine) async throws {
        try await withStore(on: engine, rehearse: true, migrations: EngineFixture.migrations) { store in
            let runs = Counter()
            try await store.write { tx in
                runs.next()
                try tx.addNote(1)
                try tx.execute("UPDATE counters SET value = value + 1 WHERE name = ?", "first")
            }
            #expect(runs.value == 2)
            let value = try await store.read { db in
                try db.row("SELECT value FROM counters WHERE name = ?", "first")?.int("value")
            }
            #expect(value == 1)
            try await expectNotes([1], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a rehearsed closure that throws is told its second error`(engine: TestEngine) async throws {
        try await withStore(on: engine, rehearse: true, migrations: EngineFixture.migrations) { store in
            let runs = Counter()
            await #expect(throws: Refused(id: 2)) {
                try await store.write { tx in
                    try tx.addNote(1)
                    throw Refused(id: runs.next())
                }
            }
            try await expectNotes([], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `of many guarded updates one wins`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let touched = try await withThrowingTaskGroup(of: Int.self) { group in
                for client in 1...8 {
                    group.addTask {
                        try await store.write { tx in
                            try tx.execute(
                                "UPDATE counters SET value = ? WHERE name = 'first' AND value = 0", client)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(touched.sorted() == [0, 0, 0, 0, 0, 0, 0, 1])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a closed engine refuses every call`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            await store.engine.close()
            #expect(await failure { try await store.write { tx in try tx.addNote(1) } } == .unavailable)
            #expect(await failure { try await store.engine.noteIDs() } == .unavailable)
            await store.engine.close()
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the service closes its engine when it ends`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let service = Task { try await store.engine.run() }
            service.cancel()
            try await service.value
            #expect(await failure { try await store.write { tx in try tx.addNote(1) } } == .unavailable)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the database has a time`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let time = try await store.engine.databaseTime()
            #expect(time == TestDatabase.time)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an engine that is opened for reading refuses to write`(engine: TestEngine) async throws {
        try await withDatabase(on: engine, migrations: EngineFixture.migrations) { database in
            try await database.store.write { tx in try tx.addNote(1) }
            let reader = try Store.openReadOnly(database.url, now: { 5 })
            try await expectNotes([1], in: reader.engine)
            #expect(await failure { try await reader.write { tx in try tx.addNote(2) } } == .statement)
            await reader.engine.close()
            #expect(await failure { try await reader.engine.noteIDs() } == .unavailable)
        }
    }
}
