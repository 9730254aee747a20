import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct PaymentEnvironmentsMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 27 }

    /// The rows of the earlier release: a paid and an open order at an account with test keys, and a Sandbox purchase.
    private static let rows = [
        "INSERT INTO skus (id, number, active, body, updated_at) VALUES ('x', 1, 1, '{}', 1)",
        "INSERT INTO user_states (user_id, created_at) VALUES ('usr_1', 1)",
        """
        INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, state, platform, environment,
            metadata, created_at, expires_at)
        VALUES ('ord_1', 'usr_1', 'checkout', 'x', 1, '{}', 100, 'CNY', 'open', 'web', 'Production', '{}', 1, 2),
            ('ord_2', 'usr_1', 'checkout', 'x', 1, '{}', 100, 'CNY', 'open', 'web', 'Production', '{}', 1, 2),
            ('ord_3', 'usr_1', 'checkout', 'x', 1, '{}', 100, 'CNY', 'open', 'web', 'Sandbox', '{}', 1, 2)
        """,
        """
        INSERT INTO payments (id, order_id, attempt, account, amount, currency, state, recurring, platform, created_at)
        VALUES ('pay_1', 'ord_1', 1, 'stripe-test', 100, 'CNY', 'created', 0, 'web', 1),
            ('pay_2', 'ord_2', 1, 'stripe-test', 100, 'CNY', 'pending', 0, 'web', 1),
            ('pay_3', 'ord_3', 1, 'apple-iap', 100, 'CNY', 'pending', 0, 'web', 1)
        """,
        "UPDATE payments SET state = 'succeeded', captured = 100 WHERE id = 'pay_1'",
        "UPDATE orders SET state = 'paid', paid_by = 'pay_1', paid_at = 1 WHERE id = 'ord_1'",
        """
        INSERT INTO balances (user_id, unit, environment, amount) VALUES ('usr_1', 'gold', 'Production', 5)
        """,
    ]

    @Test(arguments: TestEngine.allCases)
    func `orders that are there keep what they say, also when they are paid afterwards`(
        _ engine: TestEngine
    ) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            try await store.write { tx in for sql in Self.rows { try tx.execute(sql) } }
            let before = try await store.read { db in try db.reports.listDays(from: Timestamp(0), to: Timestamp(9)) }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let (payments, orders, balances, after) = try await store.read { db in
                (
                    try db.rows("SELECT environment FROM payments ORDER BY id").map { try $0.text("environment") },
                    try db.rows("SELECT environment FROM orders ORDER BY id").map { try $0.text("environment") },
                    try db.rows("SELECT environment FROM balances").map { try $0.text("environment") },
                    try db.reports.listDays(from: Timestamp(0), to: Timestamp(9))
                )
            }
            #expect(payments == ["Production", "Production", "Production"])
            #expect(orders == ["Production", "Production", "Sandbox"] && balances == ["Production"])
            #expect(before == after && before.map(\.charged) == [100])
        }
    }
}
