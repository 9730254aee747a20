import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct AuditReasonsMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 10 }
    private static let refund = "ref_00000000000000000000000001"

    /// Makes the rows of the earlier release: an order with refunds, of a known or of an erased user.
    private static func rows(_ number: Int, isErased: Bool) -> [String] {
        let user = "usr_\(number)"
        let name = isErased ? [] : ["INSERT INTO users (id, external_id) VALUES ('\(user)', 'name \(number)')"]
        func refund(_ id: String, _ reason: String, _ state: String) -> String {
            """
            INSERT INTO refunds (id, order_id, payment_id, amount, currency, reason, state, counted, created_at)
            VALUES ('\(id)', 'ord_\(number)', 'pay_\(number)', 1, 'CNY', '\(reason)', '\(state)', 1, 0)
            """
        }
        return name + [
            "INSERT INTO user_states (user_id, created_at) VALUES ('\(user)', 0)",
            """
            INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, state, platform, environment,
                metadata, created_at, expires_at)
            VALUES ('ord_\(number)', '\(user)', 'checkout', 'sku', 1, '{}', 9, 'CNY', 'open', 'web', 'Production', '{}', 0, 0)
            """,
            """
            INSERT INTO payments (id, order_id, attempt, account, amount, currency, state, recurring, platform, created_at)
            VALUES ('pay_\(number)', 'ord_\(number)', 1, 'box', 9, 'CNY', 'created', 0, 'web', 0)
            """,
            refund("ref_\(number)a", "for zoe", "succeeded"), refund("ref_\(number)b", "for zoe", "pending"),
            refund("ref_\(number)c", "made at the provider", "succeeded"),
            """
            INSERT INTO order_timeline (order_id, position, at, type, detail)
            VALUES ('ord_\(number)', 1, 0, 'refund.created', '\(Self.refund) 0.01 CNY for zoe'),
                ('ord_\(number)', 2, 0, 'refund.pending', '\(Self.refund) 0.01 CNY')
            """,
        ]
    }

    @Test(arguments: TestEngine.allCases)
    func `histories lose what people wrote, and refunds of erased people theirs`(_ engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            let sku = "INSERT INTO skus (id, number, active, body, updated_at) VALUES ('sku', 1, 1, '{}', 0)"
            try await store.write { tx in
                for sql in [sku] + Self.rows(1, isErased: false) + Self.rows(2, isErased: true) { try tx.execute(sql) }
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let (reasons, details) = try await store.read { db in
                (
                    try db.rows("SELECT reason FROM refunds ORDER BY id").map { try $0.text("reason") },
                    try db.rows("SELECT detail FROM order_timeline ORDER BY order_id, position").map {
                        try $0.text("detail")
                    }
                )
            }
            #expect(
                reasons == ["for zoe", "for zoe", "made at the provider", "", "for zoe", "made at the provider"])
            #expect(details == [Self.refund, "\(Self.refund) 0.01 CNY", Self.refund, "\(Self.refund) 0.01 CNY"])
        }
    }
}
