import Domain
import ProviderKit
import Store

extension Settlement {
    /// Recomputes a subscription's one grant from all its signed transactions, so that every order of arrival ends alike.
    ///
    /// The current transaction is the one with the latest end (then purchase) that is not upgraded; its end and its
    /// revocation are the grant's. Where all of them are upgraded, nothing is left of the latest.
    func regradeSubscription(
        _ purchase: StorePurchase, owner: ID<User>, entitled: Bool, rules: TestPurchaseRules
    ) throws {
        // In Xcode original transactions of several users have the same id.
        let all = try tx.storePurchases(purchase.environment, original: purchase.originalTransactionID)
            .filter { purchase.environment != .xcode || $0.user == owner }
        let known = all.filter { $0.purchase.expiresAt != nil && $0.sku != nil }
        let standing = known.filter { !$0.purchase.isUpgraded }
        let current = (standing.isEmpty ? known : standing).max {
            ($0.purchase.expiresAt ?? 0, $0.purchase.purchasedAt) < (
                $1.purchase.expiresAt ?? 0, $1.purchase.purchasedAt
            )
        }
        guard let current, let code = current.sku, let sku = try tx.sku(code), let paid = current.purchase.expires,
            let first = all.map(\.purchase.purchased).min()
        else { return }
        let end = current.purchase.isUpgraded ? current.purchase.purchased : paid
        let revocation = current.purchase.revocation.map {
            Grant.Revocation(at: Timestamp($0.at.flooredSeconds), reason: .refund)
        }
        try tx.putSubscriptionGrant(
            Grant(
                id: ids.make(), user: owner, sku: code, kind: .subscription, tier: sku.tier, rank: sku.rank,
                source: Grant.Source(kind: .appleSubscription, id: purchase.originalTransactionID),
                order: current.order,
                environment: purchase.environment, purchasedAt: first,
                term: current.purchase.bounded(.until(end), entitled: entitled, rules: rules), stackGroup: nil,
                attributes: sku.attributes, revocation: revocation))
    }
}

extension TestPurchaseRules {
    /// Where the account that verified a purchase is configured no longer, only real purchases count.
    static let worthless = TestPurchaseRules(entitled: .none, maxHours: 0)
}

extension StorePurchase {
    var isReal: Bool { environment == .production }

    /// A term as far as a purchase outside production is worth it: nothing for who is not entitled, and at most so long.
    func bounded(_ term: Grant.Term, entitled: Bool, rules: TestPurchaseRules) -> Grant.Term {
        guard !isReal else { return term }
        guard entitled else { return .until(purchased) }
        guard rules.maxHours > 0 else { return term }
        let limit = purchased.adding(seconds: rules.maxHours * 3_600)
        switch term {
        case .perpetual: return .until(limit)
        case .days(let days): return purchased.adding(days: days) <= limit ? term : .until(limit)
        case .until(let end): return .until(min(end, limit))
        }
    }

    /// The share of its price that Apple took back, in thousandths of a percent: all where it names none.
    var revokedShare: Int64? {
        revocation.map { min(max($0.percentage ?? Order.wholeShare, 0), Order.wholeShare) }
    }

    /// What Apple gave back of what it charged.
    func returned(of charged: Money?) -> Int64 {
        guard let charged, let revokedShare else { return 0 }
        let (product, overflow) = charged.value.multipliedReportingOverflow(by: revokedShare)
        return overflow ? charged.value : product / Order.wholeShare
    }
}

extension SKU {
    /// What a purchase of this SKU grants: Apple's type decides how it is treated.
    func terms(for purchase: StorePurchase, days: Int64?) -> OrderTerms {
        var terms = terms(days: days, quantity: min(max(purchase.quantity, 1), 1_000))
        terms.kind = purchase.skuKind ?? kind
        if terms.kind != .nonRenewing { terms.stackGroup = nil }
        if terms.kind == .nonRenewing && stacking == .extend { terms.stackGroup = stackGroup }
        return terms
    }
}
