package import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

/// Verifies the evidence of purchases with the accounts that can, and seals it.
struct EvidenceVerifier: Sendable {
    let registry: ProviderRegistry
    let keyRing: KeyRing
    let threads: BackgroundThreads
    let lines: RepeatedLines
    let logger: Logger

    /// Verifies evidence on the threads for signatures.
    ///
    /// - Throws: `invalidTransaction`, `noProviderAvailable` where no account verifies store purchases.
    func verify(
        _ evidence: PurchaseEvidence, fallback: PurchaseFallback? = nil
    ) async throws(GatewayError) -> PurchaseClaim {
        try await threads.run { () throws(GatewayError) in try claim(evidence, fallback: fallback) }
    }

    /// Verifies several signed transactions in one run on the threads for signatures.
    func verify(_ transactions: ArraySlice<String>) async throws(GatewayError) -> [Result<PurchaseClaim, GatewayError>]
    {
        try await threads.run {
            transactions.map { jws in
                Result { () throws(GatewayError) in try claim(.signedTransaction(jws), fallback: nil) }
            }
        }
    }

    private func claim(
        _ evidence: PurchaseEvidence, fallback: PurchaseFallback?
    ) throws(GatewayError) -> PurchaseClaim {
        var refusal: PurchaseRefusal?
        for account in registry.accounts where account.enabled {
            guard let provider = account.provider as? any PurchaseVerifying else { continue }
            do throws(PurchaseRefusal) {
                let purchase = try provider.verify(evidence)
                return PurchaseClaim(
                    purchase: purchase, account: account.id, evidence: try sealed(evidence, purchase),
                    rules: provider.testPurchases, fallback: fallback)
            } catch {
                refusal = error
            }
        }
        guard let refusal else { throw .noProviderAvailable }
        let metadata: Logger.Metadata = ["reason": "\(refusal.reason.rawValue)", "detail": "\(refusal.detail)"]
        lines.write("a purchase was refused", metadata) { logger.info("a purchase was refused", metadata: $0) }
        throw .invalidTransaction(refusal.reason)
    }

    /// Seals evidence: an admin and a later check can read it, but not a reader of the database.
    private func sealed(_ evidence: PurchaseEvidence, _ purchase: StorePurchase) throws(PurchaseRefusal) -> Data {
        let text =
            switch evidence {
            case .signedTransaction(let jws): jws
            case .simulatorReceipt(let receipt): receipt
            }
        guard let sealed = try? keyRing.seal(Data(text.utf8), context: purchase.evidenceContext) else {
            throw PurchaseRefusal(.malformed, detail: "the evidence cannot be sealed")
        }
        return sealed
    }

    /// Returns the statements of a store's answer, each with its sealed evidence.
    func statements(of answer: StoreAnswer, from account: AccountID) -> [SourcedStatement] {
        if answer.refused > 0 {
            logger.warning(
                "a store answered what does not verify",
                metadata: ["account": "\(account.rawValue)", "count": "\(answer.refused)"])
        }
        return answer.items.map { item in
            let evidence = item.evidence.flatMap { evidence in
                item.statement.purchase.flatMap { try? sealed(evidence, $0) }
            }
            return SourcedStatement(
                statement: item.statement, source: registry.source(of: account, evidence: evidence))
        }
    }
}

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
