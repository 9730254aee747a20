package import Domain

/// The lengths of the queues of work, for the metrics.
package struct QueueFigures: Sendable, Equatable {
    /// The jobs that are due and that no worker holds.
    package var jobsDue: Int64 = 0
    /// The seconds since which the oldest of them is due; 0 where there is none.
    package var oldestSeconds: Int64 = 0
    /// The deliveries to webhooks that wait for an attempt, counted up to a bound.
    package var deliveries: Int64 = 0

    package init() {}
}

extension JobQueries {
    /// Counts what is due among jobs of these kinds, and what waits for a webhook.
    ///
    /// - Parameter limit: the bound of each count of deliveries, so that a long backlog costs no more than that.
    package func figures(
        of kinds: [String], deliveries limit: Int64 = 100_000, at now: ClockReading
    ) throws(StoreError) -> QueueFigures {
        var figures = QueueFigures()
        let places = Array(repeating: "?", count: kinds.count).joined(separator: ", ")
        let due = try db.rows(
            """
            SELECT COUNT(*) AS due, MIN(run_at) AS oldest, \(db.dialect.businessClock) AS now FROM jobs
            WHERE state = 'waiting' AND kind IN (\(places)) AND run_at <= \(db.dialect.businessClock)
              AND lease_until <= \(db.dialect.realClock)
            """, [now.business] + kinds.map { $0 as any SQLBindable } + [now.business, now.real]
        ).first
        if let due {
            figures.jobsDue = try due.int("due")
            figures.oldestSeconds =
                try due.optionalInt("oldest").map { oldest throws(StoreError) in
                    max(0, try due.int("now") - oldest)
                } ?? 0
        }
        // Each partial index is counted by itself, so that ended deliveries are never read.
        for (index, isDone) in [("deliveries_first", 0), ("deliveries_again", 1)] {
            figures.deliveries +=
                try db.row(
                    """
                    SELECT COUNT(*) AS waiting FROM (
                        SELECT 1 AS one FROM deliveries\(db.dialect.indexed(by: index))
                        WHERE state = 'pending' AND first_done = \(isDone) LIMIT ?) AS pending
                    """, limit)?.int("waiting") ?? 0
        }
        return figures
    }
}
