package import Domain
import FoundationEssentials
import Logging
package import ProviderKit
import Store

extension Gateway {
    /// Attaches one purchase to its user.
    ///
    /// - Parameter consent: whether the store may be told how much was used; nil leaves what the customer said before.
    /// - Throws: `invalidTransaction`, `unknownProduct` (the purchase is kept), `purchaseBelongsToAnotherUser`,
    ///   `purchaseRevoked` (recorded), `noProviderAvailable` where no account verifies store purchases.
    package func attachPurchase(
        _ evidence: PurchaseEvidence, fallback: PurchaseFallback?, consent: Bool? = nil, user: ExternalUserID,
        context: CallContext
    ) async throws(GatewayError) -> AttachedPurchase {
        let claim = try await verification.run { () throws(GatewayError) in
            try self.claim(evidence, fallback: fallback)
        }
        let outcome = try await settle([claim], consent: consent, user: user, context: context).first
        guard let outcome else { throw .internalError }
        return try outcome.attached(claim.purchase)
    }

    /// Verifies evidence by the accounts that can, and seals it for keeping.
    func claim(
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

    /// Settles claims of one user in one transaction, in an order that two batches share.
    func settle(
        _ claims: [PurchaseClaim], consent: Bool? = nil, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> [ClaimOutcome] {
        let order = claims.indices.sorted {
            let (left, right) = (claims[$0].purchase, claims[$1].purchase)
            return (left.originalTransactionID, left.purchasedAt, $0) < (
                right.originalTransactionID, right.purchasedAt, $1
            )
        }
        return try await settle(AuditContext(actor: context.actor, requestID: context.requestID)) { settlement in
            let claimant = try settlement.ownership.lockHolders(of: claims, claimant: user)
            var outcomes: [Int: ClaimOutcome] = [:]
            for index in order {
                outcomes[index] = try settlement.purchases.attach(
                    claims[index], claimant: claimant, name: user.rawValue)
                // Whose purchase it is not has no rows of it, and nothing to say.
                if let consent {
                    let subject = StoreSubject(claims[index].purchase)
                    try settlement.tx.purchases.setConsumptionConsent(consent, subject, user: claimant)
                }
            }
            return claims.indices.compactMap { outcomes[$0] }
        }
    }

    /// The evidence stays readable for an admin and for a later check, and for nobody who only has the database.
    func sealed(_ evidence: PurchaseEvidence, _ purchase: StorePurchase) throws(PurchaseRefusal) -> Data {
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
}
