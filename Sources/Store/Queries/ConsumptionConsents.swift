package import Domain

extension Database {
    /// Whether a customer has said that the store may be told how much of a purchase was used; without a word: no.
    ///
    /// It was said of an original transaction, and holds for all of its transactions.
    package func consentsToConsumption(_ subject: StoreSubject, user: ID<User>) throws(StoreError) -> Bool {
        try row(
            """
            SELECT MAX(consumption_consent) AS said FROM purchases
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, subject.environment.rawValue, subject.original, user
        )?.optionalInt("said") == 1
    }
}

extension Transaction {
    /// Keeps a customer's newest word with every transaction of the original one that is kept so far.
    package func setConsumptionConsent(
        _ consents: Bool, _ subject: StoreSubject, user: ID<User>
    ) throws(StoreError) {
        try run(
            """
            UPDATE purchases SET consumption_consent = ?
            WHERE environment = ? AND original_transaction_id = ? AND user_id = ?
            """, consents, subject.environment.rawValue, subject.original, user)
    }
}
