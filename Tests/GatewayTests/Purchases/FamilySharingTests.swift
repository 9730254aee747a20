import Gateway
import Store
import TestSupport
import Testing

@testable import Domain

/// Family members pay nothing.
@Suite("Purchases: family sharing")
struct FamilySharingTests {
    private static let shared: [String: JSONValue] = ["inAppOwnershipType": .string("FAMILY_SHARED")]

    @Test(
        arguments: TestEngine.allCases,
        [
            (10_990, "SEK", Money.sample(0, "SEK")), (nil, "SEK", Money.sample(0, "SEK")), (10_990, nil, nil),
        ] as [(Int64?, String?, Money?)])
    func `a member pays nothing and leaves without a refund`(
        _ engine: TestEngine, _ told: (price: Int64?, currency: String?, charged: Money?)
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.period("shared", from: 0) {
                ($0.price, $0.currency, $0.more) = (told.price, told.currency, Self.shared)
            }
            let attached = try await apple.attach(sale)
            #expect(attached.active)
            #expect(try await apple.order(attached).order.charged == told.charged)
            let left = sale.signedAgain(after: 10) {
                $0.revoked = sale.purchased + 10_000
                $0.more["revocationType"] = .string("FAMILY_REVOKE")
            }
            try await apple.notify(AppleNotice("REVOKE", nil, left, status: 5, at: apple.now))
            #expect(try await !apple.status().active)
            let shown = try await apple.order(attached)
            #expect(shown.status == .paid && shown.order.refunded == 0 && shown.refunds.isEmpty)
            #expect(try await apple.desk.events(attached.order_id) == ["order.paid"])
            let paid = try await apple.store.read { db in
                try db.orders.list(OrderFilter(status: .paid), before: nil, limit: 5).map(\.id.rawValue)
            }
            #expect(paid == [attached.order_id])
            let days = try await apple.store.read { db in
                try db.reports.listDays(from: Timestamp(0), to: .farFuture.adding(days: -2))
            }
            #expect(days.allSatisfy { $0.charged == 0 && $0.refunded == 0 })
            let told = try await apple.gateway.reports.explain(
                user: GatewayFixture.user("alice"), sku: nil, reader: .user, languages: ["en"])
            #expect(told.facts.contains { $0.type == "order.sharing_ended" })
            // Whoever comes back has it again.
            try await apple.notify(AppleNotice("SUBSCRIBED", nil, sale.signedAgain(after: 20), at: apple.now))
            #expect(try await apple.status().active)
            #expect(try await apple.desk.events(attached.order_id) == ["order.paid"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a leaving member's own purchase is no refund either`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let sale = apple.sale("com.example.ring", AppleSale.nonConsumable) {
                ($0.price, $0.currency) = (1_990, "USD")
            }
            let attached = try await apple.attach(sale)
            let left = sale.signedAgain(after: 10) {
                ($0.revoked, $0.percentage) = (sale.purchased + 10_000, 10_000)
                $0.more["revocationType"] = .string("FAMILY_REVOKE")
            }
            try await apple.notify(AppleNotice("REVOKE", nil, left, at: apple.now))
            #expect(try await apple.desk.snapshot().entitlements.map(\.status) == [.revoked])
            #expect(try await apple.order(attached).status == .paid)
        }
    }
}

extension Money {
    fileprivate static func sample(_ value: Int64, _ code: String) -> Money? {
        Currency(code).map { Money(value: value, currency: $0) }
    }
}
