import TestSupport
import Testing

@testable import Store

/// Tests of statements whose row count is not awaited, and of their pipelining in PostgreSQL.
@Suite struct SentStatementTests {
    private static let insert = "INSERT INTO notes (id, body) VALUES (?, ?)"

    @Test(arguments: TestEngine.allCases)
    func `what was sent is seen by the next statement and is committed`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let seen = try await store.write { tx in
                try tx.enqueue(Self.insert, 1, "one")
                try tx.enqueue(Self.insert, 2, "two")
                let seen = try tx.rows("SELECT id FROM notes ORDER BY id").map { try $0.int("id") }
                let touched = try tx.execute("UPDATE notes SET body = ? WHERE id = ?", "three", 2)
                // The last statement is followed by no other.
                try tx.enqueue(Self.insert, 3, "two")
                return seen + [Int64(touched)]
            }
            #expect(seen == [1, 2, 1])
            try await expectNotes([1, 2, 3], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `any number of statements is sent in their order`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let first = try await store.write { tx in
                for number in 1...Int64(100) {
                    try tx.enqueue("UPDATE counters SET value = (value * 3 + ?) % 1000003 WHERE name = 'first'", number)
                }
                return try tx.row("SELECT value FROM counters WHERE name = 'first'")?.int("value")
            }
            let expected = (1...Int64(100)).reduce(0) { ($0 * 3 + $1) % 1_000_003 }
            #expect(first == expected)
        }
    }

    enum End: CaseIterable {
        case statement, sending, nothing
    }

    @Test(arguments: TestEngine.allCases, End.allCases)
    func `a sent statement that fails undoes everything`(engine: TestEngine, end: End) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            try await store.write { tx in try tx.addNote(1) }
            let kind = await failure {
                try await store.write { tx in
                    try tx.addNote(2)
                    try tx.enqueue(Self.insert, 1, "again")
                    switch end {
                    case .statement: try tx.addNote(3)
                    case .sending: try tx.enqueue(Self.insert, 3, "three")
                    case .nothing: break
                    }
                }
            }
            #expect(kind == .statement)
            try await expectNotes([1], in: store.engine)
            // The connection and its statements can still be used.
            try await store.write { tx in
                try tx.enqueue(Self.insert, 4, "four")
                try tx.addNote(5)
            }
            try await expectNotes([1, 4, 5], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the failure of a sent statement cannot be swallowed`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let kind = await failure {
                try await store.write { tx in
                    try tx.addNote(1)
                    try? tx.enqueue("INSERT INTO nowhere VALUES (?)", 1)
                    _ = try? tx.rows("SELECT id FROM notes")
                }
            }
            #expect(kind == .statement)
            try await expectNotes([], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a closure without a statement is a transaction too`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let before = store.engine.commits
            #expect(try await store.write { _ in 5 } == 5)
            #expect(try await store.read { _ in 6 } == 6)
            #expect(store.engine.commits == before + 1)
            try await expectNotes([], in: store.engine)
        }
    }

    @Test func `statements that are skipped after a failure are prepared when they come again`() async throws {
        try await PostgresFixture.withEngine { engine, _ in
            let kind = await failure {
                try await engine.write { tx in
                    try tx.enqueue("INSERT INTO nowhere VALUES (?)", 1)
                    try tx.enqueue("UPDATE notes SET body = ? WHERE id = ?", "one", 1)
                    _ = try tx.rows("SELECT COUNT(*) AS number FROM notes")
                }
            }
            #expect(kind == .statement)
            let number = try await engine.write { tx in
                try tx.addNote(1)
                try tx.enqueue("UPDATE notes SET body = ? WHERE id = ?", "one", 1)
                return try tx.row("SELECT COUNT(*) AS number FROM notes")?.int("number")
            }
            #expect(number == 1)
        }
    }

    @Test(arguments: [1, 2, 5])
    func `a connection keeps few statements whatever is sent together`(limit: Int) async throws {
        var settings = PostgresFixture.settings
        settings.preparedStatements = limit
        try await PostgresFixture.withEngine(settings) { engine, _ in
            for round in 0..<3 {
                try await engine.write { tx in
                    for number in 1...10 {
                        let id = number + round * 10
                        try tx.enqueue("INSERT INTO notes (id, body) VALUES (\(id), ?)", "note \(id)")
                    }
                    _ = try tx.rows("SELECT 1 AS one")
                }
            }
            let kept = try await engine.write { tx in
                // A prepared statement that gave way to the last one is closed by the next message.
                _ = try tx.rows("SELECT 2 AS two")
                return try tx.row("SELECT COUNT(*) AS number FROM pg_prepared_statements")?.int("number")
            }
            #expect(kept == Int64(limit))
            try await expectNotes(Array(1...30), in: engine)
        }
    }

    @Test func `a connection that is lost after a read is replaced by the next call`() async throws {
        for cut in [PostgresProxy.Cut.before("ROLLBACK\0"), .after("ROLLBACK\0")] {
            try await PostgresFixture.withProxy { engine, proxy, _ in
                try await engine.write { tx in try tx.addNote(1) }
                proxy.cut(cut)
                try await expectNotes([1], in: engine)
                try await engine.write { tx in try tx.addNote(2) }
                #expect(proxy.remainingCuts == 0)
                try await expectNotes([1, 2], in: engine)
            }
        }
    }

    @Test func `a connection that is lost with sent statements is replaced, and they run again`() async throws {
        try await PostgresFixture.withProxy { engine, proxy, _ in
            try await engine.write { tx in try tx.addNote(1) }
            let runs = Counter()
            proxy.cut(.after("UPDATE notes"))
            try await engine.write { tx in
                runs.next()
                try tx.enqueue("UPDATE notes SET body = ? WHERE id = ?", "one", 1)
                try tx.enqueue(Self.insert, 2, "two")
            }
            #expect(runs.value == 2)
            try await expectNotes([1, 2], in: engine)
        }
    }
}
