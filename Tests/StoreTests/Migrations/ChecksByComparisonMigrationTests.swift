import Foundation
import TestSupport
import Testing

@testable import Store

@Suite struct ChecksByComparisonMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 42 }
    private static let session = "ses_01jdgk4zs8f4d9v3qkr6t2m7hx"

    private static func insert(_ maker: String, _ id: String) -> String {
        """
        INSERT INTO sessions (id, token_digest, user_id, purpose, maker_kind, maker, skus, quantity, currency, platform,
            accept, metadata, created_at, expires_at, readable_until)
        VALUES ('\(id)', \(id == session ? "X'01'" : "X'02'"), 'usr_01jdgk4zs8f4d9v3qkr6t2m7hx', 'checkout', '\(maker)',
            \(maker == "partner" ? "'shop'" : "''"), '', 1, 'CNY', 'web', 'qr', '{}', 1, 100, 100)
        """
    }

    @Test func `rows and constraints stay, and an insert opens no b-tree for them`() async throws {
        try await withStore(on: .sqlite, migrations: Self.earlier) { store in
            try await store.write { tx in
                try tx.execute(
                    "INSERT INTO user_states (user_id, created_at) VALUES (?, 1)", "usr_01jdgk4zs8f4d9v3qkr6t2m7hx")
                try tx.execute(Self.insert("user", Self.session))
            }
            let before = try await Self.schema(of: store)
            #expect(!before.filter { $0.contains("environment IN ('Production', 'Sandbox', 'Xcode')") }.isEmpty)
            try await Migrator.apply(Migrations.all, to: store, at: 1)

            let after = try await Self.schema(of: store)
            #expect(after.count == before.count)
            // Each changed text, with its comparisons undone, is the one before.
            for text in after { #expect(before.contains(Self.listed(text)), "\(text)") }
            #expect(after.filter { $0.contains("environment = 'Production' OR ") }.count == 11)
            for column in ["origin", "revoked_by", "source_kind", "maker_kind"] {
                #expect(after.filter { $0.contains("CHECK (\(column) = '") }.count == 1, "\(column)")
            }
            try await store.report { db in
                #expect(try db.rows("PRAGMA integrity_check", []).map { try $0.text("integrity_check") } == ["ok"])
                #expect(try db.row("SELECT maker_kind FROM sessions")?.text("maker_kind") == "user")
                let program = try db.rows("EXPLAIN " + Self.insert("admin", "ses_2"), [])
                #expect(try !program.contains { try $0.text("opcode") == "OpenEphemeral" })
            }
            await #expect(throws: StoreError.self) {
                try await store.write { tx in try tx.execute(Self.insert("nobody", "ses_2")) }
            }
            try await store.write { tx in try tx.execute(Self.insert("partner", "ses_2")) }
        }
    }

    private static func schema(of store: Store) async throws -> [String] {
        try await store.report { db in
            try db.rows("SELECT sql FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL ORDER BY name", [])
                .map { try $0.text("sql") }
        }
    }

    /// Writes the constraints of a table with IN again.
    private static func listed(_ text: String) -> String {
        text.replacing(/CHECK \((\w+) = ('\w+'(?: OR \w+ = '\w+'){2,})\)/) { match in
            let values = match.output.2.components(separatedBy: " OR ").map {
                String($0.split(separator: " = ").last ?? "")
            }
            let list = values.joined(separator: ", ").replacing("transaction', ", with: "transaction',\n        ")
            return "CHECK (\(match.output.1) IN (\(list)))"
        }
    }
}
