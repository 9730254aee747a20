import Domain

// The summary of an explanation.
extension Explainer {
    /// Returns the sentences about the current entitlements and their ends.
    func conclusion() -> String {
        let sentences = source.sku.map(sentences(of:)) ?? everything()
        return language.joined(
            [language.ownership.asOf(now.utcDate)] + (sentences.isEmpty ? [language.ownership.nothingOwned] : sentences)
        )
    }

    private func everything() -> [String] {
        let tiers = fold.tiers.map { language.ownership.membership($0.tier, $0.endsAt?.utcDate) }
        let rest = Set(fold.entitlements.filter { $0.grant.tier.isEmpty && $0.status.holds }.map(\.grant.sku))
        let later = fold.entitlements.filter { $0.status == .scheduled && !isCovered($0) }
        let waiting = fold.entitlements.filter { $0.status == .suspended }
        return tiers + rest.sorted().flatMap(sentences(of:))
            + later.reversed().map { language.ownership.begins(name($0.grant.sku), $0.startsAt.utcDate) }
            + Set(waiting.map(\.grant.sku)).sorted().map { language.ownership.suspended(name($0)) }
            + balances(of: nil)
    }

    /// True for a later pass that prolongs a running membership, whose end includes it.
    private func isCovered(_ entitlement: Entitlement) -> Bool {
        fold.tiers.contains { tier in
            tier.tier == entitlement.grant.tier && (tier.endsAt.map { entitlement.startsAt < $0 } ?? true)
        }
    }

    private func sentences(of sku: SKUCode) -> [String] {
        let own = fold.entitlements.filter { $0.grant.sku == sku }
        let units = balances(of: sku)
        guard let sentence = standing(own, name(sku)) else {
            return units.isEmpty ? [language.ownership.notOwned(name(sku))] : units
        }
        return [sentence] + units
    }

    /// - Parameter own: the grants of one SKU; without any the result is nil.
    private func standing(_ own: [Entitlement], _ item: String) -> String? {
        if own.contains(where: { $0.status.holds }) {
            return language.ownership.owned(item, coveredUntil(own)?.utcDate)
        }
        if own.contains(where: { $0.status == .suspended }) { return language.ownership.suspended(item) }
        if let next = own.filter({ $0.status == .scheduled }).map(\.startsAt).min() {
            return language.ownership.begins(item, next.utcDate)
        }
        let ends = own.compactMap { entitlement -> (Timestamp, isTaken: Bool)? in
            if let revocation = entitlement.grant.revocation { return (revocation.at, true) }
            return entitlement.endsAt.map { ($0, false) }
        }
        guard let last = ends.max(by: { $0.0 < $1.0 }) else { return nil }
        return last.isTaken
            ? language.ownership.wasTaken(item, last.0.utcDate) : language.ownership.isOver(item, last.0.utcDate)
    }

    /// Returns the time until which the grants entitle without a gap from now on; nil where one of them never ends.
    private func coveredUntil(_ own: [Entitlement]) -> Timestamp? {
        var covered = now
        let counting = own.filter { $0.status.holds || $0.status == .scheduled }
        for next in counting.sorted(by: { $0.startsAt < $1.startsAt }) where next.startsAt <= covered {
            guard let end = next.endsAt else { return nil }
            covered = max(covered, end)
        }
        return covered
    }

    private func balances(of sku: SKUCode?) -> [String] {
        let units = sku.map { source.skus[$0]?.units ?? [:] }
        return source.balances.sorted { $0.key < $1.key }
            .filter { balance in units.map { $0[balance.key] != nil } ?? true }
            .map { language.ownership.balance($0.key, $0.value) }
    }
}
