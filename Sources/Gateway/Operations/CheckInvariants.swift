import Domain
import FoundationEssentials
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
            found += try await store.read { db in
                try db.violations(of: rule, limit: Self.limit).map {
                    Violation(invariant: rule.invariant, subject: $0, detail: rule.detail)
                }
            }
        }
        return try await found + checkAudit() + checkSeals() + checkPaidOrders() + checkHistories() + checkBoundaries()
    }

    /// Recomputes for every paid order what it must have granted and credited.
    private func checkPaidOrders() async throws -> [Violation] {
        var found: [Violation] = []
        var last = ""
        while true {
            let cursor = last
            let page = try await store.read { db in try db.providerPaidOrders(after: cursor, limit: 500) }
            guard let end = page.last else { return found }
            last = end.rawValue
            found += try await store.read { db in try page.compactMap { try Self.checkGrants(of: $0, in: db) } }
            if found.count >= Int(Self.limit) { return found }
        }
    }

    private static func checkGrants(of id: ID<Order>, in db: any Database) throws -> Violation? {
        guard let order = try db.order(id), order.origin == .checkout else { return nil }
        let standing = order.standing(try db.disputes(of: id))
        let grants = try db.grants(of: id).filter { $0.source.kind == .order }
        let isDue = order.terms.term != nil && !order.anomalies.contains(.duplicateOwnership)
        guard grants.count == (isDue ? 1 : 0), grants.allSatisfy({ order.granted($0, standing) }) else {
            return Violation(
                invariant: 13, subject: id.rawValue, detail: "what the order granted is not what its facts make it")
        }
        let booked = try db.booked(
            LedgerSource(kind: "order", id: id.rawValue), user: order.user, environment: order.environment
        ).mapValues(\.sum).filter { $0.value != 0 }
        guard booked == (order.gives(standing) ? order.terms.units : [:]) else {
            return Violation(
                invariant: 13, subject: id.rawValue, detail: "the units of the order are not what it credited")
        }
        return nil
    }
}

extension Order {
    /// Whether a grant is what this order's terms and standing make it; what an admin took back stays so.
    fileprivate func granted(_ grant: Grant, _ standing: Standing) -> Bool {
        guard grant.user == user, grant.sku == sku, grant.term == terms.term, grant.tier == terms.tier,
            grant.environment == environment
        else { return false }
        if grant.revocation?.reason == .admin { return true }
        return (grant.revocation != nil) == (standing.revocation != nil) && grant.suspended == standing.isSuspended
    }
}
