import Synchronization
import TestSupport
import Testing

@testable import Store

/// Tests of a connection or server that fails.
@Suite(.timeLimit(.minutes(10))) struct PostgresOutageTests {
    @Test func `a connection that was killed while idle is replaced`() async throws {
        try await PostgresFixture.withEngine { engine, _ in
            let first = try await engine.read { db in try db.backend() }
            try PostgresFixture.terminate(first)
            try await engine.write { tx in try tx.addNote(1) }
            let second = try await engine.read { db in try db.backend() }
            #expect(second != first)
            try await expectNotes([1], in: engine)
        }
    }

    @Test func `a connection that is killed before COMMIT runs its closure once more`() async throws {
        try await PostgresFixture.withEngine { engine, _ in
            let runs = Counter()
            try await engine.write { tx in
                try tx.addNote(1)
                if runs.next() == 1 { try PostgresFixture.terminate(try tx.backend()) }
                try tx.addNote(2)
            }
            #expect(runs.value == 2)
            try await expectNotes([1, 2], in: engine)
        }
    }

    @Test func `a connection that is gone when COMMIT would be sent runs its closure once more`() async throws {
        try await PostgresFixture.withEngine { engine, _ in
            let runs = Counter()
            try await engine.write { tx in
                try tx.addNote(1)
                if runs.next() == 1 { try PostgresFixture.terminate(try tx.backend()) }
            }
            #expect(runs.value == 2)
            try await expectNotes([1], in: engine)
        }
    }

    @Test func `a connection that is killed again and again makes the call unavailable`() async throws {
        try await PostgresFixture.withEngine { engine, _ in
            let runs = Counter()
            let kind = await failure {
                try await engine.write { tx in
                    runs.next()
                    try PostgresFixture.terminate(try tx.backend())
                    try tx.addNote(1)
                }
            }
            #expect(kind == .unavailable)
            #expect(runs.value == 2)
            try await expectNotes([], in: engine)
        }
    }

    @Test func `the outcome is unknown when COMMIT was sent and its reply is lost`() async throws {
        try await PostgresFixture.withProxy { engine, proxy, _ in
            let runs = Counter()
            proxy.cut(.after("COMMIT\0"))
            let kind = await failure {
                try await engine.write { tx in
                    runs.next()
                    try tx.addNote(1)
                }
            }
            #expect(kind == .outcomeUnknown)
            #expect(runs.value == 1)
            #expect(engine.commits == 0)
            // It was committed, which the caller can only find out by a query.
            try await expectNotes([1], in: engine)
        }
    }

    @Test func `the outcome is unknown when COMMIT was sent and did not arrive`() async throws {
        try await PostgresFixture.withProxy { engine, proxy, _ in
            proxy.cut(.before("COMMIT\0"))
            let kind = await failure { try await engine.write { tx in try tx.addNote(1) } }
            #expect(kind == .outcomeUnknown)
            try await expectNotes([], in: engine)
        }
    }

    @Test func `a connection that is cut at a statement is replaced and the closure runs again`() async throws {
        try await PostgresFixture.withProxy { engine, proxy, _ in
            let runs = Counter()
            proxy.cut(.after("INSERT INTO notes"))
            try await engine.write { tx in
                runs.next()
                try tx.addNote(1)
            }
            #expect(runs.value == 2)
            try await expectNotes([1], in: engine)
        }
    }

    @Test func `calls are unavailable while the database is away, and work when it is back`() async throws {
        var settings = PostgresFixture.settings
        settings.connections = 3
        try await PostgresFixture.withProxy(settings) { engine, proxy, _ in
            try await engine.write { tx in try tx.addNote(1) }
            proxy.stop()
            for _ in 1...5 {
                #expect(await failure { try await engine.write { tx in try tx.addNote(2) } } == .unavailable)
                #expect(await failure { try await engine.noteIDs() } == .unavailable)
            }
            try proxy.restart()
            while await failure({ try await engine.noteIDs() }) == .unavailable { await Task.yield() }
            try await engine.write { tx in try tx.addNote(3) }
            try await expectNotes([1, 3], in: engine)
        }
    }

    @Test func `a server that does not answer makes the call unavailable`() async throws {
        var settings = PostgresFixture.settings
        settings.patience = .milliseconds(100)
        let proxy = try PostgresProxy(to: PostgresCluster.running().port)
        defer { proxy.stop() }
        proxy.cut(.silent)
        let address = try PostgresCluster.running().address(database: "postgres", port: proxy.port)
        let engine = PostgresEngine(address, settings: settings)
        #expect(await failure { try await engine.databaseTime() } == .unavailable)
        proxy.cut(.never)
        while await failure({ try await engine.databaseTime() }) == .unavailable { await Task.yield() }
        #expect(try await engine.databaseTime() > 0)
        await engine.close()
    }

    @Test func `one connection that fails does not fail the calls of the others`() async throws {
        var settings = PostgresFixture.settings
        settings.connections = 2
        try await PostgresFixture.withProxy(settings) { engine, proxy, _ in
            let gate = Gate()
            let holder = Task {
                try await engine.write { tx in
                    try tx.addNote(1)
                    gate.pass()
                }
            }
            await gate.reached()
            // The other thread cannot connect now; its calls wait for the existing connection.
            proxy.cut(.before("\0\u{03}\0\0"), times: .max)
            let waiting = Task { try await engine.write { tx in try tx.addNote(2) } }
            await Task.yield()
            gate.open()
            try await holder.value
            try await waiting.value
            try await expectNotes([1, 2], in: engine)
        }
    }

    @Test func `a database that does not exist makes the call unavailable`() async throws {
        let address = try PostgresCluster.running().address(database: "nowhere")
        let engine = PostgresEngine(address, settings: PostgresFixture.settings)
        #expect(await failure { try await engine.databaseTime() } == .unavailable)
        await engine.close()
    }
}
