import Domain
import Logging
import ProviderKit
import Store

extension Gateway {
    /// Brings purchases that an earlier release treated otherwise in line with what is made of them now, and tells whoever
    /// owns something else by that; one that cannot be blocks no other.
    func regradePurchases(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        let cause = cause(job)
        var cursor: (Environment, String)?
        var isWhole = true
        while true {
            let page = try await read { [cursor] db in try db.purchases.listOutdated(after: cursor, limit: 100) }
            guard let last = page.last else { break }
            for record in page {
                do throws(GatewayError) {
                    try await settle(cause) { settlement in try settlement.regradeKept(record) }
                } catch .leaseLost {
                    throw .leaseLost
                } catch {
                    isWhole = false
                    logger.error(
                        "a kept purchase cannot be regraded",
                        metadata: ["transaction": "\(record.purchase.transactionID)"])
                }
            }
            cursor = (last.purchase.environment, last.key)
        }
        guard isWhole else { throw .temporarilyUnavailable(retryAfter: 60) }
        return .done
    }
}

extension Settlement {
    /// Settles a given purchase again as it is kept.
    fileprivate func regradeKept(_ kept: PurchaseRecord) throws {
        guard let owner = kept.user else { return }
        let rules = registry.word(of: kept.account).rules
        let claim = PurchaseClaim(
            purchase: kept.purchase, account: kept.account, evidence: nil, rules: rules, fallback: nil)
        try lockHolders(of: [claim], besides: owner)
        // It can have changed before it was locked.
        guard let known = try tx.purchases.find(kept.purchase.environment, kept.key).value(), known.user == owner,
            let record = try tx.purchases.listTransactions(of: known).first, let order = record.order
        else { return }
        var changed: Set<ID<User>> = []
        if record.purchase.isSubscription, record.purchase.kind != .autoRenewable {
            changed.formUnion(try tx.grants.delete(ofTransaction: record.key, in: record.purchase.environment))
        }
        changed.formUnion(try bringInLine(record, key: record.key, order: order, rules: rules))
        let entitled = try rules.entitles(tx.users.findExternalID(owner) ?? "")
        if record.purchase.isSubscription,
            try regradeSubscription(record.purchase, owner: owner, entitled: entitled, rules: rules)
        {
            changed.insert(owner)
        }
        for user in changed.sorted() { try touch(user) }
    }
}
