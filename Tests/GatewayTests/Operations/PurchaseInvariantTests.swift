import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: invariants")
struct PurchaseInvariantTests {
    /// A change behind the gateway's back, and the invariant that it breaks.
    struct Tampering: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let detail: String
    }

    private static let gave = "an attached purchase gave nothing, or a revoked one still gives"
    private static let credited =
        "a transaction credited more than once, or kept its credit after its revocation"
    private static let overwritten =
        "a subscription ends before its newest signed transaction, or is not revoked with it"
    private static let owner = "a purchase is another user's than its original transaction"

    static let tamperings = [
        Tampering(
            testDescription: "an order whose purchase is gone",
            sql: "UPDATE purchases SET order_id = NULL WHERE kind = 'Consumable' AND revoked_at IS NULL",
            detail: "an order of a store has no verified purchase"),
        Tampering(
            testDescription: "an owner who is another",
            sql: "UPDATE purchase_owners SET user_id = (SELECT id FROM users WHERE external_id = 'bob')",
            detail: owner),
        Tampering(testDescription: "a binding that is gone", sql: "DELETE FROM purchase_owners", detail: owner),
        Tampering(
            testDescription: "a purchase of another user",
            sql: "UPDATE purchases SET user_id = (SELECT id FROM users WHERE external_id = 'bob')",
            detail: owner),
        Tampering(
            testDescription: "a grant that is gone",
            sql: "DELETE FROM grants WHERE source_kind = 'apple_transaction' AND revoked_at IS NULL", detail: gave),
        Tampering(
            testDescription: "a grant that came back",
            sql: "UPDATE grants SET revoked_at = NULL, revoked_by = NULL WHERE revoked_at IS NOT NULL", detail: gave),
        Tampering(
            testDescription: "a grant taken back without a revocation",
            sql: "UPDATE grants SET revoked_at = 1, revoked_by = 'refund' WHERE revoked_at IS NULL", detail: gave),
        Tampering(
            testDescription: "a credit kept after its revocation",
            sql: "DELETE FROM ledger WHERE delta < 0", detail: credited),
        Tampering(
            testDescription: "an order that credited beside its purchase",
            sql: """
                INSERT INTO ledger (user_id, unit, environment, source_kind, source_id, step, delta, at)
                SELECT user_id, 'gems', environment, 'order', order_id, 1, 5, 1
                FROM purchases WHERE kind = 'Consumable' AND revoked_at IS NULL
                """, detail: "a store's purchase paid the order, which credited units beside it"),
        Tampering(
            testDescription: "a credit booked again",
            sql: """
                INSERT INTO ledger (user_id, unit, environment, source_kind, source_id, step, delta, at)
                SELECT user_id, unit, environment, source_kind, source_id, step + 7, delta, at
                FROM ledger WHERE step = 1
                """, detail: credited),
        Tampering(
            testDescription: "a credit booked three times",
            sql: """
                INSERT INTO ledger (user_id, unit, environment, source_kind, source_id, step, delta, at)
                SELECT l.user_id, l.unit, l.environment, l.source_kind, l.source_id, n.step, l.delta, l.at
                FROM ledger l CROSS JOIN (SELECT 8 AS step UNION SELECT 9) n WHERE l.step = 1
                """, detail: credited),
        Tampering(
            testDescription: "a subscription that an older fact ends earlier",
            sql: "UPDATE grants SET ends_at = ends_at - 1 WHERE source_kind = 'apple_subscription'", detail: overwritten
        ),
        Tampering(
            testDescription: "a subscription that outlives its revocation",
            sql: "UPDATE purchases SET revoked_at = 1 WHERE kind = 'Auto-Renewable Subscription'", detail: overwritten),
    ]

    @Test(arguments: TestEngine.allCases, tamperings)
    func `every rule finds what breaks it`(_ engine: TestEngine, _ tampering: Tampering) async throws {
        var setup = AppStoreGatewayFixtureSetup()
        setup.desk.checksInvariants = false
        try await withAppleDesk(on: engine, setup) { apple in
            try await Self.play(at: apple)
            let before = try await InvariantCheck(store: apple.store).run()
            #expect(before.isEmpty, "\(before)")
            let touched = try await apple.store.write { tx in try tx.execute(tampering.sql) }
            #expect(touched > 0)
            let found = try await InvariantCheck(store: apple.store).run()
            #expect(found.contains { $0.detail == tampering.detail }, "\(found)")
        }
    }

    /// What a catalogue may say of a product, beside the app's own bundle and another's.
    private static let entries = [
        "com.example.late.9", "com.example.app:com.example.late.9", "com.example.other:com.example.late.9",
        "com.example.late.${days}", "com.example.app:com.example.late.${days}",
        "com.example.other:com.example.late.${days}", "com.example.${days}.9", "com.example.late.${days}.9",
        "com.example.lat", "com.example.late.9.more",
    ]
    private static let products = [
        "com.example.late.9", "com.example.late.3660", "com.example.late.3661", "com.example.late.0",
        "com.example.late.09", "com.example.late.", "com.example.late.x9", "com.example.late.9.9",
    ]

    /// The rule in SQL is the catalogue's own, for every product and entry.
    @Test(arguments: TestEngine.allCases)
    func `a kept purchase that a SKU knows is found, unless a job grants it`(_ engine: TestEngine) async throws {
        var setup = AppStoreGatewayFixtureSetup()
        setup.desk.checksInvariants = false
        try await withAppleDesk(on: engine, setup) { apple in
            for product in Self.products { #expect(try await apple.refusal(apple.sale(product)) != nil) }
            let nobodys = apple.sale("com.example.late.9")
            try await apple.notify(AppleNotice("ONE_TIME_CHARGE", nil, nobodys, at: apple.now))
            #expect(try await apple.desk.count("purchases WHERE sku IS NULL AND user_id IS NULL") == 1)
            func found() async throws -> [String] {
                try await InvariantCheck(store: apple.store).run().map { violation in
                    #expect(violation.detail.hasPrefix("a kept purchase gave nothing"), "\(violation)")
                    return violation.subject
                }
            }
            #expect(try await found().isEmpty)
            for entry in Self.entries {
                try await apple.store.write { tx in
                    try tx.execute(
                        "INSERT INTO apple_products (entry, sku, is_pattern) VALUES (?, 'vip_month', ?)", entry,
                        entry.contains("$"))
                }
                let known = try await apple.store.read { db in
                    try db.purchases.listUnmapped(after: nil, limit: 50).filter { kept in
                        let purchase = kept.purchase
                        return try kept.user != nil
                            && db.skus.find(appleProduct: purchase.productID, bundle: purchase.bundleID) != nil
                    }.map(\.purchase.transactionID)
                }
                #expect(try await found().sorted() == known.sorted(), "\(entry)")
                try await apple.store.write { tx in try tx.execute("DELETE FROM apple_products WHERE entry = ?", entry)
                }
            }
            // As long as the job is there, it will grant them.
            let late = #"""
                {"id": "late", "name": "Late", "kind": "non_renewing", "duration_days": 9,
                 "prices": [{"currency": "CNY", "value": 100}], "apple_product_ids": ["com.example.late.${days}"]}
                """#
            let sku = try JSONDecoder().decode(SKU.self, from: Data(late.utf8))
            try await apple.store.write { tx in try tx.execute("ALTER TABLE grants RENAME TO grants_away") }
            _ = try await apple.gateway.catalogue.create(sku, context: .test)
            try await apple.store.write { tx in try tx.execute("ALTER TABLE grants_away RENAME TO grants") }
            #expect(try await found().isEmpty)
            try await apple.desk.pass(seconds: 60)
            try await apple.work()
            #expect(try await apple.desk.count("jobs WHERE kind = 'grant_unmapped'") == 0)
            #expect(try await found().isEmpty)
            #expect(try await apple.desk.count("purchases WHERE sku = 'late'") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `closures that run twice have the same result`(_ engine: TestEngine) async throws {
        var setup = AppStoreGatewayFixtureSetup()
        setup.desk.rehearse = true
        try await withAppleDesk(on: engine, setup) { apple in
            try await Self.play(at: apple)
            #expect(try await apple.desk.count("purchases") == 7)
            #expect(try await apple.desk.count("orders") == 6)
            #expect(try await apple.desk.snapshot().balances == ["gems": 10])
        }
    }

    /// A purchase of each kind, some of them taken back, one unmapped.
    private static func play(at apple: AppStoreGatewayFixture) async throws {
        _ = try await apple.token("bob")
        let refunded = apple.sale()
        let gems = apple.sale("com.example.gems", AppleSale.consumable)
        for sale in [
            refunded, gems, apple.sale("com.example.ring", AppleSale.nonConsumable), apple.period("s", from: 0),
            apple.sale("com.example.gems", AppleSale.consumable), apple.sale("com.example.vip.year"),
            apple.sale("com.example.unknown"),
        ] { _ = try await apple.refusal(sale) }
        for sale in [refunded, gems] {
            _ = try await apple.refusal(sale.signedAgain(after: 5) { $0.revoked = $0.signed })
        }
    }
}
