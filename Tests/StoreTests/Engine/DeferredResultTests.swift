import TestSupport
import Testing

@testable import Store

/// Tests of results that are requested now and awaited later.
@Suite struct DeferredResultTests {
    private static let insert = "INSERT INTO notes (id, body) VALUES (?, ?)"
    private static let ids = "SELECT id FROM notes ORDER BY id"

    @Test(arguments: TestEngine.allCases)
    func `it sees what a statement in its place sees`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let seen = try await store.write { tx in
                try tx.enqueue(Self.insert, 1, "one")
                let first = try tx.deferredRows(Self.ids)
                let made = try tx.deferredExecute(Self.insert + " ON CONFLICT DO NOTHING", 2, "two")
                let again = try tx.deferredExecute(Self.insert + " ON CONFLICT DO NOTHING", 2, "again")
                let second = try tx.deferredRows(Self.ids).map { rows throws(StoreError) in
                    try rows.map { row throws(StoreError) in try row.int("id") }
                }
                try tx.enqueue(Self.insert, 3, "three")
                // In another order than they were sent, and some twice.
                let values = try [second.value(), second.value(), first.value().map { try $0.int("id") }]
                return values + [[Int64(try again.value()), Int64(try made.value())]]
            }
            #expect(seen == [[1, 2], [1, 2], [1], [0, 1]])
            try await expectNotes([1, 2, 3], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `any number may be waited for, and none need be`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let found = try await store.write { tx in
                let asked = try (1...Int64(100)).map { number in
                    try tx.enqueue(Self.insert, number, "note \(number)")
                    _ = try tx.deferredRows("SELECT body FROM notes WHERE id = ?", number)
                    return try tx.deferredRows("SELECT COUNT(*) AS number FROM notes")
                }
                return try asked.map { try $0.value().first?.int("number") }
            }
            #expect(found == (1...100).map { $0 })
            let unread = try await store.write { tx in
                _ = try tx.deferredExecute("DELETE FROM notes WHERE id > ?", 1)
                return true
            }
            #expect(unread)
            try await expectNotes([1], in: store.engine)
            let read = try await store.read { db in
                let (one, two) = (
                    try db.deferredRows(Self.ids), try db.deferredRows("SELECT COUNT(*) AS number FROM notes")
                )
                let (rows, counted) = try one.with(two).value()
                return (rows.count, try counted.first?.int("number"))
            }
            #expect(read == (1, 1))
        }
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `what fails undoes everything, whether it is waited for or not`(
        engine: TestEngine, isWaitedFor: Bool
    ) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            try await store.write { tx in try tx.addNote(1) }
            let kind = await failure {
                try await store.write { tx in
                    try tx.addNote(2)
                    let before = try? tx.deferredRows(Self.ids)
                    let failing = try? tx.deferredExecute(Self.insert, 1, "again")
                    let after = try? tx.deferredRows(Self.ids)
                    guard isWaitedFor else { return }
                    #expect((try? after?.value()) == nil)
                    #expect((try? failing?.value()) == nil)
                    #expect((try? before?.value())?.count == 2)
                }
            }
            #expect(kind == .statement)
            try await expectNotes([1], in: store.engine)
            // The connection and its statements can still be used.
            let ids = try await store.write { tx in
                let made = try tx.deferredExecute(Self.insert, 3, "three")
                return try tx.deferredRows(Self.ids).with(made).value().0.map { try $0.int("id") }
            }
            #expect(ids == [1, 3])
        }
    }

    @Test func `what is asked for goes to PostgreSQL in one message`() async throws {
        try await PostgresFixture.withProxy { engine, proxy, _ in
            @Sendable func ask(_ db: any Database) throws -> [Int] {
                let asked = try [
                    db.deferredRows(Self.ids), db.deferredRows("SELECT 1 AS one"), db.deferredRows("SELECT 2 AS two"),
                ]
                return try asked.map { try $0.value().count }
            }
            try await engine.write { tx in try tx.addNote(1) }
            #expect(try await engine.write { try ask($0) } == [1, 1, 1])
            let before = proxy.questions
            #expect(try await engine.write { try ask($0) } == [1, 1, 1])
            // The COMMIT is the second one.
            #expect(proxy.questions == before + 2)
        }
    }
}
