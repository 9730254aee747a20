package import Domain

extension PaymentQueries {
    /// Finds the payment that claimed a wallet's transaction.
    package func findID(claiming transactionID: String) throws(StoreError) -> ID<Payment>? {
        try db.row("SELECT payment_id FROM instrument_claims WHERE transaction_id = ?", transactionID)
            .map { row throws(StoreError) in try row.id("payment_id") }
    }
}

extension PaymentQueries where Connection == any Transaction {
    /// Binds a wallet's transaction to a payment for ever; the caller holds the payment's lock.
    ///
    /// - Returns: false when the transaction belongs to another payment.
    package func claimInstrument(
        _ transactionID: String, for payment: ID<Payment>, at now: Timestamp
    ) throws(StoreError) -> Bool {
        try tx.execute(
            """
            INSERT INTO instrument_claims (transaction_id, payment_id, claimed_at) VALUES (?, ?, ?)
            ON CONFLICT (transaction_id) DO NOTHING
            """, transactionID, payment, now) == 1
    }

    /// Sets the account that moves a payment's money; a second call for the same payment throws.
    package func setProcessor(_ processor: AccountID, of payment: ID<Payment>) throws(StoreError) {
        let touched = try tx.execute(
            "UPDATE payments SET processor = ? WHERE id = ? AND processor IS NULL", processor, payment)
        guard touched == 1 else { throw .corrupt("a payment got a second processor") }
    }
}
