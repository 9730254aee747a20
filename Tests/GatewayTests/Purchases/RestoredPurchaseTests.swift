import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: one that has several ids")
struct RestoredPurchaseTests {
    /// A purchase under its first id and under a further one.
    struct Pair: Sendable {
        let first: AppleSale
        let second: AppleSale

        /// Signs one of the two again after Apple revoked the purchase.
        func refund(_ sale: AppleSale) -> AppleSale { sale.signedAgain(after: 600) { $0.revoked = $0.signed } }
    }

    enum Kind: CaseIterable, Sendable {
        case ring, untold, period, namedPeriod

        func pair(_ original: String, at apple: AppStoreGatewayFixture) -> Pair {
            let sale =
                switch self {
                case .ring: apple.sale("com.example.ring", AppleSale.nonConsumable)
                case .untold: apple.sale("com.example.ring", "Something New")
                case .period: apple.period(original, from: 0)
                case .namedPeriod: apple.period(original, from: 0) { $0.line = "7000\(original)" }
                }
            let first = sale.with { ($0.id, $0.original, $0.price, $0.currency) = (original, original, 29_900, "CNY") }
            let second = first.with { $0.id = "\(original)-again" }
            // Only the subscription's line shows that the two are one.
            return Pair(first: first, second: self == .namedPeriod ? second.with { $0.purchased += 5_000 } : second)
        }
    }

    enum Fact: CaseIterable, Sendable {
        case first, second, refundOfFirst, refundOfSecond

        fileprivate func happen(_ pair: Pair, user: String, at apple: AppStoreGatewayFixture) async throws {
            switch self {
            case .first: _ = try await apple.refusal(pair.first, user: user)
            case .second: _ = try await apple.refusal(pair.second, user: user)
            case .refundOfFirst:
                try await apple.notify(AppleNotice("REFUND", nil, pair.refund(pair.first), at: apple.now))
            case .refundOfSecond:
                try await apple.notify(AppleNotice("REFUND", nil, pair.refund(pair.second), at: apple.now))
            }
        }
    }

    /// The facts about a purchase, in several orders.
    static let stories: [[Fact]] = [
        [.first, .second], [.second, .refundOfFirst], [.first, .refundOfSecond], [.first, .second, .refundOfFirst],
        [.first, .second, .refundOfSecond], [.first, .second, .refundOfFirst, .refundOfSecond],
    ]

    @Test(arguments: TestEngine.allCases, Kind.allCases)
    func `it is one order, and a refund under any of them takes it back`(
        _ engine: TestEngine, _ kind: Kind
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (number, facts) in Self.stories.enumerated() {
                let isRefunded = facts.contains(.refundOfFirst) || facts.contains(.refundOfSecond)
                for (index, order) in permutations(facts).enumerated() {
                    let user = "user\(number)x\(index)"
                    let pair = kind.pair("\(number)00\(index)", at: apple)
                    for fact in order { try await fact.happen(pair, user: user, at: apple) }
                    let snapshot = try await apple.desk.snapshot(user)
                    #expect(snapshot.entitlements.contains { $0.status.holds } != isRefunded, "\(order)")
                    let orders = try await apple.gateway.orders.list(
                        OrderQuery(user: GatewayFixture.user(user)), cursor: nil, limit: 50
                    ).items
                    #expect(orders.map(\.status) == [isRefunded ? .refunded : .paid], "\(order)")
                    #expect(orders.allSatisfy { $0.order.anomalies.isEmpty }, "\(order)")
                    for sale in [pair.first, pair.second] {
                        let refusal = try await apple.refusal(sale, user: user)
                        #expect(refusal == (isRefunded ? .purchaseRevoked : nil), "\(order)")
                        #expect(try await apple.refusal(sale, user: "z") == .purchaseBelongsToAnotherUser, "\(order)")
                    }
                    #expect(try await apple.grants(user).count == 1, "\(order)")
                }
            }
        }
    }

    @Test(arguments: TestEngine.allCases, Kind.allCases)
    func `a further id changes nothing, and is answered as it came`(_ engine: TestEngine, _ kind: Kind) async throws {
        try await withAppleDesk(on: engine) { apple in
            let pair = kind.pair("1000", at: apple)
            let first = try await apple.attach(pair.first)
            let version = try await apple.desk.snapshot().version
            let second = try await apple.attach(pair.second)
            #expect(second.active && second.order_id == first.order_id && second.expires_at == first.expires_at)
            #expect(first.transaction_id == "1000" && second.transaction_id == "1000-again")
            #expect(second.original_transaction_id == "1000")
            #expect(
                try await apple.restore([pair.second.jws, pair.first.jws]).allSatisfy { $0.status == .alreadyAttached })
            #expect(try await apple.desk.snapshot().version == version)
            #expect(try await apple.desk.events("1000") == ["purchase.attached"])
            for wait in PurchaseWait.allCases {
                #expect(try await apple.gateway.purchases.list(wait, cursor: nil, limit: 5).items.isEmpty)
            }
            // Apple signs it again at every query.
            for sale in [pair.first, pair.second] { try await apple.attach(sale.signedAgain(after: 60)) }
            #expect(try await apple.desk.snapshot().version == version)
            #expect(try await apple.desk.count("orders") == 1)
            #expect(try await apple.desk.count("purchases") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases, Kind.allCases)
    func `a refund that was reversed gives it again`(_ engine: TestEngine, _ kind: Kind) async throws {
        try await withAppleDesk(on: engine) { apple in
            let pair = kind.pair("1000", at: apple)
            for sale in [pair.second, pair.first] { try await apple.attach(sale) }
            for sale in [pair.first, pair.second] {
                try await apple.notify(AppleNotice("REFUND", nil, pair.refund(sale), at: apple.now))
            }
            try await apple.notify(
                AppleNotice("REFUND_REVERSED", nil, pair.first.signedAgain(after: 700), at: apple.now))
            // The other one was never reported.
            #expect(try await apple.refusal(pair.first) == .purchaseRevoked)
            try await apple.notify(
                AppleNotice("REFUND_REVERSED", nil, pair.second.signedAgain(after: 700), at: apple.now))
            #expect(try await apple.attach(pair.first).active)
            let orders = try await apple.gateway.orders.list(OrderQuery(), cursor: nil, limit: 5).items
            #expect(orders.map(\.status) == [.paid] && orders.first?.order.refunded == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what lies before and after a period is another order`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let start = apple.now
            for line in [false, true] {
                let (user, original) = ("user\(line)", "sub\(line)")
                let periods = (0..<3 as Range<Int64>).map { number in
                    apple.period(original, from: number * 30 - 70) {
                        ($0.id, $0.isRenewal) = ("\(original)-\(number)", number > 0)
                        $0.line = line ? "\(number)" : nil
                    }
                }
                let again = periods.map { period in period.with { $0.id += "-again" } }
                for sale in [again[1], periods[0], periods[2], again[0], periods[1], again[2]] {
                    try await apple.attach(sale, user: user)
                }
                #expect(try await apple.status(user).active)
                let subscription = try #require(try await apple.subscriptions(user).first)
                #expect(Set(subscription.orders).count == 3 && subscription.orders.count == 3)
                #expect(subscription.sku == "apple_auto" && subscription.expires_at == start.adding(days: 20))
                // A refund of a period that is over, under an id that has no order of its own.
                let old = again[0].signedAgain(after: 600) { $0.revoked = $0.signed }
                try await apple.notify(AppleNotice("REFUND", nil, old, at: apple.now))
                #expect(try await apple.status(user).expires_at == start.adding(days: 20).rawValue)
                let current = again[2].signedAgain(after: 600) { $0.revoked = $0.signed }
                try await apple.notify(AppleNotice("REFUND", nil, current, at: apple.now))
                #expect(try await !apple.status(user).active)
                let orders = try await apple.gateway.orders.list(
                    OrderQuery(user: GatewayFixture.user(user)), cursor: nil, limit: 5
                ).items
                #expect(orders.count { $0.status == .refunded } == 2 && orders.count { $0.status == .paid } == 1)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the newest word about a period counts under whichever id it comes`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let pair = Kind.period.pair("1000", at: apple)
            for sale in [pair.first, pair.second] { try await apple.attach(sale) }
            let extended = pair.second.signedAgain(after: 60) { $0.expires = $0.purchased + 40 * 86_400_000 }
            try await apple.notify(AppleNotice("RENEWAL_EXTENDED", nil, extended, at: apple.now))
            #expect(try await apple.status().expires_at == pair.first.purchasedAt.adding(days: 40).rawValue)
            #expect(try await apple.attach(pair.first).expires_at == pair.first.purchasedAt.adding(days: 40).rawValue)
            let upgraded = pair.first.signedAgain(after: 120) { $0.isUpgraded = true }
            try await apple.notify(AppleNotice("DID_CHANGE_RENEWAL_PREF", "UPGRADE", upgraded, at: apple.now))
            #expect(try await apple.subscriptions().map(\.status) == [.upgraded])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a period that is restored after its end is no new one`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let first = apple.period("1000", from: -40) { ($0.id, $0.line) = ("1000", "a") }
            let second = apple.period("1000", from: -10) { ($0.line, $0.isRenewal) = ("b", true) }
            let restored = first.with {
                $0.id = "1000-again"
                $0.purchased += 35 * 86_400_000
            }
            for sale in [first, second, restored] {
                let attached = try await apple.attach(sale)
                #expect(attached.active == (sale.id != first.id) && attached.transaction_id == sale.id)
            }
            #expect(try await apple.status().expires_at == apple.now.adding(days: 20).rawValue)
            #expect(try await apple.desk.count("orders") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is used up, and a pass, is bought as often as it has ids`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (product, kind) in [
                ("com.example.gems", AppleSale.consumable), ("com.example.vip.month", AppleSale.pass),
            ] {
                let sale = apple.sale(product, kind)
                for id in [sale.id, "\(sale.id)-again"] {
                    try await apple.attach(sale.with { ($0.id, $0.original) = (id, sale.id) })
                }
            }
            #expect(try await apple.desk.snapshot().balances == ["gems": 20])
            #expect(try await apple.grants().count == 2)
            #expect(try await apple.desk.count("orders") == 4)
        }
    }

    /// Apple documents that a purchase, other than a restore, is its own original; a customer who pays again has it
    /// anyway.
    @Test(arguments: TestEngine.allCases)
    func `what was bought after a refund is a purchase, whatever its original`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            for (index, order) in permutations([Fact.first, .second, .refundOfFirst]).enumerated() {
                let (user, original) = ("user\(index)", "ring\(index)")
                let first = apple.sale("com.example.ring", AppleSale.nonConsumable) { $0.id = original }
                let pair = Pair(
                    first: first,
                    second: first.with {
                        ($0.id, $0.original) = ("\(original)-again", original)
                        $0.purchased += 700_000
                    })
                apple.desk.clock.advance(seconds: 701)
                for fact in order { try await fact.happen(pair, user: user, at: apple) }
                #expect(try await apple.attach(pair.second, user: user).active, "\(order)")
                #expect(try await apple.refusal(pair.first, user: user) == .purchaseRevoked, "\(order)")
                let orders = try await apple.gateway.orders.list(
                    OrderQuery(user: GatewayFixture.user(user)), cursor: nil, limit: 5
                ).items
                #expect(Set(orders.map(\.status)) == [.paid, .refunded] && orders.count == 2, "\(order)")
            }
        }
    }
}
