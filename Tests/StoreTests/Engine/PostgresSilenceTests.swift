import TestSupport
import Testing

@testable import Store

/// Tests of a server or network that stops answering without closing the connection.
@Suite(.timeLimit(.minutes(10))) struct PostgresSilenceTests {
    /// The limit of a statement is a minute, so that only the silence can end it.
    private static var settings: PostgresSettings {
        var settings = PostgresSettings()
        settings.connections = 2
        settings.statementTimeout = .seconds(60)
        settings.lockTimeout = .seconds(60)
        return settings
    }

    @Test func `a statement that is not answered is given up, and calls work when the server is back`() async throws {
        try await PostgresFixture.withProxy(Self.settings) { engine, proxy, _ in
            while await failure({ try await engine.noteIDs() }) == .unavailable { await Task.yield() }
            proxy.cut(.silent)
            for _ in 1...3 {
                #expect(await failure { try await engine.write { tx in try tx.addNote(1) } } == .unavailable)
                #expect(await failure { try await engine.noteIDs() } == .unavailable)
            }
            proxy.cut(.never)
            while await failure({ try await engine.noteIDs() }) == .unavailable { await Task.yield() }
            try await expectNotes([], in: engine)
        }
    }

    @Test func `the outcome of a commit that is not answered is unknown`() async throws {
        try await PostgresFixture.withProxy(Self.settings) { engine, proxy, _ in
            while await failure({ try await engine.noteIDs() }) == .unavailable { await Task.yield() }
            let kind = await failure {
                try await engine.write { tx in
                    try tx.addNote(1)
                    proxy.cut(.silent)
                }
            }
            #expect(kind == .outcomeUnknown)
        }
    }

    @Test func `a statement that takes long on a server that answers is waited for`() async throws {
        var settings = Self.settings
        // Much shorter than the statement takes, so that the connection is probed repeatedly.
        settings.silence = .milliseconds(1)
        settings.probe = .seconds(30)
        settings.patience = .seconds(30)
        try await PostgresFixture.withEngine(settings) { engine, _ in
            let counted = try await engine.read { db in
                try db.row("SELECT count(*) AS n FROM generate_series(1, 1000000)")?.int("n")
            }
            #expect(counted == 1_000_000)
        }
    }

    @Test func `a pool whose calls wait long says so, and no longer when they are served`() async throws {
        var settings = PostgresFixture.settings
        settings.patience = .seconds(6)
        try await PostgresFixture.withEngine(settings) { engine, _ in
            while await failure({ try await engine.noteIDs() }) == .unavailable { await Task.yield() }
            #expect(!engine.isCongested)
            let gate = Gate()
            let holder = Task { try await engine.write { _ in gate.pass() } }
            await gate.reached()
            #expect(!engine.isCongested)
            func wait() async -> Task<StoreErrorKind?, Never> {
                let call = Task { await failure { try await engine.noteIDs() } }
                while engine.waiting == 0 { await Task.yield() }
                return call
            }
            var waiting = await wait()
            while !engine.isCongested {
                await Task.yield()
                // On a busy machine the call may have been given up already; then another one waits.
                guard engine.waiting == 0 else { continue }
                _ = await waiting.value
                waiting = await wait()
            }
            gate.open()
            try await holder.value
            _ = await waiting.value
            #expect(!engine.isCongested)
        }
    }

    @Test func `the nodes of a database are those that have a connection to it`() async throws {
        try await withDatabase(on: .postgres) { database in
            #expect(try await database.store.engine.liveNodes() == 1)
            let names = ["0123456789abcdef", "fedcba9876543210"]
            let nodes = try names.map { try database.openAnother(node: $0) }
            for node in nodes { _ = try await node.engine.databaseTime() }
            for store in nodes + [database.store] { #expect(try await store.engine.liveNodes() == 2) }
            await nodes[0].engine.close()
            // The server notices the end of a connection a moment later.
            while try await nodes[1].engine.liveNodes() != 1 { await Task.yield() }
            await nodes[1].engine.close()
            try await withDatabase(on: .postgres) { other in
                let elsewhere = try other.openAnother(node: names[0])
                _ = try await elsewhere.engine.databaseTime()
                while try await database.store.engine.liveNodes() != 1 { await Task.yield() }
                await elsewhere.engine.close()
            }
        }
    }
}
