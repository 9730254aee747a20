package import Domain

/// The number of things of one kind that wait for a person, and the time of the oldest.
package struct Waiting: Sendable, Equatable {
    package let count: Int64
    package let oldest: Timestamp?
}

/// Counts of the things that wait for a person.
package struct AttentionQueries {
    let db: any Database
}

extension Database {
    package var attention: AttentionQueries { AttentionQueries(db: self) }
}

extension AttentionQueries {
    /// Counts jobs that failed too often.
    package func quarantinedJobs() throws(StoreError) -> Waiting {
        try waiting("MIN(created_at)", "jobs WHERE state = 'quarantined'")
    }

    /// Counts notifications that did not verify, as far as they are kept.
    package func refusedNotifications() throws(StoreError) -> Waiting {
        try waiting("MIN(received_at)", "notifications WHERE status = 'rejected'")
    }

    /// Counts purchases that give nothing because no SKU knows their product.
    package func unmappedPurchases() throws(StoreError) -> Waiting {
        try waiting("MIN(received_at)", "purchases WHERE sku IS NULL")
    }

    /// Counts money that came with another amount and about which nobody has decided.
    package func openMismatches() throws(StoreError) -> Waiting {
        try waiting("MIN(at)", "mismatches WHERE state = 'open'")
    }

    package func openDisputes() throws(StoreError) -> Waiting {
        try waiting("MIN(created_at)", "disputes WHERE state = 'open'")
    }

    /// Counts endpoints whose attempts all fail, or that were disabled for that.
    package func failingWebhooks() throws(StoreError) -> Waiting {
        try waiting(
            "MIN(failing_since)",
            """
            webhooks WHERE partner <> '' AND (failing_since IS NOT NULL AND status = 'enabled'
                OR status = 'disabled' AND disabled_reason IN ('gone', 'failing'))
            """)
    }

    private func waiting(_ oldest: String, _ source: String) throws(StoreError) -> Waiting {
        guard let row = try db.row("SELECT COUNT(*) AS n, \(oldest) AS oldest FROM \(source)") else {
            return Waiting(count: 0, oldest: nil)
        }
        return Waiting(count: try row.int("n"), oldest: try row.optionalTime("oldest"))
    }
}
