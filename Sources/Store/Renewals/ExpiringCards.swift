package import Domain

/// The months that a card's last month is compared with, each with the time at which it ends.
package struct CardMonths: Sendable {
    /// The months since the year 0, and their ends.
    let ends: [(month: Int64, end: Timestamp)]

    /// The months from ten years before a time, whose cards have expired, until three years after it, before which every
    /// next charge is.
    package static func around(_ now: Timestamp) -> CardMonths {
        let date = now.utcDate.split(separator: "-")
        guard date.count == 3, let year = Int64(date[0]), let month = Int64(date[1]) else {
            return CardMonths(ends: [])
        }
        let current = year * 12 + month - 1
        let ends = (current - 120...current + 36).compactMap { index -> (month: Int64, end: Timestamp)? in
            let next = index + 1
            let number = next % 12 + 1
            return Timestamp(iso8601: "\(next / 12)-\(number < 10 ? "0" : "")\(number)-01").map {
                (month: index, end: $0)
            }
        }
        return CardMonths(ends: ends)
    }
}

extension MandateQueries {
    /// Counts the running subscriptions whose next charge comes after the last month of their card.
    package func countExpiring(before charge: CardMonths) throws(StoreError) -> Int64 {
        guard !charge.ends.isEmpty else { return 0 }
        let rows = Array(repeating: "(?, ?)", count: charge.ends.count).joined(separator: ", ")
        return try db.rows(
            """
            WITH months (month, ends_at) AS (VALUES \(rows))
            SELECT COUNT(*) AS n FROM managed_subscriptions s
            JOIN mandates m ON m.subscription_id = s.id AND m.state = 'active'
            JOIN months ON months.month = m.exp_year * 12 + m.exp_month - 1
            WHERE s.state = 'running' AND s.cancellation IS NULL AND s.period_end >= months.ends_at
            """, charge.ends.flatMap { [$0.month, $0.end] as [any SQLBindable] }
        ).first?.int("n") ?? 0
    }
}
