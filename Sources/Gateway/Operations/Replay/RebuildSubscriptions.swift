import Domain
import Store

extension ReplayInbox {
    private static let subscriptionPage: Int64 = 100

    /// Makes every managed subscription and its grant from its history, and compares them with what is stored.
    func rebuildSubscriptions(_ report: inout ReplayReport) async throws {
        var progressed = progress.begin("subscriptions rebuilt")
        var last = ""
        let ids = self.ids
        while true {
            let cursor = last
            let page = try await source.report { db in
                let isHeld = try db.billingHold.find() != nil
                return try db.consistency.listSubscriptions(after: cursor, limit: Self.subscriptionPage).map {
                    let check = SubscriptionCheck($0, isHeld: isHeld)
                    return RebuiltSubscription(
                        checked: $0, made: check.rebuilt(as: $0.grants.first?.id ?? ids.make()),
                        faults: try check.violations(in: db))
                }
            }
            guard let end = page.last else { return }
            last = end.checked.record.subscription.id.rawValue
            for rebuilt in page { try await write(rebuilt, &report) }
            progressed.add(page.count)
        }
    }

    private func write(_ rebuilt: RebuiltSubscription, _ report: inout ReplayReport) async throws {
        guard !rebuilt.checked.history.isOlder else {
            report.skipped += 1
            return
        }
        report.subscriptions += 1
        report.grants += rebuilt.checked.grants.count
        report.differences += rebuilt.faults.map { .init(subject: $0.subject, detail: $0.detail) }
        guard let (record, grant) = rebuilt.made else { return }
        do {
            try await scratch.write { tx in try tx.replay.restore(record, grant) }
        } catch StoreError.statement {
            report.differences.append(
                .init(
                    subject: record.subscription.id.rawValue,
                    detail: "what its history makes it cannot stand beside another subscription"))
        }
    }
}

/// A stored subscription, what its history makes it, and the differences.
private struct RebuiltSubscription: Sendable {
    let checked: CheckedSubscription
    let made: (record: ManagedSubscriptionRecord, grant: Grant?)?
    let faults: [Violation]
}
