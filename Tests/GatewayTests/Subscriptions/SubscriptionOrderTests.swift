import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Subscriptions: every order of arrival")
struct SubscriptionOrderTests {
    /// Signed facts about one subscription, each with a purchase, a renewal or both.
    struct Story: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let facts: [StoreStatement]
    }

    private static let day: Int64 = 86_400_000
    private static let start: Int64 = 1_767_225_600_000

    private static func period(
        _ index: Int64, signed: Int64, upgraded: Bool = false, revoked: Bool = false,
        product: String = "com.example.apple.auto",
        original: String
    ) -> StorePurchase {
        StorePurchase(
            environment: .production, bundleID: "com.example.app", productID: product,
            transactionID: "\(original)-\(index)",
            originalTransactionID: original, kind: .autoRenewable, purchasedAt: start + index * 30 * day,
            expiresAt: start + (index + 1) * 30 * day, signedAt: start + signed * day, quantity: 1,
            priceMilliunits: 29_900, currency: Currency("CNY"), appAccountToken: nil, isRenewal: index > 0,
            isUpgraded: upgraded, isFamilyShared: false,
            revocation: revoked ? .init(at: start + signed * day, reason: 0, percentage: nil) : nil)
    }

    private static func renewal(
        signed: Int64, willRenew: Bool = true, retry: Bool = false, grace: Int64? = nil, original: String
    ) -> StoreRenewal {
        var renewal = StoreRenewal(
            environment: .production, originalTransactionID: original, signedAt: start + signed * day)
        renewal.willRenew = willRenew
        renewal.isInBillingRetry = retry
        renewal.graceEndsAt = grace.map { start + $0 * day }
        return renewal
    }

    static func stories(_ original: String) -> [Story] {
        func fact(_ purchase: StorePurchase?, _ renewal: StoreRenewal? = nil) -> StoreStatement {
            StoreStatement(purchase: purchase, renewal: renewal)
        }
        return [
            Story(
                testDescription: "renewed, switched off, refunded, reversed, expired",
                facts: [
                    fact(period(0, signed: 0, original: original), renewal(signed: 0, original: original)),
                    fact(period(1, signed: 30, original: original), renewal(signed: 30, original: original)),
                    fact(nil, renewal(signed: 31, willRenew: false, original: original)),
                    fact(period(1, signed: 32, revoked: true, original: original)),
                    fact(period(1, signed: 33, original: original)),
                    fact(
                        period(0, signed: 34, revoked: true, original: original),
                        renewal(signed: 34, willRenew: false, original: original)),
                ]),
            Story(
                testDescription: "upgraded, in grace, in retry, refunded at last",
                facts: [
                    fact(period(0, signed: 0, original: original), renewal(signed: 0, original: original)),
                    fact(period(0, signed: 10, upgraded: true, original: original)),
                    fact(period(1, signed: 10, product: "com.example.pro.auto", original: original)),
                    fact(nil, renewal(signed: 60, retry: true, grace: 66, original: original)),
                    fact(nil, renewal(signed: 66, retry: true, original: original)),
                    fact(period(1, signed: 70, revoked: true, product: "com.example.pro.auto", original: original)),
                ]),
        ]
    }

    /// The result of all facts, without ids and times of arrival.
    struct End: Equatable {
        let grants: [String]
        let subscriptions: [String]
        let orders: [String]
    }

    @Test(arguments: TestEngine.allCases, [0, 1])
    func `every permutation of six signed facts ends in one state`(_ engine: TestEngine, _ number: Int) async throws {
        try await withAppleDesk(on: engine) { apple in
            let orders = permutations(Array(0..<6))
            #expect(orders.count == 720)
            var ends: [End] = []
            // The result does not depend on the first claim either: half of the users are known before, half come last.
            for (index, order) in orders.enumerated() {
                let facts = Self.stories("sub\(index)")[number].facts
                ends.append(
                    try await Self.end(
                        order.map { facts[$0] }, of: "sub\(index)", claimed: index.isMultiple(of: 2), at: apple))
            }
            let first = try #require(ends.first)
            #expect(!first.grants.isEmpty && !first.subscriptions.isEmpty && first.orders.count == 2)
            for (end, order) in zip(ends, orders) { #expect(end == first, "\(order)") }
        }
    }

    /// Applies all facts in one transaction, so that thousands of orders take seconds.
    private static func end(
        _ facts: [StoreStatement], of original: String, claimed: Bool, at apple: AppStoreGatewayFixture
    ) async throws -> End {
        let (ids, now, gateway) = (apple.gateway.ids, apple.now, apple.gateway)
        let source = try gateway.registry.source(of: .test("apple-iap"))
        let user = GatewayFixture.user(original)
        return try await gateway.settlements.run(AuditContext(actor: .system("test"), requestID: "")) { settlement in
            let tx = settlement.tx
            let owner = try tx.users.ensure(user, candidate: ids.make(), at: now)
            let claim = period(0, signed: -1, original: original)
            if claimed { _ = try tx.purchaseOwners.bind(StoreSubject(claim), to: owner, at: now) }
            for fact in facts { try settlement.purchases.apply(fact, from: source) }
            if !claimed {
                let claim = PurchaseClaim(
                    purchase: claim, account: source.account, evidence: nil, rules: source.rules, fallback: nil)
                _ = try settlement.purchases.attach(claim, claimant: owner, name: original)
            }
            let grants = try tx.grants.list(of: owner).value().map {
                "\($0.sku) \($0.term) \($0.purchasedAt) \(String(describing: $0.revocation)) \(String(describing: $0.renewal))"
            }
            let subscriptions = try tx.subscriptions.list(of: owner, before: nil, limit: 5).compactMap { record in
                try SubscriptionSnapshot.load(record, from: tx, at: now).map {
                    "\($0.status) \($0.product_id ?? "") \($0.expires_at) \(String(describing: $0.grace_expires_at)) \($0.will_renew)"
                }
            }
            let orders = try tx.purchases.list(.production, original: original).map { record in
                let order = try record.order.flatMap { try tx.orders.find($0) }
                return "\(record.purchase.transactionID.suffix(1)) \(order.map { "\($0.status)" } ?? "none")"
            }
            return End(grants: grants, subscriptions: subscriptions, orders: orders)
        }
    }
}
