package import Domain

// The provider accounts that jobs call, found by their subjects: a payment, a refund, or an order with its payments and
// refunds in flight.
extension JobQueries {
    /// Lists the accounts that a job of this subject may call; an account may come twice.
    package func listAccounts(of subject: String) throws(StoreError) -> [AccountID] {
        try db.rows(Self.accountsCalled("?"), Array(repeating: subject, count: 4))
            .map { row throws(StoreError) in try row.account("account") }
    }

    /// A condition on `jobs` that excludes those that call one of these accounts, with its arguments.
    static func callsNone(of accounts: [AccountID]) -> (sql: String, bound: [any SQLBindable]) {
        guard !accounts.isEmpty else { return ("", []) }
        let marks = Array(repeating: "?", count: accounts.count).joined(separator: ", ")
        let found = accountsCalled("jobs.subject", restriction: " AND COALESCE(p.processor, p.account) IN (\(marks))")
        return (" AND NOT EXISTS (\(found))", Array(repeating: accounts, count: 4).flatMap { $0 })
    }

    /// - Parameter subject: an SQL expression for the subject, used four times.
    private static func accountsCalled(_ subject: String, restriction: String = "") -> String {
        let isInFlight = "state NOT IN ('succeeded', 'failed', 'cancelled', 'reversed')"
        return [
            "payments p WHERE p.id = \(subject)", "payments p WHERE p.order_id = \(subject) AND p.\(isInFlight)",
            "refunds r JOIN payments p ON p.id = r.payment_id WHERE r.id = \(subject)",
            "refunds r JOIN payments p ON p.id = r.payment_id WHERE r.order_id = \(subject) AND r.\(isInFlight)",
        ].map { "SELECT COALESCE(p.processor, p.account) AS account FROM \($0)\(restriction)" }
            .joined(separator: " UNION ALL ")
    }
}
