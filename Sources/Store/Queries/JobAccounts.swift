package import Domain

// Which accounts jobs ask, found by their subjects: a payment, a refund, or an order with what is in flight of it.
extension Database {
    /// The accounts that a job about this may ask; one may come twice.
    package func accounts(asked subject: String) throws(StoreError) -> [AccountID] {
        try rows(Self.accountsAsked("?"), Array(repeating: subject, count: 4))
            .map { row throws(StoreError) in try row.account("account") }
    }

    /// The condition on `jobs` that none of these accounts is asked, with what it binds.
    static func asksNone(of accounts: [AccountID]) -> (sql: String, bound: [any SQLBindable]) {
        guard !accounts.isEmpty else { return ("", []) }
        let marks = Array(repeating: "?", count: accounts.count).joined(separator: ", ")
        let found = accountsAsked("jobs.subject", restriction: " AND COALESCE(p.processor, p.account) IN (\(marks))")
        return (" AND NOT EXISTS (\(found))", Array(repeating: accounts, count: 4).flatMap { $0 })
    }

    /// - Parameter subject: what stands for the subject in each of four parts.
    private static func accountsAsked(_ subject: String, restriction: String = "") -> String {
        let isInFlight = "state NOT IN ('succeeded', 'failed', 'cancelled', 'reversed')"
        return [
            "payments p WHERE p.id = \(subject)", "payments p WHERE p.order_id = \(subject) AND p.\(isInFlight)",
            "refunds r JOIN payments p ON p.id = r.payment_id WHERE r.id = \(subject)",
            "refunds r JOIN payments p ON p.id = r.payment_id WHERE r.order_id = \(subject) AND r.\(isInFlight)",
        ].map { "SELECT COALESCE(p.processor, p.account) AS account FROM \($0)\(restriction)" }
            .joined(separator: " UNION ALL ")
    }
}
