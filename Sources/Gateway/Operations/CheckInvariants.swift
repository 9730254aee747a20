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
    private static let limit: Int64 = 20

    private let store: Store

    package init(store: Store) { self.store = store }

    package func run() async throws -> [Violation] {
        let rules = Self.rules
        let found = try await store.read { db in
            var found: [Violation] = []
            for rule in rules {
                for row in try db.rows(rule.sql + " LIMIT ?", [Self.limit]) {
                    found.append(
                        Violation(invariant: rule.invariant, subject: try row.text("subject"), detail: rule.detail))
                }
            }
            return found
        }
        return try await found + checkAudit() + checkGrants()
    }

    private struct Rule: Sendable {
        let invariant: Int
        let detail: String
        /// Selects the `subject` of each violation.
        let sql: String
    }

    private static let rules = [
        Rule(
            invariant: 3, detail: "a payment's sums are not those of its refunds and disputes",
            sql: """
                SELECT p.id AS subject FROM payments p
                WHERE p.refunding <> (SELECT COALESCE(SUM(r.amount), 0) FROM refunds r
                        WHERE r.payment_id = p.id AND r.counted = 1 AND r.state NOT IN ('failed', 'reversed'))
                   OR p.refunded <> (SELECT COALESCE(SUM(r.amount), 0) FROM refunds r
                        WHERE r.payment_id = p.id AND r.counted = 1 AND r.state = 'succeeded')
                   OR p.lost > (SELECT COALESCE(SUM(d.amount), 0) FROM disputes d
                        WHERE d.payment_id = p.id AND d.state = 'lost')
                   OR p.refunding + p.lost > p.captured OR p.refunded > p.refunding
                """),
        Rule(
            invariant: 3, detail: "a refund or dispute is in another currency than its payment",
            sql: """
                SELECT p.id AS subject FROM payments p
                WHERE EXISTS (SELECT 1 FROM refunds r WHERE r.payment_id = p.id AND r.currency <> p.currency)
                   OR EXISTS (SELECT 1 FROM disputes d WHERE d.payment_id = p.id AND d.currency <> p.currency)
                """),
        Rule(
            invariant: 8, detail: "a paid order has no succeeded payment of its own with its amount and currency",
            sql: """
                SELECT o.id AS subject FROM orders o LEFT JOIN payments p ON p.id = o.paid_by
                WHERE o.state = 'paid' AND o.origin = 'checkout' AND o.amount > 0
                  AND (p.id IS NULL OR p.order_id <> o.id OR p.state <> 'succeeded' OR p.amount <> o.amount
                       OR p.currency <> o.currency)
                """),
        Rule(
            invariant: 8, detail: "an order that is not paid names a payment that paid it",
            sql: "SELECT id AS subject FROM orders WHERE state <> 'paid' AND paid_by IS NOT NULL"),
        Rule(
            invariant: 9, detail: "a subject's events are not numbered 1 to n without a gap",
            sql: """
                SELECT subject FROM events GROUP BY subject
                HAVING COUNT(*) <> MAX(sequence) OR MIN(sequence) <> 1
                """),
        Rule(
            invariant: 9, detail: "a paid order has no order.paid event",
            sql: """
                SELECT o.id AS subject FROM orders o WHERE o.state = 'paid'
                  AND NOT EXISTS (SELECT 1 FROM events e WHERE e.subject = o.id AND e.type = 'order.paid')
                """),
        Rule(
            invariant: 9, detail: "a user's version is not the number of its entitlements.changed events",
            sql: """
                SELECT u.user_id AS subject FROM user_states u
                WHERE u.version <> (SELECT COUNT(*) FROM events e
                    WHERE e.subject = u.user_id AND e.type = 'entitlements.changed')
                """),
        Rule(
            invariant: 13, detail: "a balance is not the sum of its ledger",
            sql: """
                SELECT b.user_id AS subject FROM balances b
                WHERE b.amount <> (SELECT COALESCE(SUM(l.delta), 0) FROM ledger l
                    WHERE l.user_id = b.user_id AND l.unit = b.unit AND l.environment = b.environment)
                """),
        Rule(
            invariant: 13, detail: "a ledger has no balance",
            sql: """
                SELECT DISTINCT l.user_id AS subject FROM ledger l
                WHERE NOT EXISTS (SELECT 1 FROM balances b
                    WHERE b.user_id = l.user_id AND b.unit = l.unit AND b.environment = l.environment)
                """),
        Rule(
            invariant: 2, detail: "an order of several grants, or a grant of an order that is not paid",
            sql: """
                SELECT g.order_id AS subject FROM grants g JOIN orders o ON o.id = g.order_id
                GROUP BY g.order_id, o.state HAVING COUNT(*) > 1 OR o.state <> 'paid'
                """),
        Rule(
            invariant: 11, detail: "a notification is marked processed without a time",
            sql: "SELECT id AS subject FROM notifications WHERE status = 'processed' AND processed_at IS NULL"),
    ]

    /// Walks every audit chain; an entry that was changed, removed or added breaks it.
    private func checkAudit() async throws -> [Violation] {
        var found: [Violation] = []
        var last = ""
        while let subject = try await nextAuditSubject(after: last) {
            last = subject
            let isWhole = try await store.read { db in
                var previous = Data()
                var expected: Int64 = 1
                for (position, entry, digest) in try db.auditChain(subject) {
                    guard position == expected, entry.digest(after: previous, position: position) == digest else {
                        return false
                    }
                    previous = digest
                    expected += 1
                }
                return true
            }
            if !isWhole { found.append(Violation(invariant: 9, subject: subject, detail: "the audit chain is broken")) }
            if found.count >= Int(Self.limit) { return found }
        }
        return found
    }

    private func nextAuditSubject(after last: String) async throws -> String? {
        try await store.read { db in
            try db.row("SELECT subject FROM audit WHERE subject > ? ORDER BY subject LIMIT 1", last)?.text("subject")
        }
    }

    /// Recomputes for every order that granted whether its refunds and disputes revoke or suspend it.
    private func checkGrants() async throws -> [Violation] {
        var found: [Violation] = []
        var last = ""
        while true {
            let cursor = last
            let page = try await store.read { db in
                try db.rows(
                    "SELECT DISTINCT order_id FROM grants WHERE order_id > ? ORDER BY order_id LIMIT 500", [cursor]
                ).map { try $0.id("order_id", Order.self) }
            }
            guard let end = page.last else { return found }
            last = end.rawValue
            found += try await store.read { db in try page.compactMap { try Self.checkGrants(of: $0, in: db) } }
            if found.count >= Int(Self.limit) { return found }
        }
    }

    private static func checkGrants(of id: ID<Order>, in db: any Database) throws -> Violation? {
        guard let order = try db.order(id) else { return nil }
        let disputes = try db.disputes(of: id)
        let revokes =
            disputes.contains { $0.state == .lost }
            || (order.isFullyRefunded && order.terms.onRefund == .revoke)
        let suspends = disputes.contains { $0.state == .open }
        let fits = try db.grants(of: id).filter { $0.source.kind == .order && $0.revocation?.reason != .admin }
            .allSatisfy {
                ($0.revocation != nil) == revokes && $0.suspended == suspends
            }
        return fits
            ? nil
            : Violation(
                invariant: 13, subject: id.rawValue,
                detail: "a grant is not what the order's refunds and disputes make it")
    }
}
