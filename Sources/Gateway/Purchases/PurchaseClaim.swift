package import Domain
import FoundationEssentials
import ProviderKit

/// Somebody's claim of a verified purchase.
struct PurchaseClaim: Sendable {
    let purchase: StorePurchase
    /// The account whose provider verified it.
    let account: AccountID
    /// The sealed evidence; nil where what was kept before stands.
    let evidence: Data?
    let rules: TestPurchaseRules
    let fallback: PurchaseFallback?
}

/// What a client says about a product that the catalogue does not know (`api.md` section 6).
package struct PurchaseFallback: Sendable {
    package var durationDays: Int64?
    package var subscribeID: Int64

    package init(durationDays: Int64?, subscribeID: Int64) {
        self.durationDays = durationDays
        self.subscribeID = subscribeID
    }
}

/// How a claim ended; none of these is an error of the transaction, because even a refusal may have kept the purchase.
enum ClaimOutcome: Sendable {
    /// It is the claimant's; `isNew` when this claim made it so.
    case attached(AttachedPurchase, isNew: Bool)
    case unknownProduct
    case anotherUser
    case revoked
}

/// A purchase's grant as it now stands: the answer to an attach.
package struct AttachedPurchase: Encodable, Sendable, Equatable {
    package let expires_at: Int64
    package let tier: String
    /// Whether it holds now.
    package let active: Bool
    /// Where what it gives stands, as among the entitlements; `none` where nothing lasts.
    package let status: String
    package let perpetual: Bool
    package let sku: String
    package let order_id: String
    package let transaction_id: String
    package let original_transaction_id: String
    package let environment: String
    package let credited: [String: Int64]
    /// Not shown by attach: when the grant begins.
    package let startsAt: Timestamp

    private enum CodingKeys: String, CodingKey {
        case expires_at, tier, active, status, perpetual, sku, order_id, transaction_id, original_transaction_id,
            environment
        case credited
    }
}

extension ClaimOutcome {
    /// The attached purchase, or why it is not.
    func attached(_ purchase: StorePurchase) throws(GatewayError) -> AttachedPurchase {
        switch self {
        case .attached(let attached, _): return attached
        case .unknownProduct: throw .unknownProduct(purchase.productID)
        case .anotherUser: throw .purchaseBelongsToAnotherUser
        case .revoked: throw .purchaseRevoked
        }
    }
}
