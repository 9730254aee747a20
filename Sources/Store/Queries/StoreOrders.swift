package import Domain

/// What a store's purchase makes of an order.
package struct StoreCharge: Sendable {
    /// What the product means now, which may be another than the checkout asked for.
    package let sku: SKUCode
    package let price: Money?
    package let terms: OrderTerms
    package let quantity: Int64
    package let environment: Environment
    package let paidAt: Timestamp

    package init(
        sku: SKUCode, price: Money?, terms: OrderTerms, quantity: Int64, environment: Environment, paidAt: Timestamp
    ) {
        self.sku = sku
        self.price = price
        self.terms = terms
        self.quantity = quantity
        self.environment = environment
        self.paidAt = paidAt
    }
}

extension Transaction {
    /// Pays an order by a store's purchase: the store sets the price, and the product bought decides the terms.
    package func completeStoreOrder(
        _ id: ID<Order>, from old: Order.State, by payment: ID<Payment>?, _ charge: StoreCharge
    ) throws(StoreError) {
        let touched = try run(
            """
            UPDATE orders SET state = 'paid', paid_by = ?, paid_at = ?, closed_at = NULL, charged = ?, charged_currency = ?,
                sku = ?, terms = ?, quantity = ?, environment = ?
            WHERE id = ? AND state = ?
            """,
            payment, charge.paidAt, charge.price?.value, charge.price?.currency.code, charge.sku,
            try encodedTerms.text(of: charge.terms),
            min(max(charge.quantity, 1), 1_000), charge.environment.rawValue, id, old.rawValue)
        guard touched == 1 else { throw .corrupt("an order moved under its lock") }
    }

    /// The price of an order whose store had signed none; what a checkout asked for stays beside it.
    package func setSignedPrice(_ price: Money, of id: ID<Order>) throws(StoreError) {
        try run(
            """
            UPDATE orders SET charged = ?, charged_currency = ?, amount = COALESCE(amount, ?),
                currency = COALESCE(currency, ?)
            WHERE id = ?
            """, price.value, price.currency.code, price.value, price.currency.code, id)
    }

    /// What a store gave back of an order.
    ///
    /// - Parameters:
    ///   - share: of what it gave, in thousandths of a percent; nil where it took nothing back.
    ///   - at: when money went back; nil where none did.
    package func setReturned(
        _ id: ID<Order>, _ returned: Int64, share: Int64?, at: Timestamp?
    ) throws(StoreError) {
        try run(
            "UPDATE orders SET returned = ?, revoked_share = ?, returned_at = ? WHERE id = ?", returned, share, at, id)
    }

    /// Writes a subscription's one grant, or what changed of it; the caller holds its owner's lock.
    ///
    /// - Returns: false where it stays as it was.
    package func putSubscriptionGrant(_ grant: Grant) throws(StoreError) -> Bool {
        guard case .until(let end) = grant.term else { return false }
        guard let stored = try self.grant(like: grant) else { return try insertGrant(grant).value() }
        var grant = grant
        // What an admin took back stays so.
        if stored.revocation?.reason == .admin { grant.revocation = stored.revocation }
        guard !grant.says(as: stored) else { return false }
        try run(
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
    /// Whether two versions of one grant say the same.
    fileprivate func says(as other: Grant) -> Bool {
        var copy = Grant(
            id: other.id, user: user, sku: sku, kind: kind, tier: tier, rank: rank, source: source, order: order,
            environment: environment, purchasedAt: purchasedAt, term: term, stackGroup: stackGroup,
            attributes: attributes, revocation: revocation, suspended: other.suspended)
        (copy.renewal, copy.ahead) = (renewal, ahead)
        return copy == other
    }
}
