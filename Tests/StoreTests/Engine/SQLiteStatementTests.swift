import Foundation
import TestSupport
import Testing

@testable import Store

/// Tests of SQLite's statements and readers, below GRDB.
@Suite struct SQLiteStatementTests {
    @Test func `a column that is added later is seen by statements that were prepared before`() async throws {
        try await EngineFixture.withSQLite { engine in
            let sql = "SELECT * FROM notes WHERE id = ?"
            try await engine.write { tx in try tx.addNote(1) }
            let before = try await engine.read { db in try db.row(sql, Int64(1))?.columns }
            #expect(before == ["id", "body", "data"])
            let written = try await engine.write { tx in
                #expect(try tx.row(sql, Int64(1))?.columns == before)
                try tx.execute("ALTER TABLE notes ADD COLUMN extra TEXT NOT NULL DEFAULT 'new'")
                return try tx.row(sql, Int64(1))?.text("extra")
            }
            #expect(written == "new")
            for _ in 0..<2 {
                let row = try await engine.read { db in try db.row(sql, Int64(1)) }
                #expect(row?.columns == ["id", "body", "data", "extra"])
                #expect(row?["extra"] == .text("new"))
            }
        }
    }

    @Test(arguments: [0, 2])
    func `a statement with too few or too many values is refused`(count: Int) async throws {
        try await EngineFixture.withSQLite { engine in
            let values = Array(repeating: Int64(1), count: count)
            let kind = await failure {
                try await engine.read { db in try db.rows("SELECT id FROM notes WHERE id = ?", values) }
            }
            #expect(kind == .statement)
            // The connection can still be used.
            try await expectNotes([], in: engine)
        }
    }

    @Test func `a reader is free again after a read that failed`() async throws {
        try await EngineFixture.withSQLite { engine in
            for _ in 0..<4 {
                #expect(await failure { try await engine.read { db in try db.rows("SELECT nothing") } } == .statement)
            }
            try await engine.write { tx in try tx.addNote(1) }
            try await expectNotes([1], in: engine)
        }
    }

    @Test func `one read sees one state of the database, whatever is committed meanwhile`() async throws {
        try await EngineFixture.withSQLite { engine in
            let gate = Gate()
            let read = Task(executorPreference: OwnThreads()) {
                try await engine.read { db in
                    let before = try db.rows("SELECT id FROM notes").count
                    gate.pass()
                    return (before, try db.rows("SELECT id FROM notes").count)
                }
            }
            await gate.reached()
            try await engine.write { tx in try tx.addNote(1) }
            try await expectNotes([1], in: engine)
            gate.open()
            let (before, after) = try await read.value
            #expect(before == 0 && after == 0)
        }
    }
}
