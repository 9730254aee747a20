import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Store

/// Tests of many callers with one commit.
@Suite struct GroupCommitTests {
    @Test func `a caller is answered only after its commit`() async throws {
        let gate = Gate()
        try await EngineFixture.withSQLite(commit: { connection in
            gate.pass()
            try connection.execute(sql: "COMMIT")
        }) { engine in
            let answers = Counter()
            let caller = Task {
                try await engine.write { tx in try tx.addNote(1) }
                answers.next()
            }
            await gate.reached()
            #expect(answers.value == 0)
            try await expectNotes([], in: engine)
            gate.open()
            try await caller.value
            #expect(answers.value == 1)
            try await expectNotes([1], in: engine)
        }
    }

    /// Here all 64 clients wait when a batch ends; on a real machine some do, which `make fixture` measures.
    @Test func `a thousand writes of 64 clients need as many commits as they come in turns`() async throws {
        try await EngineFixture.withSQLite { engine in
            for turn in 0..<16 {
                let ids = (1...64).map { Int64(turn * 64 + $0) }
                let results = await EngineFixture.inOneBatch(engine, ids.map { id in { try $0.addNote(id) } })
                #expect(results.allSatisfy { $0.kind == nil })
            }
            #expect(engine.commits == 16)
            try await expectNotes(Array(1...1_024), in: engine)
        }
    }

    @Test func `writes that wait together are committed together`() async throws {
        try await EngineFixture.withSQLite { engine in
            let results = await EngineFixture.inOneBatch(engine, (1...20).map { id in { try $0.addNote(id) } })
            #expect(results.allSatisfy { $0.kind == nil })
            #expect(engine.commits == 1)
            try await expectNotes(Array(1...20), in: engine)
        }
    }

    @Test func `a batch is bounded in count`() async throws {
        var limits = EngineFixture.unhurried
        limits.count = 5
        try await EngineFixture.withSQLite(limits: limits) { engine in
            // There are 21 writes with the one that blocks the writer, in batches of 5.
            _ = await EngineFixture.inOneBatch(engine, (1...20).map { id in { try $0.addNote(id) } })
            #expect(engine.commits == 5)
        }
    }

    @Test func `a batch is bounded in time`() async throws {
        var limits = EngineFixture.unhurried
        limits.time = .zero
        try await EngineFixture.withSQLite(limits: limits) { engine in
            _ = await EngineFixture.inOneBatch(engine, (1...3).map { id in { try $0.addNote(id) } })
            #expect(engine.commits == 4)
        }
    }

    @Test func `a closure that throws leaves its neighbours untouched`() async throws {
        struct Refused: Error {}
        try await EngineFixture.withSQLite { engine in
            let results = await EngineFixture.inOneBatch(
                engine,
                [
                    { try $0.addNote(1) },
                    { tx in
                        try tx.addNote(2)
                        throw Refused()
                    },
                    { try $0.addNote(1) },
                    { tx in
                        try tx.addNote(3)
                        try? tx.addNote(1)
                    },
                    { try $0.addNote(4) },
                ])
            #expect(results.map(\.kind) == [nil, nil, .statement, .statement, nil])
            #expect(throws: Refused.self) { try results[1].get() }
            #expect(engine.commits == 1)
            try await expectNotes([1, 4], in: engine)
        }
    }

    /// The first write of a batch has no savepoint: its rollback ends the transaction, and another begins.
    @Test func `a first write that is undone leaves the batch to the others`() async throws {
        struct Refused: Error {}
        let undone: [@Sendable (any Transaction) throws -> Void] = [
            { tx in
                try tx.addNote(1)
                throw Refused()
            },
            { tx in
                try tx.addNote(2)
                // The error is caught here, but fails the write nevertheless.
                _ = try? tx.execute("INSERT INTO nowhere (id) VALUES (1)")
            },
            { tx in
                try tx.execute("CREATE TABLE strays (id INTEGER)")
                try tx.execute("INSERT INTO strays (id) VALUES (1)")
                throw Refused()
            },
        ]
        for first in undone {
            try await EngineFixture.withSQLite { engine in
                let results = await EngineFixture.inOneBatch(
                    engine, [undone[0], { try $0.addNote(1) }, undone[1], { try $0.addNote(2) }], after: first)
                #expect(results.map { (try? $0.get()) != nil } == [false, true, false, true])
                #expect(engine.commits == 1)
                try await expectNotes([1, 2], in: engine)
                try await engine.write { tx in try tx.execute("CREATE TABLE strays (id INTEGER)") }
                #expect(try await engine.read { db in try db.rows("SELECT id FROM strays", []).count } == 0)
            }
        }
    }

    /// Writes run without savepoints until one fails after it has changed a row; then all run again, each in its own.
    @Test func `writes run again only where one fails after it has changed a row`() async throws {
        struct Refused: Error {}
        let failures: [(runs: Int, fails: @Sendable (any Transaction) throws -> Void)] = [
            (1, { _ in throw Refused() }),
            (
                1,
                { tx in
                    try tx.execute("UPDATE notes SET id = 9 WHERE id = ?", 8)
                    throw Refused()
                }
            ),
            // A statement that breaks a constraint changes nothing.
            (1, { tx in try tx.addNote(1) }),
            (
                2,
                { tx in
                    try tx.addNote(3)
                    throw Refused()
                }
            ),
            (
                2,
                { tx in
                    try tx.execute("CREATE TABLE strays (id INTEGER)")
                    throw Refused()
                }
            ),
            (
                2,
                { tx in
                    try tx.addNote(3)
                    try? tx.addNote(1)
                }
            ),
        ]
        for failure in failures {
            try await EngineFixture.withSQLite { engine in
                let runs = Counter()
                func batch(_ ids: [Int64]) async -> [Result<Void, any Error>] {
                    await EngineFixture.inOneBatch(
                        engine,
                        [
                            { tx in
                                runs.next()
                                try tx.addNote(ids[0])
                            }, failure.fails, { try $0.addNote(ids[1]) },
                        ])
                }
                #expect(await batch([1, 2]).map { (try? $0.get()) != nil } == [true, false, true])
                #expect(runs.value == failure.runs)
                #expect(engine.commits == 1)
                // After that, each write has a savepoint at once.
                #expect(await batch([4, 5]).map { (try? $0.get()) != nil } == [true, false, true])
                #expect(runs.value == failure.runs + 1)
                try await expectNotes([1, 2, 4, 5], in: engine)
            }
        }
    }

    @Test func `the cancellation of a caller takes nothing out of the batch`() async throws {
        try await EngineFixture.withSQLite { engine in
            let gate = Gate()
            let holder = Task {
                try await engine.write { tx in
                    try tx.addNote(1)
                    gate.pass()
                }
            }
            await gate.reached()
            let neighbour = Task { try await engine.write { tx in try tx.addNote(2) } }
            while engine.waiting < 1 { await Task.yield() }
            let cancelled = Task { try await engine.write { tx in try tx.addNote(3) } }
            while engine.waiting < 2 { await Task.yield() }
            holder.cancel()
            cancelled.cancel()
            gate.open()
            try await holder.value
            try await neighbour.value
            try await cancelled.value
            try await expectNotes([1, 2, 3], in: engine)
        }
    }

    @Test func `a caller beyond the queue's bound is refused at once`() async throws {
        var limits = EngineFixture.unhurried
        limits.waiting = 2
        try await EngineFixture.withSQLite(limits: limits) { engine in
            let gate = Gate()
            let holder = Task { try await engine.write { _ in gate.pass() } }
            await gate.reached()
            let first = Task { try await engine.write { tx in try tx.addNote(1) } }
            while engine.waiting < 1 { await Task.yield() }
            let second = Task { try await engine.write { tx in try tx.addNote(2) } }
            while engine.waiting < 2 { await Task.yield() }
            #expect(await failure { try await engine.write { tx in try tx.addNote(3) } } == .unavailable)
            gate.open()
            try await holder.value
            try await first.value
            try await second.value
            try await expectNotes([1, 2], in: engine)
        }
    }

    @Test func `closing commits what was accepted`() async throws {
        try await EngineFixture.withSQLite { engine in
            let gate = Gate()
            let holder = Task { try await engine.write { _ in gate.pass() } }
            await gate.reached()
            let accepted = Task { try await engine.write { tx in try tx.addNote(1) } }
            while engine.waiting < 1 { await Task.yield() }
            let closing = Task { await engine.close() }
            while await failure({ try await engine.noteIDs() }) == nil { await Task.yield() }
            #expect(await failure { try await engine.write { tx in try tx.addNote(2) } } == .unavailable)
            gate.open()
            await closing.value
            try await holder.value
            try await accepted.value
            #expect(engine.commits == 1)
        }
    }
}
