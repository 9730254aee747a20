package import Store

/// One stored fact that contradicts another, found by recomputing an invariant of `domain.md` section 10.
package struct Violation: Encodable, Sendable, Equatable {
    /// The invariant's number.
    package let invariant: Int
    package let subject: String
    package let detail: String
}

/// Recomputes every invariant that the stored facts determine; it only reads.
package struct InvariantCheck: Sendable {
    /// So many violations of one kind are listed; one is enough to know.
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
