import TestSupport
import Testing

@testable import Store

/// Tests of PostgreSQL only: races, limits, sessions.
@Suite(.timeLimit(.minutes(10))) struct PostgresEngineTests {
    @Test func `a deadlock is retried until both have written`() async throws {
        try await withStore(on: .postgres, migrations: EngineFixture.migrations) { store in
            let runs = Counter()
            let gates = [Gate(), Gate()]
            let writers = [("first", "second"), ("second", "first")].enumerated().map { index, names in
                Task {
                    let tries = Counter()
                    try await store.write { tx in
                        runs.next()
                        try tx.execute("UPDATE counters SET value = value + 1 WHERE name = ?", names.0)
                        if tries.next() == 1 { gates[index].pass() }
                        try tx.execute("UPDATE counters SET value = value + 1 WHERE name = ?", names.1)
                    }
                }
            }
            for gate in gates { await gate.reached() }
            for gate in gates { gate.open() }
            for writer in writers { try await writer.value }
            #expect(runs.value >= 3)
            let values = try await store.read { db in
                try db.rows("SELECT value FROM counters ORDER BY name").map { try $0.int("value") }
            }
            #expect(values == [2, 2])
        }
    }

    @Test func `a lock that stays taken is retried and then unavailable`() async throws {
        var settings = PostgresFixture.settings
        settings.lockTimeout = .milliseconds(10)
        settings.retries = 2
        try await PostgresFixture.withEngine(settings) { engine, database in
            let gate = Gate()
            let holder = Task {
                try await database.store.write { tx in
                    try tx.execute("UPDATE counters SET value = 5 WHERE name = 'first'")
                    gate.pass()
                }
            }
            await gate.reached()
            let runs = Counter()
            let kind = await failure {
                try await engine.write { tx in
                    runs.next()
                    try tx.execute("UPDATE counters SET value = 6 WHERE name = 'first'")
                }
            }
            gate.open()
            try await holder.value
            #expect(kind == .unavailable)
            #expect(runs.value == 3)
        }
    }

    @Test func `a serialization failure runs the closure again even when the closure swallowed it`() async throws {
        try await PostgresFixture.withEngine { engine, _ in
            let runs = Counter()
            try await engine.write { tx in
                guard runs.next() < 3 else { return try tx.addNote(1) }
                try? tx.addNote(2)
                _ = try? tx.rows("DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END $$")
            }
            #expect(runs.value == 3)
            try await expectNotes([1], in: engine)
        }
    }

    @Test func `a statement that takes too long makes the call unavailable`() async throws {
        var settings = PostgresFixture.settings
        settings.statementTimeout = .milliseconds(20)
        try await PostgresFixture.withEngine(settings) { engine, _ in
            let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT COUNT(*) FROM n"
            let kind = await failure { try await engine.read { db in try db.rows(endless) } }
            #expect(kind == .unavailable)
            try await engine.write { tx in try tx.addNote(1) }
            try await expectNotes([1], in: engine)
        }
    }

    @Test func `a closure that ends its own transaction is a mistake and the connection is replaced`() async throws {
        try await PostgresFixture.withEngine { engine, _ in
            let kind = await failure {
                try await engine.write { tx in
                    try tx.addNote(1)
                    try tx.execute("ROLLBACK")
                }
            }
            #expect(kind == .statement)
            try await engine.write { tx in try tx.addNote(2) }
            try await expectNotes([2], in: engine)
        }
    }

    @Test func `a constraint that is checked at the commit is a statement error`() async throws {
        try await PostgresFixture.withEngine { engine, _ in
            try await engine.write { tx in
                try tx.execute("CREATE TABLE late (id BIGINT UNIQUE DEFERRABLE INITIALLY DEFERRED)")
            }
            let kind = await failure {
                try await engine.write { tx in try tx.execute("INSERT INTO late VALUES (1), (1)") }
            }
            #expect(kind == .statement)
            let count = try await engine.read { db in try db.rows("SELECT id FROM late").count }
            #expect(count == 0)
        }
    }

    @Test func `a call beyond the queue's bound is refused at once, and one that waits too long later`() async throws {
        var settings = PostgresFixture.settings
        settings.waiting = 1
        try await PostgresFixture.withEngine(settings) { engine, _ in
            let gate = Gate()
            let holder = Task { try await engine.write { _ in gate.pass() } }
            await gate.reached()
            let waiting = Task { try await engine.write { tx in try tx.addNote(1) } }
            while engine.waiting < 1 { await Task.yield() }
            #expect(await failure { try await engine.noteIDs() } == .unavailable)
            gate.open()
            try await holder.value
            try await waiting.value
            try await expectNotes([1], in: engine)
        }
    }

    @Test func `calls one after the other leave most connections unmade`() async throws {
        var settings = PostgresFixture.settings
        settings.connections = 16
        try await PostgresFixture.withEngine(settings) { engine, _ in
            var used: Set<Int64> = []
            for _ in 1...64 { used.insert(try await engine.read { db in try db.backend() }) }
            // More than one, because a call may come before the thread of the last one is idle.
            #expect(used.count <= 8)
        }
    }

    @Test func `a call that finds no free connection in time is unavailable while the others still run`() async throws {
        try await PostgresFixture.withEngine { engine, database in
            var settings = PostgresFixture.settings
            settings.patience = .milliseconds(50)
            guard case .postgres(let address) = database.url else { return }
            let hasty = PostgresEngine(address, settings: settings)
            while await failure({ try await hasty.noteIDs() }) == .unavailable { await Task.yield() }
            let gate = Gate()
            let holder = Task { try await hasty.write { _ in gate.pass() } }
            await gate.reached()
            #expect(await failure { try await hasty.noteIDs() } == .unavailable)
            gate.open()
            try await holder.value
            await hasty.close()
        }
    }

    @Test func `a session has the limits and the durability that the engine promises`() async throws {
        try await PostgresFixture.withEngine { engine, _ in
            let names = [
                "client_encoding", "TimeZone", "synchronous_commit", "transaction_isolation", "lock_timeout",
                "statement_timeout", "idle_in_transaction_session_timeout", "application_name",
            ]
            let values = try await engine.write { tx in
                try names.map { try tx.row("SELECT current_setting(?) AS value", $0)?.text("value") }
            }
            #expect(values == ["UTF8", "UTC", "on", "read committed", "2s", "5s", "10s", "paydesk"])
            let isolation = try await engine.read { db in
                try db.row("SELECT current_setting('transaction_isolation') AS value")?.text("value")
            }
            #expect(isolation == "repeatable read")
        }
    }

    @Test func `a table that changes under a prepared statement is prepared again`() async throws {
        try await PostgresFixture.withEngine { engine, database in
            try await engine.write { tx in try tx.addNote(1) }
            let before = try await engine.read { db in try db.rows("SELECT * FROM notes") }
            try await database.store.write { tx in try tx.execute("ALTER TABLE notes ADD COLUMN more BIGINT") }
            let after = try await engine.read { db in try db.rows("SELECT * FROM notes") }
            #expect(before.first?.columns == ["id", "body", "data"])
            #expect(after.first?.columns == ["id", "body", "data", "more"])
        }
    }

    @Test func `a connection keeps a bounded number of prepared statements`() async throws {
        var settings = PostgresFixture.settings
        settings.preparedStatements = 4
        try await PostgresFixture.withEngine(settings) { engine, _ in
            let kept = try await engine.read { db in
                for number in 1...20 { _ = try db.rows("SELECT \(number) AS number") }
                return try db.row("SELECT COUNT(*) AS number FROM pg_prepared_statements")?.int("number")
            }
            #expect(kept == 4)
        }
    }

    @Test func `closing finishes what was accepted`() async throws {
        var settings = PostgresFixture.settings
        settings.waiting = 1
        try await PostgresFixture.withEngine(settings) { engine, database in
            let gate = Gate()
            let holder = Task {
                try await engine.write { tx in
                    try tx.addNote(1)
                    gate.pass()
                }
            }
            await gate.reached()
            let accepted = Task { try await engine.write { tx in try tx.addNote(2) } }
            while engine.waiting < 1 { await Task.yield() }
            let closing = Task { await engine.close() }
            // The queue is full, so a call is refused at once, first for that and then because the engine closes.
            while await refusal(engine) != .unavailable("the database is closed") { await Task.yield() }
            gate.open()
            await closing.value
            try await holder.value
            try await accepted.value
            try await expectNotes([1, 2], in: database.store.engine)
        }
    }

    private func refusal(_ engine: PostgresEngine) async -> StoreError? {
        do {
            _ = try await engine.noteIDs()
            return nil
        } catch {
            return error as? StoreError
        }
    }
}
