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

    package init(store: Store) { self.store = store }

    package func run() async throws -> [Violation] {
        var found: [Violation] = []
        for rule in InvariantRule.all {
            found += try await store.report { db in
                try db.consistency.listViolations(of: rule, limit: Self.limit).map {
                    Violation(invariant: rule.invariant, subject: $0, detail: rule.detail)
                }
            }
        }
        return try await found + checkAudit() + checkSeals() + checkOrders() + checkBoundaries()
    }
}
