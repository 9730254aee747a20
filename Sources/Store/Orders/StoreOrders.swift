package import Domain

/// The values that a store purchase sets on an order.
package struct StoreCharge: Sendable {
    /// The SKU that the product maps to now, which may differ from the checkout's.
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

extension OrderQueries where Connection == any Transaction {
    /// Pays an order by a store purchase: the store sets the price, and the product decides the terms.
    package func complete(
        _ id: ID<Order>, from old: Order.State, by payment: ID<Payment>?, _ charge: StoreCharge
    ) throws(StoreError) {
        let touched = try tx.execute(
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

    /// Sets the price of an order whose store had signed none; an amount that the checkout asked stays.
    package func setSignedPrice(_ price: Money, of id: ID<Order>) throws(StoreError) {
        try tx.execute(
            """
            UPDATE orders SET charged = ?, charged_currency = ?, amount = COALESCE(amount, ?),
                currency = COALESCE(currency, ?)
            WHERE id = ?
            """, price.value, price.currency.code, price.value, price.currency.code, id)
    }

    /// Sets the amount that a store returned for an order.
    ///
    /// - Parameters:
    ///   - share: the revoked share in thousandths of a percent; nil where none was revoked.
    ///   - at: the time of the return; nil where no money went back.
    package func setReturned(
        _ id: ID<Order>, _ returned: Int64, share: Int64?, at: Timestamp?
    ) throws(StoreError) {
        try tx.execute(
            "UPDATE orders SET returned = ?, revoked_share = ?, returned_at = ? WHERE id = ?", returned, share, at, id)
    }
}
