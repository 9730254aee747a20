import Domain
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Gateway

/// The plans of SQLite, which chooses its indexes without statistics, for statements about one person's purchases.
@Suite struct PurchasePlanTests {
    @Test func `the transactions of one original are not looked for among all of their product`() async throws {
        try await withAppleDesk(on: .sqlite) { apple in
            let plans = try await Self.plans(apple.desk) {
                for period in 0..<2 {
                    _ = try await apple.gateway.purchases.attach(
                        .signedTransaction(apple.period("original", from: Int64(period) * 30).jws), fallback: nil,
                        user: GatewayFixture.user("buyer"), context: .test)
                }
            }
            #expect(plans.contains { $0.contains("purchases_by_original") })
            #expect(plans.filter { $0.contains("purchases_by_product") } == [])
        }
    }

    @Test func `the offers that a person has used are not looked for among all of the product`() async throws {
        try await withAppleDesk(on: .sqlite) { apple in
            let user: ID<User> = apple.gateway.ids.make()
            let plans = try await Self.plans(apple.desk) {
                _ = try await apple.gateway.store.read { db in
                    try db.subscriptionHistory.hasRedeemed("offer", of: "product", in: "bundle", user, in: nil)
                }
            }
            #expect(plans.contains { $0.contains("purchases_by_user") })
            #expect(plans.filter { $0.contains("purchases_by_product") } == [])
        }
    }

    /// Returns a line for each table that the statements of a body read.
    private static func plans(_ desk: GatewayFixture, _ body: () async throws -> Void) async throws -> [String] {
        _ = desk.watch.taken()
        try await body()
        let sent = desk.watch.taken()
        return try await desk.store.report { db in
            try sent.flatMap { statement in
                try db.rows("EXPLAIN QUERY PLAN " + statement.sql, statement.arguments).map { try $0.text("detail") }
            }
        }
    }
}
