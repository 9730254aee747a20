import Foundation
import TestSupport
import Testing

@testable import Store

/// Tests that values are the same on both engines.
@Suite struct EngineValueTests {
    @Test(arguments: TestEngine.allCases)
    func `values come back as they were bound`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let bytes = Data((0...255).map { UInt8($0) })
            let bodies = ["", "it's ?", "äöü 😀", "\\x41", "a\nb"]
            let blobs: [Data?] = [bytes, Data(), nil, Data([0]), Data("\\x".utf8)]
            let ids: [Int64] = [.min, -1, 0, 1, .max]
            let rows = try await store.write { tx in
                for index in ids.indices {
                    try tx.execute(
                        "INSERT INTO notes (id, body, data) VALUES (?, ?, ?)", ids[index], bodies[index], blobs[index])
                }
                return try tx.rows("SELECT id, body, data FROM notes ORDER BY id")
            }
            #expect(try rows.map { try $0.int("id") } == ids)
            #expect(try rows.map { try $0.text("body") } == bodies)
            #expect(try rows.map { try $0.optionalBlob("data") } == blobs)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a sum of integers is an integer`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let row = try await store.write { tx in
                try tx.addNote(4_000_000_000_000_000_000)
                try tx.addNote(-1)
                return try tx.row("SELECT SUM(id) AS total, COUNT(*) AS number, MAX(id) AS top FROM notes")
            }
            #expect(row?["total"] == .integer(3_999_999_999_999_999_999))
            #expect(row?["number"] == .integer(2))
            #expect(row?["top"] == .integer(4_000_000_000_000_000_000))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `texts are in the order of their bytes`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let bodies = [
                "b", "B", "a", "A", "ä", "Z", "_", "1", "10", "2", "\u{FFFD}", "😀", "a b", "a-b", "ab", "",
            ]
            let sorted = try await store.write { tx in
                for (id, body) in bodies.enumerated() { try tx.addNote(Int64(id), body) }
                return try tx.rows("SELECT body FROM notes ORDER BY body").map { try $0.text("body") }
            }
            #expect(sorted == bodies.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
            let above = try await store.read { db in
                try db.rows("SELECT body FROM notes WHERE body > ? ORDER BY body", ["Z"]).count
            }
            #expect(above == bodies.count { "Z".utf8.lexicographicallyPrecedes($0.utf8) })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a text with a zero byte is refused and not cut`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            #expect(await failure { try await store.write { tx in try tx.addNote(1, "a\0b") } } == .statement)
            try await expectNotes([], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a question mark in quotes is no placeholder`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let row = try await store.read { db in
                try db.row("SELECT 'why? ''?''' AS quoted, ? AS bound -- really?", "yes")
            }
            #expect(try row?.text("quoted") == "why? '?'")
            #expect(try row?.text("bound") == "yes")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a statement tells how many rows it touched`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let counts = try await store.write { tx in
                [
                    try tx.execute("INSERT INTO notes (id, body) VALUES (1, 'a'), (2, 'b'), (3, 'c')"),
                    try tx.execute("INSERT INTO notes (id, body) VALUES (1, 'a') ON CONFLICT DO NOTHING"),
                    try tx.execute("UPDATE notes SET body = body || ? WHERE id > ?", "!", 1),
                    try tx.execute("CREATE TABLE more (id INTEGER)"),
                    try tx.execute("DELETE FROM notes"),
                ]
            }
            #expect(counts == [3, 0, 2, 0, 3])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a statement with RETURNING does all its work`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let first = try await store.write { tx in
                try tx.row("INSERT INTO notes (id, body) VALUES (1, 'a'), (2, 'b'), (3, 'c') RETURNING id")?.int("id")
            }
            #expect(first == 1)
            try await expectNotes([1, 2, 3], in: store.engine)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a column that is not what was asked for is corrupt`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let kind = await failure {
                try await store.read { db in try db.row("SELECT 'x' AS value")?.int("value") }
            }
            #expect(kind == .corrupt)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `one text with NULL in another place is another statement`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: EngineFixture.migrations) { store in
            let blobs = try await store.write { tx in
                for (id, data) in [Data([1]), nil, Data([2]), nil].enumerated() {
                    try tx.execute("INSERT INTO notes (id, body, data) VALUES (?, ?, ?)", id, "note \(id)", data)
                }
                return try tx.rows("SELECT data FROM notes ORDER BY id").map { try $0.optionalBlob("data") }
            }
            #expect(blobs == [Data([1]), nil, Data([2]), nil])
        }
    }
}
