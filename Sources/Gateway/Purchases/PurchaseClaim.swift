package import Domain
import FoundationEssentials
import ProviderKit
import Store

/// A user's claim of a verified purchase.
struct PurchaseClaim: Sendable {
    let purchase: StorePurchase
    /// The account whose provider verified the purchase.
    let account: AccountID
    /// The sealed evidence; nil leaves the evidence that is stored.
    let evidence: Data?
    let rules: TestPurchaseRules
    let fallback: PurchaseFallback?
}

extension PurchaseClaim {
    /// Makes a claim from a stored purchase, with the stored evidence.
    init(_ record: PurchaseRecord, rules: TestPurchaseRules) {
        self.init(
            purchase: record.purchase, account: record.account, evidence: nil, rules: rules, fallback: nil)
    }
}

/// The client's description of a product that the catalogue lacks (`docs/api.md`, section 6).
package struct PurchaseFallback: Sendable {
    package var durationDays: Int64?
    package var subscribeID: Int64

    package init(durationDays: Int64?, subscribeID: Int64) {
        self.durationDays = durationDays
        self.subscribeID = subscribeID
    }
}

/// The outcome of a claim.
///
/// None of these is an error of the database transaction, because even a refused claim stores the purchase.
enum ClaimOutcome: Sendable {
    /// The claimant owns the purchase; `isNew` is true where this claim made it so.
    case attached(AttachedPurchase, isNew: Bool)
    case unknownProduct
    case anotherUser
    case revoked
}

/// The current grant of a purchase: the answer to an attach.
package struct AttachedPurchase: Encodable, Sendable, Equatable {
    /// Seconds since 1970; 0 where the purchase gives no entitlement.
    package let expires_at: Int64
    package let tier: String
    /// True while the grant entitles.
    package let active: Bool
    /// The status of the entitlement; `none` where the purchase gives none.
    package let status: String
    package let perpetual: Bool
    package let sku: String
    package let order_id: String
    package let transaction_id: String
    package let original_transaction_id: String
    package let environment: String
    package let credited: [String: Int64]
    /// The start of the grant; left out of the JSON.
    package let startsAt: Timestamp

    private enum CodingKeys: String, CodingKey {
        case expires_at, tier, active, status, perpetual, sku, order_id, transaction_id, original_transaction_id,
            environment
        case credited
    }
}

extension AttachedPurchase {
    /// - Parameter owned: the user's entitlements, in any environment.
    init(
        _ purchase: StorePurchase, key: String, sku: SKU, order: ID<Order>, credited: [String: Int64],
        owned: [Entitlement]
    ) {
        let sourceID = purchase.isSubscription ? purchase.originalTransactionID : key
        let owned = owned.filter { $0.grant.environment == purchase.environment }
        // A duplicate purchase has no grant of its own while another one lasts.
        let isPerpetual = sku.kind(of: purchase) == .nonConsumable
        let entitlement =
            owned.first { $0.grant.source.id == sourceID }
            ?? owned.first {
                isPerpetual && $0.grant.kind == .nonConsumable && $0.grant.sku == sku.code && $0.status.holds
            }
        self.init(
            expires_at: entitlement.map { ($0.endsAt ?? .farFuture).rawValue } ?? 0,
            tier: entitlement?.grant.tier ?? "", active: entitlement?.status.holds ?? false,
            status: entitlement?.status.rawValue ?? "none",
            perpetual: entitlement.map { $0.endsAt == nil } ?? false, sku: sku.id, order_id: order.rawValue,
            transaction_id: purchase.transactionID, original_transaction_id: purchase.originalTransactionID,
            environment: purchase.environment.rawValue, credited: credited,
            startsAt: entitlement?.startsAt ?? purchase.purchased)
    }
}

extension ClaimOutcome {
    /// Returns the attached purchase.
    ///
    /// - Throws: `unknownProduct`, `purchaseBelongsToAnotherUser`, `purchaseRevoked`.
    func attached(_ purchase: StorePurchase) throws(GatewayError) -> AttachedPurchase {
        switch self {
        case .attached(let attached, _): return attached
        case .unknownProduct: throw .unknownProduct(purchase.productID)
        case .anotherUser: throw .purchaseBelongsToAnotherUser
        case .revoked: throw .purchaseRevoked
        }
    }
}
