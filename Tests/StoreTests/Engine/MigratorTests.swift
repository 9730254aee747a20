import TestSupport
import Testing

@testable import Store

/// Tests that each migration is applied once, in order.
@Suite struct MigratorTests {
    private static let first = Migration(
        number: 1, name: "first",
        sql: "CREATE TABLE a (id {int} NOT NULL PRIMARY KEY, body {text}) {strict};\n-- end\n")
    private static let second = Migration(
        number: 2, name: "second",
        sql: "CREATE TABLE b (id {int}, data {blob}) {strict};\nINSERT INTO b (id) VALUES (1);\n")

    @Test(arguments: TestEngine.allCases)
    func `what is pending is applied once and in order`(engine: TestEngine) async throws {
        try await withStore(on: engine, rehearse: true, migrations: []) { store in
            let all = [Self.first, Self.second]
            #expect(try await Migrator.pending(all, in: store) == all)
            #expect(try await Migrator.apply([Self.first], to: store, at: 7) == [Self.first])
            #expect(try await Migrator.pending(all, in: store) == [Self.second])
            #expect(try await Migrator.apply(all, to: store, at: 8) == [Self.second])
            #expect(try await Migrator.apply(all, to: store, at: 9) == [])
            let rows = try await store.read { db in
                try db.rows("SELECT number, name, digest, applied_at FROM schema_migrations ORDER BY number")
            }
            #expect(try rows.map { try $0.int("number") } == [1, 2])
            #expect(try rows.map { try $0.text("digest") } == all.map(\.digest))
            #expect(try rows.map { try $0.int("applied_at") } == [7, 8])
            let inserted = try await store.read { db in try db.rows("SELECT id FROM b").count }
            #expect(inserted == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a database of a newer binary is refused`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: [Self.first, Self.second]) { store in
            await #expect(throws: MigrationError.unknown(number: 2, name: "second")) {
                try await Migrator.pending([Self.first], in: store)
            }
            await #expect(throws: MigrationError.unknown(number: 2, name: "second")) {
                try await Migrator.apply([Self.first], to: store, at: 0)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a migration that was edited after it was applied is refused`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: [Self.first]) { store in
            let edited = Migration(number: 1, name: "first", sql: Self.first.sql + " ")
            await #expect(throws: MigrationError.changed(number: 1, name: "first")) {
                try await Migrator.apply([edited, Self.second], to: store, at: 0)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a migration that fails leaves nothing behind`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: [Self.first]) { store in
            let broken = Migration(
                number: 2, name: "broken", sql: "CREATE TABLE c (id {int});\nCREATE TABLE a (id {int});\n")
            #expect(await failure { try await Migrator.apply([Self.first, broken], to: store, at: 0) } == .statement)
            #expect(await failure { try await store.read { db in try db.rows("SELECT id FROM c") } } == .statement)
            let pending = try await Migrator.pending([Self.first, broken], in: store)
            #expect(pending == [broken])
        }
    }

    @Test func `several nodes may start at once`() async throws {
        try await withDatabase(on: .postgres, migrations: []) { database in
            // The database template was made with an empty list, so there is no table of migrations yet.
            let nodes = try (1...4).map { _ in try database.openAnother() }
            let applied = try await withThrowingTaskGroup(of: [Migration].self) { group in
                for node in nodes {
                    group.addTask { try await Migrator.apply([Self.first, Self.second], to: node, at: 1) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            for node in nodes { await node.engine.close() }
            #expect(applied.map(\.number).sorted() == [1, 2])
            let inserted = try await database.store.read { db in try db.rows("SELECT id FROM b").count }
            #expect(inserted == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the migrations of this release apply to an empty database`(engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: []) { store in
            let applied = try await Migrator.apply(Migrations.all, to: store, at: 1)
            #expect(applied == Migrations.all)
        }
    }

    @Test func `the numbers of a list ascend`() async throws {
        try await withStore(on: .sqlite, migrations: []) { store in
            await #expect(throws: MigrationError.order(number: 1)) {
                try await Migrator.apply([Self.second, Self.first], to: store, at: 0)
            }
        }
    }

    @Test func `a migration is split into statements without its comments`() {
        let migration = Migration(number: 1, name: "x", sql: "-- why\nA {int};\n\n-- only; this\n\nB ';' ;\n C")
        #expect(migration.statements(.sqlite) == ["A INTEGER", "B ';'", "C"])
        #expect(migration.statements(.postgres) == ["A BIGINT", "B ';'", "C"])
    }
}
