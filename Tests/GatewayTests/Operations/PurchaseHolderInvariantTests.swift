import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: invariants of who holds them")
struct PurchaseHolderInvariantTests {
    /// A change of the database without the gateway, and the violation that is found.
    static let tamperings: [(sql: String, detail: String)] = [
        ("DELETE FROM purchase_shares", "an order of several grants, or a grant of an order that is not paid"),
        ("DELETE FROM purchase_shares", "a store's grant is of a user who neither owns nor shares its purchase"),
        (
            "DELETE FROM grants WHERE source_kind = 'apple_transaction' AND user_id IN (\(bob))",
            "a shared purchase gave a sharer nothing, or a revoked one still gives"
        ),
        (
            """
            UPDATE grants SET revoked_at = 1, revoked_by = 'refund'
            WHERE source_kind = 'apple_transaction' AND user_id IN (\(bob))
            """, "a shared purchase gave a sharer nothing, or a revoked one still gives"
        ),
        (
            "UPDATE grants SET ends_at = ends_at + 1 WHERE source_kind = 'apple_subscription' AND user_id IN (\(bob))",
            "a shared subscription gave a sharer another grant than its owner"
        ),
        (
            "UPDATE purchase_owners SET user_id = (\(bob))", "a purchase is shared with its owner, or without one"
        ),
        ("DELETE FROM purchase_owners", "a purchase is shared with its owner, or without one"),
    ]
    private static let bob = "SELECT id FROM users WHERE external_id = 'bob'"

    @Test(arguments: TestEngine.allCases, tamperings.indices)
    func `every rule finds what breaks it`(_ engine: TestEngine, _ number: Int) async throws {
        let tampering = Self.tamperings[number]
        var setup = PurchasePolicyTests.setup(.share)
        setup.desk.checksInvariants = false
        // Each closure runs twice, and the second run must have the same result.
        setup.desk.rehearse = true
        try await withAppleDesk(on: engine, setup) { apple in
            for sale in [apple.period("both", from: 0), apple.sale()] {
                for user in ["alice", "bob"] { try await apple.attach(sale, user: user) }
            }
            #expect(try await apple.desk.count("grants") == 4)
            #expect(try await InvariantCheck(store: apple.store).run().isEmpty)
            let touched = try await apple.store.write { tx in try tx.execute(tampering.sql) }
            #expect(touched > 0)
            let found = try await InvariantCheck(store: apple.store).run()
            #expect(found.contains { $0.detail == tampering.detail }, "\(found)")
        }
    }
}
