import Foundation
import TestSupport
import Testing

@testable import Store

@Suite struct InFlightByComparisonMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 44 }
    private static let rows = [
        "INSERT INTO user_states (user_id, created_at) VALUES ('usr_1', 1)",
        "INSERT INTO skus (id, number, active, body, updated_at) VALUES ('sku', 1, 1, '{}', 1)",
        """
        INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, state, platform, environment,
            metadata, created_at, expires_at)
        VALUES ('ord_1', 'usr_1', 'checkout', 'sku', 1, '{}', 9, 'CNY', 'open', 'web', 'Production', '{}', 0, 0)
        """,
        payment("pay_1", attempt: 1, "pending"), payment("pay_2", attempt: 2, "failed"),
    ]

    private static func payment(_ id: String, attempt: Int, _ state: String) -> String {
        """
        INSERT INTO payments (id, order_id, attempt, account, amount, currency, state, recurring, platform, environment,
            created_at, look_at)
        VALUES ('\(id)', 'ord_1', \(attempt), 'box', 9, 'CNY', '\(state)', 0, 'web', 'Production', 1, 1)
        """
    }

    @Test func `entries stay, are found by the same indexes, and cost no b-tree`() async throws {
        try await withStore(on: .sqlite, migrations: Self.earlier) { store in
            try await store.write { tx in for row in Self.rows { try tx.execute(row) } }
            let before = try await Self.indexes(of: store)
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let after = try await Self.indexes(of: store)
            #expect(after.count == before.count)
            #expect(after.filter { $0.contains(InFlight.isTrue(of: "state")) }.count == 7)
            #expect(!after.contains { $0.contains("state IN (") })

            try await store.report { db in
                let check = try db.rows("PRAGMA integrity_check", []).map { try $0.text("integrity_check") }
                #expect(check == ["ok"])
                for statement in [
                    Self.payment("pay_3", attempt: 3, "created"),
                    "UPDATE payments SET state = 'succeeded', look_at = 2 WHERE id = 'pay_1'",
                ] {
                    let program = try db.rows("EXPLAIN " + statement, [])
                    let openings = try program.filter { try $0.text("opcode") == "OpenEphemeral" }.count
                    // The triggers of the order's place in lists open some of their own.
                    #expect(openings <= 2, "\(statement)")
                }
                for (table, index) in [
                    ("payments", "payments_to_look_at"), ("payments", "payments_in_flight"),
                    ("payments", "payments_charging"), ("refunds", "refunds_to_look_at"),
                    ("refunds", "refunds_in_flight"), ("setups", "setups_open"), ("setups", "setups_to_look_at"),
                ] {
                    // SQLite refuses a query whose condition is not that of the index.
                    let also = index == "payments_charging" ? " AND mandate_id IS NOT NULL" : ""
                    let found = try db.rows(
                        "SELECT id FROM \(table) INDEXED BY \(index) WHERE \(InFlight.isTrue(of: "state"))\(also)", [])
                    #expect(found.count == (table == "payments" && also.isEmpty ? 1 : 0), "\(index)")
                }
            }
        }
    }

    private static func indexes(of store: Store) async throws -> [String] {
        try await store.report { db in
            try db.rows(
                """
                SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('payments', 'refunds', 'setups')
                    AND sql LIKE '%unknown%' ORDER BY name
                """, []
            ).map { try $0.text("sql") }
        }
    }
}
