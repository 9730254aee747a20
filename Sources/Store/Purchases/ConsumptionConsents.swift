package import Domain

extension PurchaseQueries {
    /// Returns whether a customer has consented to sending consumption data of a purchase to the store.
    ///
    /// The consent is given for an original transaction and holds for all of its transactions.
    package func allowsConsumptionReport(_ subject: StoreSubject, user: ID<User>) throws(StoreError) -> Bool {
        try db.row(
            """
            SELECT MAX(consumption_consent) AS said FROM purchases
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, subject.environment.rawValue, subject.original, user
        )?.optionalInt("said") == 1
    }
}

extension PurchaseQueries where Connection == any Transaction {
    /// Sets a customer's consent on all stored transactions of an original transaction.
    package func setConsumptionConsent(
        _ consents: Bool, _ subject: StoreSubject, user: ID<User>
    ) throws(StoreError) {
        try tx.execute(
            """
            UPDATE purchases SET consumption_consent = ?
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, consents, subject.environment.rawValue, subject.original, user)
    }
}
