import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct RestoredPurchasesMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 15 }

    /// Makes the rows of a purchase in the earlier release, refunded at this time.
    private static func rows(_ number: Int, revokedAt: Int64?) -> [String] {
        let revoked = revokedAt.map { "\($0)" } ?? "NULL"
        return [
            """
            INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, charged, charged_currency,
                state, platform, environment, metadata, created_at, expires_at, paid_at, returned, revoked_share)
            VALUES ('ord_\(number)', 'usr_1', 'purchase', 'sku', 1, '{}', 9, 'CNY', 9, 'CNY', 'paid', 'ios',
                'Production', '{}', 0, 0, 86400, \(revokedAt == nil ? 0 : 9), \(revokedAt == nil ? "NULL" : "100000"))
            """,
            """
            INSERT INTO purchases (environment, key, account, bundle_id, product_id, transaction_id,
                original_transaction_id, kind, purchased_at, signed_at, quantity, is_renewal, is_upgraded,
                is_family_shared, revoked_at, received_at, user_id, order_id)
            VALUES ('Production', '\(number)', 'apple', 'app', 'ring', '\(number)', '\(number)', 'Non-Consumable',
                86400000, 0, 1, 0, 0, 0, \(revoked), 0, 'usr_1', 'ord_\(number)')
            """,
        ]
    }

    @Test(arguments: TestEngine.allCases)
    func `what a store took back is counted on its day`(_ engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            try await store.write { tx in
                try tx.execute("INSERT INTO skus (id, number, active, body, updated_at) VALUES ('sku', 1, 1, '{}', 0)")
                try tx.execute("INSERT INTO user_states (user_id, created_at) VALUES ('usr_1', 0)")
                for sql in Self.rows(1, revokedAt: 3 * 86_400_000 + 999) + Self.rows(2, revokedAt: nil) {
                    try tx.execute(sql)
                }
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let days = try await store.read { db in try db.reports.listDays(from: Timestamp(0), to: Timestamp(864_000))
            }
            #expect(
                days.map { "\($0.day.rawValue / 86_400) \($0.paid) \($0.charged) \($0.refunded)" } == [
                    "3 0 0 9", "1 2 18 0", "0 0 0 0",
                ])
        }
    }
}
