package import Domain

extension Transaction {
    /// Keeps what a provider answered when it was asked.
    ///
    /// - Parameter fact: JSON text.
    package func keepFact(
        _ id: ID<LearnedFact>, account: AccountID, payment: ID<Payment>, fact: String, at now: Timestamp
    ) throws(StoreError) {
        try send(
            "INSERT INTO learned_facts (id, account, payment_id, fact, at) VALUES (?, ?, ?, ?, ?)", id, account,
            payment,
            fact, now)
    }
}
