import Domain
import Logging
import ProviderKit
import Store

extension Gateway {
    /// Grants the kept purchases whose product a SKU knows by now.
    ///
    /// One that cannot be granted stays kept and blocks no other.
    func grantUnmapped(cause: Cause) async {
        var cursor: (Environment, String)?
        while true {
            guard let page = try? await read({ [cursor] db in try db.unmappedPurchases(after: cursor, limit: 100) }),
                let last = page.last
            else { return }
            for record in page {
                guard let owner = record.user else { continue }
                let rules = (registry[record.account]?.provider as? any PurchaseVerifying)?.testPurchases ?? .worthless
                let claim = PurchaseClaim(
                    purchase: record.purchase, account: record.account, evidence: nil, rules: rules, fallback: nil)
                do throws(GatewayError) {
                    _ = try await settle(cause) { settlement in
                        let name = try settlement.tx.externalUserID(owner) ?? ""
                        try settlement.lockHolders(of: [claim], claimant: owner)
                        return try settlement.settle(claim, claimant: owner, name: name, mayChangeHands: false)
                    }
                } catch {
                    logger.error(
                        "a kept purchase cannot be granted",
                        metadata: ["transaction": "\(record.purchase.transactionID)"])
                }
            }
            cursor = (last.purchase.environment, last.purchase.key(claimant: last.user))
        }
    }
}
