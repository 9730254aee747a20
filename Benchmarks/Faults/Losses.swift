import Store

/// A promise that a server could break, with the statements that break it, to see whether the checker notices.
struct Loss: Sendable {
    struct Statement: Sendable {
        let sql: String
        let arguments: [String]
    }

    let name: String
    /// Each of them changes something.
    let statements: [Statement]

    init(name: String, sql: String, arguments: [String]) {
        self.init(name: name, statements: [Statement(sql: sql, arguments: arguments)])
    }

    init(name: String, statements: [Statement]) {
        self.name = name
        self.statements = statements
    }

    /// Makes a loss of each kind from what clients were told.
    ///
    /// - Throws: an error when the load was too short to provide every kind.
    static func all(_ calls: [Call]) throws -> [Loss] {
        let expected = Expectation(calls)
        let sold = expected.purchases.values.filter { !$0.attached.isEmpty }
        let paid = expected.endings.values.filter { !$0.acknowledged.isEmpty && $0.refund == nil }
        guard let pass = sold.first(where: { !$0.sale.isConsumable }), let owner = pass.attached.keys.first,
            let stranger = Set(sold.flatMap(\.attached.keys)).subtracting(pass.claimants).min(),
            // Every request of this user has its answer.
            let holder = expected.balances.first(where: { $0.value.count == 1 && $0.value.lowerBound > 0 })?.key,
            let first = paid.first, let event = first.acknowledged.first, let second = paid.dropFirst().first,
            let refunded = expected.endings.values.first(where: { $0.refunds.values.contains(true) }),
            let refund = refunded.refunds.keys.first,
            let closed = expected.endings.values.first(where: { $0.cancelled && !$0.mayBePaid })
        else { throw Server.Failure(description: "the clients were told too little to take everything away") }
        return purchases(pass.sale.id, stranger: stranger) + [
            Loss(name: "a balance is too high", sql: balance("+ 1"), arguments: [holder]),
            Loss(name: "a balance is too low", sql: balance("- 1"), arguments: [holder]),
            Loss(name: "a grant that nobody bought", sql: foreignGrant, arguments: [pass.sale.id]),
            Loss(
                name: "a user's events have a gap",
                sql: """
                    UPDATE events SET sequence = 1000000
                    WHERE sequence = 1 AND subject = (SELECT id FROM users WHERE external_id = ?)
                    """, arguments: [owner]),
        ] + orders(first.order, second.order, event: event) + [
            Loss(name: "a refund is gone", sql: "DELETE FROM refunds WHERE id = ?", arguments: [refund]),
            Loss(
                name: "a closed order is open again",
                sql: "UPDATE orders SET state = 'open', closed_at = NULL WHERE id = ?", arguments: [closed.order.id]),
        ]
    }

    private static func purchases(_ id: String, stranger: String) -> [Loss] {
        let user = "(SELECT id FROM users WHERE external_id = ?)"
        return [
            Loss(name: "a purchase is gone", sql: "DELETE FROM purchases WHERE transaction_id = ?", arguments: [id]),
            Loss(name: "a grant is gone", sql: "DELETE FROM grants WHERE source_id = ?", arguments: [id]),
            Loss(
                name: "a grant is somebody else's", sql: "UPDATE grants SET user_id = \(user) WHERE source_id = ?",
                arguments: [stranger, id]),
            Loss(
                name: "a purchase is somebody else's",
                sql: "UPDATE purchase_owners SET user_id = \(user) WHERE original_transaction_id = ?",
                arguments: [stranger, id]),
        ]
    }

    private static func orders(_ order: OpenedOrder, _ other: OpenedOrder, event: String) -> [Loss] {
        [
            Loss(
                name: "a notification is gone", sql: "DELETE FROM notifications WHERE provider_event_id = ?",
                arguments: [event]),
            Loss(
                name: "a notification is not processed",
                sql: "UPDATE notifications SET status = 'stored', processed_at = NULL WHERE provider_event_id = ?",
                arguments: [event]),
            Loss(
                name: "a paid order is open again",
                sql: "UPDATE orders SET state = 'open', paid_at = NULL, paid_by = NULL WHERE id = ?",
                arguments: [order.id]),
            Loss(
                name: "one key has two orders", sql: "UPDATE orders SET metadata = ? WHERE id = ?",
                arguments: [other.cart.metadata, order.id]),
            Loss(
                name: "an order is announced as paid twice",
                sql: """
                    INSERT INTO events (id, subject, sequence, type, user_id, at, data)
                    SELECT 'evt_twice', subject, 1000, type, user_id, at, data FROM events
                    WHERE subject = ? AND type = 'order.paid'
                    """, arguments: [order.id]),
        ]
    }

    private static func balance(_ change: String) -> String {
        "UPDATE balances SET amount = amount \(change) WHERE user_id = (SELECT id FROM users WHERE external_id = ?)"
    }

    private static let foreignGrant = """
        INSERT INTO grants (id, user_id, sku, kind, tier, rank, source_kind, source_id, environment, purchased_at,
            perpetual, days, ends_at, stack_group, attributes)
        SELECT 'grt_foreign', user_id, sku, kind, tier, rank, 'partner', 'nobody', environment, purchased_at,
            perpetual, days, ends_at, stack_group, attributes FROM grants WHERE source_id = ?
        """
}
