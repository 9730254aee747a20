import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: subscriptions")
struct PurchaseSubscriptionTests {
    /// Signed facts about one subscription, and where all their orders of arrival end.
    struct Story: Sendable, CustomTestStringConvertible {
        enum Fact: Sendable {
            /// The period of this number, of the VIP or the Pro product.
            case period(Int64, pro: Bool = false)
            /// The same transaction, signed again later.
            case upgraded(Int64), revoked(Int64, pro: Bool = false), reversed(Int64), shortened(Int64)
        }

        let testDescription: String
        let facts: [Fact]
        let tier: String
        /// The period whose end is the grant's; nil: nothing is left.
        let lasts: Int64?
        var days: Int64 = 30
        var status = "active"
    }

    static let stories = [
        Story(
            testDescription: "four periods", facts: [.period(0), .period(1), .period(2), .period(3)], tier: "VIP",
            lasts: 3),
        Story(
            testDescription: "an upgrade",
            facts: [.period(0), .upgraded(0), .period(1, pro: true), .period(2, pro: true)],
            tier: "Pro", lasts: 2),
        Story(
            testDescription: "an upgrade whose successor has not come", facts: [.period(0), .upgraded(0)], tier: "VIP",
            lasts: nil, status: "upgraded"),
        Story(
            testDescription: "an upgrade and a revocation of what it led to",
            facts: [.period(0), .upgraded(0), .period(1, pro: true), .revoked(1, pro: true)], tier: "Pro", lasts: 1,
            status: "revoked"),
        Story(
            testDescription: "a revocation of the current period", facts: [.period(0), .period(1), .revoked(1)],
            tier: "VIP", lasts: 1, status: "revoked"),
        Story(
            testDescription: "a revocation of an older period",
            facts: [.period(0), .revoked(0), .period(1), .period(2)], tier: "VIP", lasts: 2),
        Story(
            testDescription: "a revocation that Apple reversed", facts: [.period(0), .revoked(0), .reversed(0)],
            tier: "VIP", lasts: 0),
        Story(
            testDescription: "an end that Apple moved", facts: [.period(0), .shortened(0)], tier: "VIP", lasts: 0,
            days: 29),
    ]

    @Test(arguments: TestEngine.allCases, stories)
    func `every order of arrival ends in one state`(_ engine: TestEngine, _ story: Story) async throws {
        try await withAppleDesk(on: engine) { apple in
            let start = apple.now
            for (number, facts) in permutations(story.facts).enumerated() {
                let user = "user\(number)"
                for fact in facts { _ = try await apple.refusal(Self.sale(fact, number, apple), user: user) }
                let grants = try await apple.grants(user)
                let grant = try #require(grants.first)
                #expect(grants.count == 1 && grant.tier == story.tier, "\(facts)")
                let end = story.lasts.map { start.adding(days: $0 * 30 + story.days) } ?? start
                #expect(grant.term == .until(end) && grant.purchasedAt == start, "\(facts)")
                #expect(grant.source == .init(kind: .appleSubscription, id: "sub\(number)"))
                #expect((grant.revocation != nil) == (story.status == "revoked"), "\(facts)")
                let status = try await apple.status(user)
                #expect(status.active == (story.status == "active") && status.status == story.status, "\(facts)")
                #expect(status.will_renew == status.active)
            }
        }
    }

    /// Times are those of the facts, never those of their arrival.
    private static func sale(_ fact: Story.Fact, _ number: Int, _ apple: AppStoreGatewayFixture) -> AppleSale {
        func period(_ index: Int64, _ pro: Bool = false) -> AppleSale {
            apple.period("sub\(number)", from: index * 30, pro ? "com.example.pro.auto" : "com.example.apple.auto") {
                $0.id = "sub\(number)-\(index)"
                $0.isRenewal = index > 0
                ($0.price, $0.currency) = (29_900, "CNY")
            }
        }
        switch fact {
        case .period(let index, let pro): return period(index, pro)
        case .upgraded(let index): return period(index).signedAgain(after: 100) { $0.isUpgraded = true }
        case .revoked(let index, let pro):
            return period(index, pro).signedAgain(after: 200) { $0.revoked = $0.signed }
        case .reversed(let index): return period(index).signedAgain(after: 300)
        case .shortened(let index):
            return period(index).signedAgain(after: 100) { $0.expires = $0.purchased + 29 * 86_400_000 }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a subscription is one grant with an order for each transaction`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let start = apple.now
            let asked = try await apple.ask("apple_auto")
            let first = try await apple.attach(apple.period("one", from: 0))
            #expect(first.order_id == asked.order.rawValue && first.expires_at == start.adding(days: 30).rawValue)
            let renewal = apple.period("one", from: 30) { $0.isRenewal = true }
            let second = try await apple.attach(renewal)
            #expect(second.order_id != first.order_id && second.expires_at == start.adding(days: 60).rawValue)
            #expect(try await apple.order(second).order.origin == .renewal)
            let subscription = try #require(try await apple.subscriptions().first).id
            for attached in [first, second] {
                #expect(try await apple.order(attached).subscription == subscription)
                let paid = try await apple.desk.eventData(attached.order_id).last
                guard case .object(let fields)? = paid else { throw GatewayError.internalError }
                #expect(fields["subscription_id"] == .string(subscription.rawValue))
            }
            #expect(try await apple.grants().count == 1)
            apple.desk.clock.advance(days: 61)
            let status = try await apple.status()
            #expect(!status.active && status.status == "expired" && status.expires_at == 0 && !status.will_renew)
            #expect(try await !apple.attach(renewal).active)
        }
    }

    /// Percentages that Apple signs with a revocation, in thousandths, what the order shows and how many of 20 units are left.
    static let refunds: [(price: Int64?, percentage: Int64?, refunded: Int64, status: Order.Status, left: Int64)] = [
        (39_900, nil, 3990, .refunded, 0), (39_900, 100_000, 3990, .refunded, 0),
        (39_900, 50_000, 1995, .partiallyRefunded, 10), (39_900, 33_333, 1329, .partiallyRefunded, 13),
        (39_900, 0, 0, .paid, 20), (39_900, 200_000, 3990, .refunded, 0),
    ]

    @Test(arguments: TestEngine.allCases)
    func `who buys again renews again, whatever was said before`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let first = apple.period("again", from: 0)
            try await apple.attach(first)
            apple.desk.clock.advance(days: 31)
            let ended = AppleRenewal(first, signed: apple.now.rawValue * 1_000) { $0.willRenew = false }
            try await apple.notify(AppleNotice("EXPIRED", "VOLUNTARY", first, ended, status: 2, at: apple.now))
            #expect(try await !apple.status().will_renew)
            apple.desk.clock.advance(days: 1)
            try await apple.attach(apple.period("again", from: 0))
            let status = try await apple.status()
            #expect(status.active && status.will_renew)
            #expect(try await apple.subscriptions().first?.will_renew == true)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a revocation after the attach takes back what its transaction gave`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (number, refund) in Self.refunds.enumerated() {
                let user = "user\(number)"
                let pass = apple.sale { ($0.price, $0.currency) = (refund.price, "CNY") }
                let gems = apple.sale("com.example.gems", AppleSale.consumable) { $0.quantity = 2 }
                let kept = apple.sale("merchant.example.day7")
                let attached = try await apple.attach(pass, user: user)
                try await apple.attach(kept, user: user)
                try await apple.attach(gems, user: user)
                for sale in [pass, gems] {
                    let revoked = sale.signedAgain(after: 50) {
                        $0.revoked = $0.signed
                        $0.percentage = refund.percentage
                    }
                    let refusal: GatewayError? = refund.left == 0 ? .purchaseRevoked : nil
                    for _ in 0..<2 { #expect(try await apple.refusal(revoked, user: user) == refusal) }
                    // The older version does not bring it back.
                    #expect(try await apple.refusal(sale, user: user) == refusal)
                }
                let order = try await apple.order(attached)
                #expect(order.order.refunded == refund.refunded && order.status == refund.status, "\(refund)")
                #expect(try await apple.desk.snapshot(user).balances == ["gems": refund.left])
                #expect(try await apple.status(user).tier == (refund.left == 0 ? "Basic" : "VIP"))
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `orders are found by what apple gave back`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            var expected: [Order.Status: [String]] = [.open: [], .closed: []]
            for price in [39_900, nil] as [Int64?] {
                for (percentage, status) in [(nil, .paid), (100_000, .refunded), (10_000, .partiallyRefunded)]
                    as [(Int64?, Order.Status)]
                {
                    let sale = apple.sale { ($0.price, $0.currency) = (price, price.map { _ in "CNY" }) }
                    expected[status, default: []].insert(try await apple.attach(sale).order_id, at: 0)
                    guard let percentage else { continue }
                    _ = try await apple.refusal(
                        sale.signedAgain(after: 5) { ($0.revoked, $0.percentage) = ($0.signed, percentage) })
                }
            }
            for (status, orders) in expected {
                let found = try await apple.gateway.orders.list(OrderQuery(status: status), cursor: nil, limit: 50)
                #expect(found.items.map(\.order.id.rawValue) == orders, "\(status)")
                #expect(found.items.allSatisfy { $0.status == status })
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a revocation before the attach is recorded and gives nothing`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for sale in [
                apple.sale(), apple.sale("com.example.gems", AppleSale.consumable), apple.period("gone", from: 0),
                apple.sale("com.example.unknown"),
            ] {
                let revoked = sale.signedAgain(after: 50) { $0.revoked = $0.signed }
                #expect(try await apple.refusal(revoked) == .purchaseRevoked)
                let record = try await apple.record(sale)
                #expect(record?.purchase.revocation?.at == revoked.revoked && record?.user != nil)
                #expect(try await apple.refusal(sale) == .purchaseRevoked)
                #expect(try await apple.refusal(revoked, user: "bob") == .purchaseBelongsToAnotherUser)
            }
            #expect(try await !apple.status().active)
            #expect(try await apple.desk.snapshot().balances == ["gems": 0])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund that apple reversed gives everything back`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for sale in [
                apple.sale { ($0.price, $0.currency) = (39_900, "CNY") },
                apple.sale("com.example.gems", AppleSale.consumable),
                apple.sale("com.example.ring", AppleSale.nonConsumable),
            ] {
                let attached = try await apple.attach(sale)
                for round in 0..<2 as Range<Int64> {
                    let revoked = sale.signedAgain(after: 50 + 100 * round) { $0.revoked = $0.signed }
                    #expect(try await apple.refusal(revoked) == .purchaseRevoked)
                    #expect(try await apple.attach(sale.signedAgain(after: 100 + 100 * round)) == attached)
                    #expect(try await apple.order(attached).status == .paid)
                }
            }
            #expect(try await apple.desk.snapshot().balances == ["gems": 10])
            #expect(try await apple.status().tier == "VIP")
        }
    }
}
