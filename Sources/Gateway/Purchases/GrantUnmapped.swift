import Domain
import Logging
import ProviderKit
import Store

extension Gateway {
    /// Grants the kept purchases whose product a SKU knows by now, so that who asks next has them; what this leaves behind
    /// is the job's that came with the change of the catalogue.
    func grantUnmappedNow(cause: AuditContext) async {
        do throws(GatewayError) { _ = try await grantUnmapped(cause: cause) } catch {
            logger.notice("kept purchases are granted later", metadata: ["error": "\(error)"])
        }
    }

    /// The same again a while after a change of the catalogue: a purchase that was being kept meanwhile did not know of it,
    /// nor did the change of the purchase.
    func grantUnmapped(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard try await grantUnmapped(cause: cause(job)) else { throw .temporarilyUnavailable(retryAfter: 60) }
        return .done
    }

    /// Settles every kept purchase anew; one that cannot be stays kept and blocks no other.
    ///
    /// - Returns: whether all of them could.
    private func grantUnmapped(cause: AuditContext) async throws(GatewayError) -> Bool {
        var cursor: (Environment, String)?
        var isWhole = true
        while true {
            let page = try await read { [cursor] db in try db.purchases.listUnmapped(after: cursor, limit: 100) }
            guard let last = page.last else { return isWhole }
            for record in page {
                guard let owner = record.user else { continue }
                let rules = registry.source(of: record.account).rules
                let claim = PurchaseClaim(
                    purchase: record.purchase, account: record.account, evidence: nil, rules: rules, fallback: nil)
                do throws(GatewayError) {
                    _ = try await settle(cause) { settlement in
                        let name = try settlement.tx.users.findExternalID(owner) ?? ""
                        try settlement.ownership.lockHolders(of: [claim], besides: owner)
                        return try settlement.purchases.attach(
                            claim, claimant: owner, name: name, mayChangeHands: false)
                    }
                } catch .leaseLost {
                    throw .leaseLost
                } catch {
                    isWhole = false
                    logger.error(
                        "a kept purchase cannot be granted",
                        metadata: ["transaction": "\(record.purchase.transactionID)"])
                }
            }
            cursor = (last.purchase.environment, last.purchase.key(claimant: last.user))
        }
    }
}
