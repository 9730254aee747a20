import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct DisputesMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 20 }

    @Test(arguments: TestEngine.allCases)
    func `disputes that are there keep their state from its arrival, and open ones hold their money`(
        _ engine: TestEngine
    ) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            try await store.write { tx in
                try tx.execute(
                    "INSERT INTO skus (id, number, active, body, updated_at) VALUES ('x', 1, 1, '{}', 1)")
                try tx.execute("INSERT INTO user_states (user_id, created_at) VALUES ('usr_1', 1)")
                try tx.execute(
                    """
                    INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, state, platform,
                        environment, metadata, created_at, expires_at, paid_at)
                    VALUES ('ord_1', 'usr_1', 'checkout', 'x', 1, '{}', 100, 'CNY', 'paid', 'web', 'Production', '{}',
                        1, 2, 1)
                    """)
                try tx.execute(
                    """
                    INSERT INTO payments (id, order_id, attempt, account, amount, currency, state, recurring, platform,
                        captured, lost, created_at)
                    VALUES ('pay_1', 'ord_1', 1, 'a', 100, 'CNY', 'succeeded', 0, 'web', 100, 40, 1)
                    """)
                for (id, amount, state) in [("dsp_1", 40, "lost"), ("dsp_2", 70, "open")] as [(String, Int64, String)] {
                    try tx.execute(
                        """
                        INSERT INTO disputes (id, order_id, payment_id, reference, amount, currency, state, created_at)
                        VALUES (?, 'ord_1', 'pay_1', ?, ?, 'CNY', ?, 5)
                        """, id, id, amount, state)
                }
                try tx.execute(
                    """
                    INSERT INTO order_timeline (order_id, position, at, type, detail)
                    VALUES ('ord_1', 1, 5, 'dispute.opened', 'dsp_1'), ('ord_1', 2, 9, 'dispute.lost', 'dsp_1')
                    """)
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let (told, held) = try await store.read { db in
                (
                    try db.rows("SELECT told_at FROM disputes ORDER BY id").map { try $0.int("told_at") },
                    try db.rows("SELECT disputed FROM payments").map { try $0.int("disputed") }
                )
            }
            #expect(told == [9, 5])
            // A lost dispute's amount is not reserved a second time.
            #expect(held == [60])
            let broken = try await store.read { db in
                try InvariantRule.all.filter { $0.invariant == 3 }.flatMap {
                    try db.consistency.listViolations(of: $0, limit: 9)
                }
            }
            #expect(broken.isEmpty)
        }
    }
}
