import Foundation
import TestSupport
import Testing

@testable import Store

/// Tests that a file has one owner.
@Suite struct SQLiteFileTests {
    private func open(_ path: String) throws -> SQLiteEngine {
        try SQLiteEngine(path: path, now: { 0 }, onFailure: { _ in })
    }

    @Test func `a commit waits for the disk, and readers can only read`() async throws {
        try await EngineFixture.withSQLite { engine in
            let writer = try await engine.write { tx in
                try ["synchronous", "foreign_keys", "query_only", "mmap_size", "temp_store"].map { name in
                    try tx.row("PRAGMA \(name)").map { $0.values[0] }
                }
            }
            #expect(writer == [2, 1, 0, 0, 2])
            let journal = try await engine.read { db in try db.row("PRAGMA journal_mode")?.text("journal_mode") }
            #expect(journal == "wal")
            let reader = try await engine.read { db in
                try ["foreign_keys", "query_only", "mmap_size"].map { name in
                    try db.row("PRAGMA \(name)").map { $0.values[0] }
                }
            }
            #expect(reader == [1, 1, 0])
        }
    }

    @Test func `a second owner is refused until the first has closed`() async throws {
        try await EngineFixture.withFolder { folder in
            let path = folder + "/new/folder/paydesk.db"
            let first = try open(path)
            let error = #expect(throws: StoreError.self) { try open(path) }
            #expect(StoreErrorKind(error) == .owned)
            #expect(error?.text.contains("process \(getpid())") == true)
            await first.close()
            let second = try open(path)
            await second.close()
        }
    }

    @Test func `another name of the file has the same owner`() async throws {
        try await EngineFixture.withFolder { folder in
            let first = try open(folder + "/paydesk.db")
            try FileManager.default.createSymbolicLink(atPath: folder + "/alias", withDestinationPath: folder)
            #expect(await failure { try open(folder + "/alias/paydesk.db") } == .owned)
            await first.close()
        }
    }

    @Test func `only the owner's account can read the files`() async throws {
        try await EngineFixture.withFolder { folder in
            let engine = try open(folder + "/paydesk.db")
            try await engine.write { tx in _ = try tx.execute("CREATE TABLE t (id INTEGER)") }
            let modes = try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { name in
                let mode = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.posixPermissions]
                return "\(name) \(String((mode as? NSNumber)?.intValue ?? 0, radix: 8))"
            }
            #expect(
                modes == ["paydesk.db 600", "paydesk.db-shm 600", "paydesk.db-wal 600", "paydesk.db.lock 600"])
            await engine.close()
        }
    }

    @Test func `a lock is free again after its release`() async throws {
        try await EngineFixture.withFolder { folder in
            let lock = try OwnerLock(database: folder + "/x.db")
            #expect(await failure { try OwnerLock(database: folder + "/x.db") } == .owned)
            lock.release()
            lock.release()
            let next = try OwnerLock(database: folder + "/x.db")
            next.release()
        }
    }

    @Test func `what was committed is there when the file is opened again`() async throws {
        try await EngineFixture.withFolder { folder in
            for id in Int64(1)...3 {
                let engine = try open(folder + "/paydesk.db")
                let count = try await engine.write { tx in
                    try tx.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER)")
                    try tx.execute("INSERT INTO t VALUES (?)", id)
                    return try tx.row("SELECT COUNT(*) AS number FROM t")?.int("number")
                }
                #expect(count == id)
                await engine.close()
            }
        }
    }

    @Test func `a file that is no database is refused`() async throws {
        try await EngineFixture.withFolder { folder in
            try Data(repeating: 65, count: 5_000).write(to: URL(fileURLWithPath: folder + "/paydesk.db"))
            #expect(await failure { try open(folder + "/paydesk.db") } == .failed)
        }
    }

    @Test func `reading a file that is missing does not create it`() async throws {
        try await EngineFixture.withFolder { folder in
            #expect(await failure { try SQLiteEngine(readOnly: folder + "/none.db", now: { 0 }) } == .unavailable)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(files.isEmpty)
        }
    }
}
