import Domain
import Store

// The facts of grants: their sources, periods and ends.
extension Explainer {
    func grantFacts() -> [Explanation.Fact] {
        fold.entitlements.reversed().filter { source.sku == nil || $0.grant.sku == source.sku }.flatMap(facts(of:))
    }

    private func facts(of entitlement: Entitlement) -> [Explanation.Fact] {
        let grant = entitlement.grant
        // The order of a purchase that was transferred to this user is another user's, so it is not shown.
        let order = source.orders.contains { $0.order.id == grant.order } ? grant.order : nil
        func tell(_ at: Timestamp, _ type: String, _ text: String) -> Explanation.Fact {
            fact(at, type, text, order: order, grant: grant.id)
        }
        if grant.environment != .production, entitlement.endsAt == grant.purchasedAt {
            return [tell(grant.purchasedAt, "grant.bounded", language.ownership.worthless(name(grant.sku)))]
        }
        var facts = [tell(grant.purchasedAt, "grant.given", given(entitlement))]
        if entitlement.startsAt > grant.purchasedAt {
            let before = predecessor(of: entitlement).map { name($0.grant.sku) }
            facts.append(
                tell(
                    grant.purchasedAt, "grant.stacked",
                    language.ownership.stacked(name(grant.sku), entitlement.startsAt.utcDate, before)))
        }
        for part in grant.ahead where part.startsAt > now && grant.revocation == nil {
            facts.append(
                tell(
                    grant.purchasedAt, "grant.follows",
                    language.ownership.follows(name(part.sku), part.startsAt.utcDate)))
        }
        if let bound = bound(entitlement) { facts.append(tell(grant.purchasedAt, "grant.bounded", bound)) }
        if let revocation = grant.revocation {
            let text = language.ownership.revoked(name(grant.sku), revocation.reason, revocation.at.utcDate)
            facts.append(tell(revocation.at, "grant.revoked", text))
        } else if let end = entitlement.endsAt, end <= now, end > entitlement.startsAt, !grant.suspended {
            facts.append(tell(end, "grant.ended", language.ownership.ended(name(grant.sku), end.utcDate)))
        }
        return facts
    }

    private func given(_ entitlement: Entitlement) -> String {
        let grant = entitlement.grant
        let item = name(grant.sku)
        let span = language.ownership.span(item, entitlement.startsAt.utcDate, entitlement.endsAt?.utcDate)
        let noted = reader == .staff ? source.reasons[grant.id] : nil
        let date = grant.purchasedAt.utcDate
        return switch grant.source.kind {
        case .admin: language.joined([language.ownership.givenBySupport(item, noted, date), span])
        case .partner: language.joined([language.ownership.givenByPartner(item, noted, date), span])
        case .order, .appleTransaction, .appleSubscription, .managedSubscription: span
        }
    }

    /// Returns the pass after which this one begins.
    private func predecessor(of entitlement: Entitlement) -> Entitlement? {
        fold.entitlements.first {
            $0.grant.id != entitlement.grant.id && $0.endsAt == entitlement.startsAt
                && $0.grant.environment == entitlement.grant.environment
                && $0.grant.stackGroup == entitlement.grant.stackGroup && $0.grant.revocation == nil
        }
    }

    /// Returns the sentence that the rules for test purchases shortened a grant; nil where they did not.
    private func bound(_ entitlement: Entitlement) -> String? {
        let grant = entitlement.grant
        guard grant.environment != .production, case .until(let end) = grant.term else { return nil }
        let bought = source.purchases.filter {
            $0.purchase.originalTransactionID == grant.source.id
                || $0.key == grant.source.id
        }
        if let paid = bought.compactMap(\.purchase.expires).max(), paid <= end { return nil }
        return language.ownership.bounded(name(grant.sku), end.utcDate)
    }
}
