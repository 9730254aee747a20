import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct ApplePartsMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 23 }

    /// Makes the rows of a purchase in the earlier release: its order, and its signed state.
    private static func rows(_ number: Int, order: String, purchase: [String: String]) -> [String] {
        var fields = [
            "kind": "'Non-Consumable'", "purchased_at": "86400000", "expires_at": "NULL", "is_family_shared": "0",
            "revoked_at": "NULL", "revocation_percentage": "NULL", "currency": "'CNY'",
        ]
        fields.merge(purchase) { $1 }
        let names = fields.keys.sorted()
        return [
            """
            INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, charged, charged_currency,
                returned, returned_at, revoked_share, state, platform, environment, metadata, created_at, expires_at,
                paid_at)
            VALUES ('ord_\(number)', 'usr_1', 'purchase', 'sku', 1, '{}', \(order), 'paid', 'ios', 'Production', '{}', 0,
                0, 86400)
            """,
            """
            INSERT INTO purchases (environment, key, account, bundle_id, product_id, transaction_id,
                original_transaction_id, signed_at, quantity, is_renewal, is_upgraded, received_at, user_id, order_id,
                \(names.joined(separator: ", ")))
            VALUES ('Production', '\(number)', 'apple', 'app', 'ring', '\(number)', '\(number)', 86400000, 1, 0, 0, 0,
                'usr_1', 'ord_\(number)', \(names.compactMap { fields[$0] }.joined(separator: ", ")))
            """,
        ]
    }

    private static func migrated(
        _ engine: TestEngine, _ rows: [String], _ check: @escaping @Sendable (any Database) throws -> Void
    ) async throws {
        try await withStore(on: engine, migrations: earlier) { store in
            try await store.write { tx in
                try tx.execute("INSERT INTO skus (id, number, active, body, updated_at) VALUES ('sku', 1, 1, '{}', 0)")
                try tx.execute("INSERT INTO user_states (user_id, created_at) VALUES ('usr_1', 0)")
                for sql in rows { try tx.execute(sql) }
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            try await store.read { db in try check(db) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what a member of the family bought has cost nothing and was never refunded`(
        _ engine: TestEngine
    ) async throws {
        let family = ["is_family_shared": "1"]
        let rows =
            Self.rows(1, order: "9, 'CNY', 9, 'CNY', 9, 86400, 100000", purchase: family)
            + Self.rows(2, order: "9, 'CNY', 9, 'CNY', 0, NULL, NULL", purchase: [:])
            + Self.rows(3, order: "NULL, NULL, NULL, NULL, 0, 86400, 100000", purchase: family)
            + Self.rows(
                4, order: "NULL, NULL, NULL, NULL, 0, NULL, NULL", purchase: family.merging(["currency": "NULL"]) { $1 }
            )
        try await Self.migrated(engine, rows) { (db) throws in
            let orders = try db.rows("SELECT * FROM orders ORDER BY id").map { row in
                [
                    try row.optionalInt("amount").map { "\($0)" } ?? "-",
                    try row.optionalInt("charged").map { "\($0)" } ?? "-",
                    try row.optionalText("charged_currency") ?? "-", "\(try row.int("returned"))",
                    try row.optionalInt("returned_at") == nil ? "-" : "at",
                    try row.optionalInt("revoked_share").map { "\($0)" } ?? "-",
                ].joined(separator: " ")
            }
            #expect(orders == ["0 0 CNY 0 - 100000", "9 9 CNY 0 - -", "- 0 CNY 0 - 100000", "- - - 0 - -"])
            #expect(try !db.jobs.hasAny("regrade_purchases"))
        }
    }

    /// Signed purchases to which other rules apply now.
    static let changed: [[String: String]] = [
        ["revoked_at": "86500000", "revocation_percentage": "40000"],
        ["kind": "'Subscription Suite'", "expires_at": "186400000"],
        ["kind": "'Non-Renewing Subscription'", "expires_at": "186400000"],
        ["kind": "'Auto-Renewable Subscription'", "expires_at": "386400000", "purchased_at": "186400000"],
    ]

    @Test(arguments: TestEngine.allCases, changed)
    func `a job brings in line what is treated otherwise`(
        _ engine: TestEngine, _ purchase: [String: String]
    ) async throws {
        let rows =
            Self.rows(1, order: "9, 'CNY', 9, 'CNY', 0, NULL, NULL", purchase: purchase)
            + Self.rows(2, order: "9, 'CNY', 9, 'CNY', 9, 86500, 100000", purchase: ["revoked_at": "86500000"])
        try await Self.migrated(engine, rows) { (db) throws in
            #expect(try db.jobs.hasAny("regrade_purchases"))
        }
    }
}
