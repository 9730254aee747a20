import Domain
import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Gateway

@Suite("Replay")
struct ReplayTests {
    /// Something of everything that can be stated.
    private static func trade(_ apple: AppStoreGatewayFixture) async throws {
        let desk = apple.desk
        try await desk.buy()
        try await desk.buy("coins", user: "bob", quantity: 2)
        let refunded = try await desk.buy(user: "carol")
        try await desk.refund(refunded.order)
        let half = try await desk.buy(user: "dave")
        try await desk.refund(half.order, 1_000)
        // Paid at once, without a notification.
        _ = try await desk.checkout(user: "erin", provider: "box-none", accept: [.none])
        let disputed = try await desk.buy(user: "frank")
        try await desk.notify("dispute.opened", disputed)
        try await desk.notify("dispute.lost", disputed)
        // Closed, and paid all the same.
        let late = try await desk.checkout(user: "grace")
        try await desk.pass(seconds: 1)
        _ = try await desk.gateway.orderClosing.cancel(
            late.order.rawValue, user: GatewayFixture.user("grace"), context: .test)
        try await desk.pass(seconds: 1)
        try await desk.notify("payment.succeeded", late)
        // Never paid.
        _ = try await desk.checkout(user: "heidi")
        // A second payment of one order.
        let twice = try await desk.checkout(user: "ivan")
        let again = try await desk.retry(twice.order, user: "ivan")
        try await desk.notify("payment.succeeded", twice)
        try await desk.notify("payment.succeeded", again)
        let pass = apple.sale { ($0.price, $0.currency) = (39_900, "CNY") }
        try await apple.attach(pass, user: "judy")
        let gone = apple.sale("com.example.gems", AppleSale.consumable) { $0.quantity = 3 }
        try await apple.attach(gone, user: "judy")
        _ = try await apple.refusal(gone.signedAgain(after: 5) { $0.revoked = $0.signed }, user: "judy")
        try await apple.attach(apple.sale("com.example.gems", AppleSale.consumable), user: "judy")
        _ = try await apple.ask(user: "ken")
        try await apple.attach(apple.sale(), user: "ken")
        try await apple.attach(apple.period("sub", from: 0), user: "ken")
        try await apple.attach(apple.period("sub", from: 30), user: "ken")
        _ = try await desk.gateway.grants.create(
            GrantRequest(sku: "vip_month", durationDays: 3, expiresAt: nil, reason: "sorry"),
            to: GatewayFixture.user("alice"),
            by: .admin, context: .test)
    }

    private static func replay(_ apple: AppStoreGatewayFixture) async throws -> ReplayReport {
        let report = Box<ReplayReport?>(nil)
        try await withDatabase(on: .sqlite) { scratch in
            report.value = try await ReplayInbox(source: apple.store, scratch: scratch.store, gateway: apple.gateway)
                .run()
        }
        return try #require(report.value)
    }

    @Test(arguments: TestEngine.allCases)
    func `what is stored is what was stated`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            try await Self.trade(apple)
            let before = try await apple.desk.count("events")
            let report = try await Self.replay(apple)
            #expect(report.differences == [])
            #expect(report.orders == 15 && report.skipped == 0, "\(report)")
            #expect(report.grants >= 10 && report.steps > 15, "\(report)")
            #expect(try await apple.desk.count("events") == before)
        }
    }

    /// What somebody could have changed behind our back.
    static let tamperings = [
        "UPDATE grants SET suspended = 1 - suspended WHERE source_kind = 'order' AND user_id = ?",
        "UPDATE grants SET tier = 'Gold' WHERE source_kind = 'order' AND user_id = ?",
        "DELETE FROM grants WHERE source_kind = 'order' AND user_id = ?",
        "UPDATE grants SET days = 9999 WHERE source_kind = 'order' AND user_id = ?",
        """
        INSERT INTO grants (id, user_id, sku, kind, tier, rank, source_kind, source_id, environment, purchased_at,
            perpetual, attributes)
        SELECT 'grt_00000000000000000000000000', user_id, sku, kind, tier, rank, 'order', 'none', environment, 1, 1, '{}'
        FROM grants WHERE user_id = ? AND source_kind = 'order'
        """,
        "UPDATE orders SET state = 'closed', paid_at = NULL, paid_by = NULL WHERE user_id = ?",
        "INSERT INTO balances (user_id, unit, environment, amount) VALUES (?, 'gold', 'Production', 5)",
    ]

    @Test(arguments: TestEngine.allCases, tamperings)
    func `what was not stated is found`(_ engine: TestEngine, _ tampering: String) async throws {
        var setup = AppStoreGatewayFixtureSetup()
        setup.desk.checksInvariants = false
        try await withAppleDesk(on: engine, setup) { apple in
            try await apple.desk.buy()
            #expect(try await Self.replay(apple).differences == [])
            try await apple.store.write { tx in
                guard let user = try tx.users.findID(GatewayFixture.user("alice")) else { return }
                try tx.execute(tampering, user)
            }
            #expect(try await Self.replay(apple).differences.count >= 1)
        }
    }
}

private final class Box<Value: Sendable>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
