import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Store

/// Tests of SQLite errors after which a commit is not durable.
@Suite struct SQLiteFailureTests {
    private final class Failures: Sendable {
        private let errors = Mutex<[StoreError]>([])
        func record(_ error: StoreError) { errors.withLock { $0.append(error) } }
        var kinds: [StoreErrorKind?] { errors.withLock { $0.map { StoreErrorKind($0) } } }
    }

    @Test(arguments: ["ROLLBACK", "COMMIT"])
    func `a closure that ends the transaction fails the batch and the engine`(sql: String) async throws {
        let failures = Failures()
        try await EngineFixture.withSQLite(onFailure: failures.record) { engine in
            let results = await EngineFixture.inOneBatch(
                engine, [{ try $0.addNote(1) }, { try $0.execute(sql) }, { try $0.addNote(2) }])
            #expect(results.map(\.kind) == [.failed, .failed, .failed])
            #expect(failures.kinds == [.failed])
            #expect(await failure { try await engine.write { tx in try tx.addNote(3) } } == .failed)
            #expect(await failure { try await engine.noteIDs() } == .failed)
            #expect(engine.commits == 0)
        }
    }

    @Test(arguments: ["ROLLBACK", "COMMIT"])
    func `a first closure that ends the transaction fails the engine, too`(sql: String) async throws {
        let failures = Failures()
        try await EngineFixture.withSQLite(onFailure: failures.record) { engine in
            let results = await EngineFixture.inOneBatch(
                engine, [{ try $0.addNote(1) }],
                after: { tx in
                    try tx.addNote(2)
                    try tx.execute(sql)
                })
            #expect(results.map(\.kind) == [.failed] && failures.kinds == [.failed])
            #expect(await failure { try await engine.noteIDs() } == .failed)
        }
    }

    @Test func `a full database that rolls the whole transaction back refuses the batch and the engine goes on`()
        async throws
    {
        let failures = Failures()
        try await EngineFixture.withSQLite(onFailure: failures.record) { engine in
            let results = await EngineFixture.inOneBatch(
                engine,
                [
                    { try $0.addNote(1) },
                    { tx in
                        _ = try tx.rows("PRAGMA max_page_count = 1")
                        try tx.execute("INSERT INTO notes (id, body, data) VALUES (2, 'big', zeroblob(1000000))")
                    },
                    { try $0.addNote(3) },
                ])
            // The third write may begin a batch of its own.
            #expect(results.prefix(2).map(\.kind) == [.unavailable, .unavailable])
            #expect(failures.kinds.isEmpty)
            try await engine.write { tx in _ = try tx.rows("PRAGMA max_page_count = 1000000") }
            try await engine.write { tx in try tx.addNote(4) }
            try await expectNotes(results[2].kind == nil ? [3, 4] : [4], in: engine)
        }
    }

    @Test func `a disk that is full at the commit refuses the batch and the engine goes on`() async throws {
        let failures = Failures()
        let commits = Counter()
        try await EngineFixture.withSQLite(
            commit: { connection in
                guard commits.next() > 1 else { throw DatabaseError(resultCode: .SQLITE_FULL) }
                try connection.execute(sql: "COMMIT")
            }, onFailure: failures.record
        ) { engine in
            let results = await EngineFixture.inOneBatch(engine, [{ try $0.addNote(1) }, { try $0.addNote(2) }])
            #expect(results.map(\.kind) == [.unavailable, .unavailable])
            #expect(failures.kinds.isEmpty)
            try await engine.write { tx in try tx.addNote(3) }
            try await expectNotes([3], in: engine)
        }
    }

    @Test(arguments: [ResultCode.SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_CORRUPT])
    func `a commit that fails is unknown to its callers, stops the engine and is never tried again`(
        code: ResultCode
    ) async throws {
        let failures = Failures()
        let commits = Counter()
        try await EngineFixture.withSQLite(
            commit: { _ in
                commits.next()
                throw DatabaseError(resultCode: code)
            }, onFailure: failures.record
        ) { engine in
            let results = await EngineFixture.inOneBatch(engine, [{ try $0.addNote(1) }, { try $0.addNote(2) }])
            #expect(results.map(\.kind) == [.outcomeUnknown, .outcomeUnknown])
            #expect(failures.kinds == [.outcomeUnknown])
            #expect(commits.value == 1)
            #expect(await failure { try await engine.write { tx in try tx.addNote(3) } } == .failed)
            #expect(commits.value == 1)
        }
    }

    @Test func `a disk that is full at the commit may have rolled the transaction back already`() async throws {
        let failures = Failures()
        let commits = Counter()
        try await EngineFixture.withSQLite(
            commit: { connection in
                guard commits.next() > 1 else {
                    try connection.execute(sql: "ROLLBACK")
                    throw DatabaseError(resultCode: .SQLITE_FULL)
                }
                try connection.execute(sql: "COMMIT")
            }, onFailure: failures.record
        ) { engine in
            #expect(await failure { try await engine.write { tx in try tx.addNote(1) } } == .unavailable)
            #expect(failures.kinds.isEmpty)
            try await engine.write { tx in try tx.addNote(2) }
            try await expectNotes([2], in: engine)
        }
    }

    @Test func `what waited when the engine failed is refused and not written`() async throws {
        var limits = EngineFixture.unhurried
        limits.count = 1
        try await EngineFixture.withSQLite(
            limits: limits, commit: { _ in throw DatabaseError(resultCode: .SQLITE_IOERR) }
        ) { engine in
            let results = await EngineFixture.inOneBatch(engine, [{ try $0.addNote(1) }, { try $0.addNote(2) }])
            #expect(results.map(\.kind) == [.failed, .failed])
        }
    }

    @Test(arguments: [
        (ResultCode.SQLITE_IOERR, StoreErrorKind.failed), (.SQLITE_CORRUPT, .failed), (.SQLITE_NOTADB, .failed),
        (.SQLITE_FULL, .unavailable), (.SQLITE_BUSY, .unavailable), (.SQLITE_CONSTRAINT, .statement),
        (.SQLITE_ERROR, .statement),
    ])
    func `an error of SQLite is classified by its code`(code: ResultCode, kind: StoreErrorKind) {
        #expect(StoreErrorKind(StoreError(sqlite: DatabaseError(resultCode: code))) == kind)
    }
}
