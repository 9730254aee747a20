import ProviderKit
import Store
import TestSupport

@testable import Domain
@testable import Gateway

/// The samples of the tests that call the ledgers of one transaction directly.
enum LedgerSamples {
    /// 1 January 2026, in seconds since 1970; before any clock of a test.
    static let start: Int64 = 1_767_225_600
    static let day: Int64 = 86_400

    /// A verified purchase; its times are days after ``start``.
    static func purchase(
        _ original: String, _ id: String? = nil, _ product: String = "com.example.vip.month",
        _ kind: StorePurchase.Kind = .nonRenewing, at bought: Int64 = 0, ends: Int64? = nil, signed: Int64? = nil,
        token: String? = nil, revoked: Int64? = nil, environment: Environment = .production
    ) -> StorePurchase {
        func milliseconds(_ days: Int64) -> Int64 { (start + days * day) * 1_000 }
        return StorePurchase(
            environment: environment, bundleID: "com.example.app", productID: product, transactionID: id ?? original,
            originalTransactionID: original, kind: kind, purchasedAt: milliseconds(bought),
            expiresAt: ends.map(milliseconds), signedAt: milliseconds(signed ?? bought), quantity: 1,
            priceMilliunits: 29_900, currency: Currency("CNY"), appAccountToken: token, isRenewal: false,
            isUpgraded: false, isFamilyShared: false,
            revocation: revoked.map { .init(at: milliseconds($0), reason: 0, percentage: nil) })
    }

    /// A period of 30 days of a subscription, numbered from 0.
    static func period(
        _ original: String, _ number: Int64, _ product: String = "com.example.apple.auto", shift: Int64 = 0,
        signed: Int64? = nil, revoked: Int64? = nil
    ) -> StorePurchase {
        purchase(
            original, "\(original)-\(number)", product, .autoRenewable, at: number * 30 + shift,
            ends: (number + 1) * 30 + shift, signed: signed, revoked: revoked)
    }

    static func renewal(_ original: String, signed: Int64, willRenew: Bool = true) -> StoreRenewal {
        var renewal = StoreRenewal(
            environment: .production, originalTransactionID: original, signedAt: (start + signed * day) * 1_000)
        renewal.willRenew = willRenew
        return renewal
    }

    static func claim(
        _ purchase: StorePurchase, fallback: PurchaseFallback? = nil, rules: TestPurchaseRules = anybody
    ) throws -> PurchaseClaim {
        PurchaseClaim(
            purchase: purchase, account: try .test("apple-iap"), evidence: nil, rules: rules, fallback: fallback)
    }

    /// The rules under which test purchases count for every user.
    static let anybody = TestPurchaseRules(entitled: .all, maxHours: 0)
}

extension AppStoreGatewayFixture {
    /// Runs a body in one transaction.
    func settle<T: Sendable>(_ body: @escaping @Sendable (Settlement) throws -> T) async throws -> T {
        try await gateway.settlements.run(AuditContext(actor: .system("test"), requestID: "")) { try body($0) }
    }
}

extension Settlement {
    /// Makes a user, or finds the one of this name, and locks it.
    func user(_ name: String) throws -> ID<User> {
        let user = try tx.users.ensure(GatewayFixture.user(name), candidate: ids.make(), at: now)
        try tx.users.lock(user)
        return user
    }
}
