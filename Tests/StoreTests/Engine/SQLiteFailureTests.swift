import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@testable import Store

/// When SQLite can no longer keep a promise.
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
                engine, [{ try $0.addNote(1) }, { try $0.run(sql) }, { try $0.addNote(2) }])
            #expect(results.map(\.kind) == [.failed, .failed, .failed])
            #expect(failures.kinds == [.failed])
            #expect(await failure { try await engine.write { tx in try tx.addNote(3) } } == .failed)
            #expect(await failure { try await engine.noteIDs() } == .failed)
            #expect(engine.commits == 0)
        }
    }

    @Test func `a full database that rolls the whole transaction back fails the batch and the engine`() async throws {
        let failures = Failures()
        try await EngineFixture.withSQLite(onFailure: failures.record) { engine in
            let results = await EngineFixture.inOneBatch(
                engine,
                [
                    { try $0.addNote(1) },
                    { tx in
                        _ = try tx.rows("PRAGMA max_page_count = 1")
                        try tx.run("INSERT INTO notes (id, body, data) VALUES (2, 'big', zeroblob(1000000))")
                    },
                    { try $0.addNote(3) },
                ])
            #expect(results.map(\.kind) == [.failed, .failed, .failed])
            #expect(failures.kinds == [.failed])
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

    @Test func `a full disk whose transaction is already gone is unknown too`() async throws {
        let failures = Failures()
        try await EngineFixture.withSQLite(
            commit: { connection in
                try connection.execute(sql: "COMMIT")
                throw DatabaseError(resultCode: .SQLITE_FULL)
            }, onFailure: failures.record
        ) { engine in
            #expect(await failure { try await engine.write { tx in try tx.addNote(1) } } == .outcomeUnknown)
            #expect(failures.kinds == [.outcomeUnknown])
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
