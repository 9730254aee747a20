package import Domain

extension GrantQueries where Connection == any Transaction {
    /// Inserts the one grant of a subscription, or updates it; the caller holds the user's lock.
    ///
    /// - Returns: false where the stored grant is equal already.
    package func upsert(_ grant: Grant) throws(StoreError) -> Bool {
        guard case .until(let end) = grant.term else { return false }
        guard let stored = try find(like: grant) else { return try insert(grant).value() }
        var grant = grant
        // A revocation by an admin stays.
        if stored.revocation?.reason == .admin { grant.revocation = stored.revocation }
        guard !grant.isEqual(to: stored) else { return false }
        try tx.execute(
            """
            UPDATE grants SET sku = ?, tier = ?, rank = ?, order_id = ?, purchased_at = ?, ends_at = ?, attributes = ?,
                revoked_at = ?, revoked_by = ?, paid_until = ?, billing_retry = ?, will_renew = ?, upgraded = ?,
                ahead = ?
            WHERE source_kind = ? AND environment = ? AND source_id = ? AND user_id = ?
            """,
            grant.sku, grant.tier, grant.rank, grant.order, grant.purchasedAt, end, try grant.attributes.storedJSON(),
            grant.revocation?.at, grant.revocation?.reason.rawValue, grant.renewal?.paidUntil,
            grant.renewal?.isInBillingRetry, grant.renewal?.willRenew, grant.renewal?.isUpgraded,
            try grant.ahead.stored(), grant.source.kind.rawValue, grant.environment.rawValue, grant.source.id,
            grant.user)
        return true
    }
}

extension Grant {
    /// Returns whether two versions of one grant are equal, values that only an admin sets left out.
    fileprivate func isEqual(to other: Grant) -> Bool {
        var copy = Grant(
            id: other.id, user: user, sku: sku, kind: kind, tier: tier, rank: rank, source: source, order: order,
            environment: environment, purchasedAt: purchasedAt, term: term, stackGroup: stackGroup,
            attributes: attributes, revocation: revocation, suspended: other.suspended)
        (copy.renewal, copy.ahead) = (renewal, ahead)
        return copy == other
    }
}
