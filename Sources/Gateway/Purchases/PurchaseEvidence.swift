import Domain
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
