package import Domain
package import Store

/// A contradiction between stored facts: a violated invariant of `docs/domain.md` section 10.
package struct Violation: Encodable, Sendable, Equatable {
    /// The invariant's number.
    package let invariant: Int
    package let subject: String
    package let detail: String
}

/// Recomputes every invariant from the stored facts; it only reads.
package struct InvariantCheck: Sendable {
    /// The largest number of violations of one kind that are listed.
    static let limit: Int64 = 20

    let store: Store
    /// True where the configuration is for production, in which no box's purchases belong.
    let isProduction: Bool
    /// The rule for a managed subscription beside one of a store; nil where it is not checked.
    let overlap: BillingSettings.Overlap?
    /// The real time, by which what has lasted too long is found; nil where that is not checked.
    let time: TimeSource?
    let progress: ReadingProgress

    package init(
        store: Store, isProduction: Bool = false, overlap: BillingSettings.Overlap? = nil, time: TimeSource? = nil,
        progress: ReadingProgress = ReadingProgress()
    ) {
        self.store = store
        self.isProduction = isProduction
        self.overlap = overlap
        self.time = time
        self.progress = progress
    }

    package func run() async throws -> [Violation] {
        var found: [Violation] = []
        var rules = progress.begin("rules")
        for rule in InvariantRule.all {
            found += try await store.report { db in
                try db.consistency.listViolations(of: rule, limit: Self.limit).map {
                    Violation(invariant: rule.invariant, subject: $0, detail: rule.detail)
                }
            }
            rules.add(1)
        }
        return try await found + checkAudit() + checkSeals() + checkOrders() + checkBoundaries() + checkBox()
            + checkExternalPurchases() + checkSubscriptions()
    }

    /// Finds purchases of an App Store in a box, which nobody paid, in a database for production.
    private func checkBox() async throws -> [Violation] {
        guard isProduction else { return [] }
        let count = try await store.report { db in try db.purchases.countFromBox() }
        guard count > 0 else { return [] }
        return [
            Violation(
                invariant: 18, subject: "purchases",
                detail: "\(count) are of an App Store in a box; nobody paid for them, and they entitle nobody")
        ]
    }
}
