package import Domain

extension Transaction {
    /// Lets the store be asked about a subscription as soon as possible; in Xcode nobody can be asked.
    package func checkSoon(_ subscription: ID<Subscription>, at now: Timestamp) throws(StoreError) {
        try run(
            "UPDATE subscriptions SET next_check_at = ? WHERE id = ? AND environment <> 'Xcode'", now, subscription)
    }
}
