import Store

extension Bench {
    private static let lostLives = 2
    private static let lostPeriods: Int64 = 3

    /// Lets subscriptions renew for some days; after that it removes or changes what their renewals stored, piece by
    /// piece and then the last renewals as a whole.
    ///
    /// - Returns: whether the checker reported every loss.
    func loseRenewals() async throws -> Bool {
        let first = try await clock.read().now + 3_600
        let wishes = (0..<Self.lostLives).map { index in
            RenewalBeginning.Wish(
                user: "life-\(index)", plan: .daily, account: Configuration.renewalAccounts[index],
                firstStart: first, reply: .answered)
        }
        try await beginning.begin(wishes, in: renewals)
        for period in 1...Self.lostPeriods {
            if period == Self.lostPeriods {
                try await kill()
                try place.keepCopy()
                try await start()
            }
            let time = first + (period - 1) * RenewalPlan.daily.length + 7_200
            try await clock.advance(to: time)
            renewals.reach(time)
            let violations = try await compare()
            guard violations.isEmpty else {
                throw Server.Failure(description: "violations before anything was taken away: \(violations.prefix(5))")
            }
        }
        try await kill()
        let pieces = try await lose(try await renewalLosses())
        try place.restoreCopy()
        try await start()
        let whole = report("the last renewals are forgotten", try await compare())
        try await kill()
        return pieces && whole
    }

    private func renewalLosses() async throws -> [Loss] {
        let store = try place.openReadOnly()
        let facts: Result<Facts, any Error>
        do { facts = .success(try await store.read { try Facts($0) }) } catch { facts = .failure(error) }
        await store.engine.close()
        return try Loss.renewals(renewals.all, try facts.get().renewals)
    }
}

extension Loss {
    /// Makes a loss of each kind from what the renewals of the first of several lives stored.
    ///
    /// - Throws: an error when it has not renewed twice.
    static func renewals(_ lives: [RenewalLife], _ records: RenewalRecords) throws -> [Loss] {
        let orders = lives.first.flatMap { records.orders[$0.subscription] } ?? []
        let paid = orders.filter { $0.period > 0 && $0.state == "paid" }
        guard let life = lives.first, let other = lives.dropFirst().first, let newest = paid.last,
            let earlier = paid.dropLast().last,
            let charge = records.charges.first(where: { $0.order == newest.id })?.payment
        else { throw Server.Failure(description: "the subscriptions renewed too little to take everything away") }
        return ofCharges(charge, of: newest.id) + ofOrders(newest.id, earlier: earlier.id)
            + ofSubscription(life.subscription) + ofGrant(life.subscription, stranger: other.user)
            + ofMandate(life.subscription, other: other.subscription)
    }

    private static func ofCharges(_ charge: String, of order: String) -> [Loss] {
        let nothing = "captured = 0, refunding = 0, refunded = 0, lost = 0"
        return [
            Loss(
                name: "a charge is not in the service's book", sql: "DELETE FROM account_book WHERE key = ?",
                arguments: [charge]),
            Loss(
                name: "a period is charged twice",
                sql: """
                    INSERT INTO account_book (account, key, value, position)
                    SELECT account, 'pay_twice', value, position + 1000000 FROM account_book WHERE key = ?
                    """, arguments: [charge]),
            Loss(
                name: "a charge was taken and counts as failed",
                sql: "UPDATE payments SET state = 'failed', \(nothing) WHERE id = ?", arguments: [charge]),
            Loss(
                name: "a charge was taken and counts as withdrawn",
                sql: "UPDATE payments SET state = 'cancelled', \(nothing) WHERE id = ?", arguments: [charge]),
            Loss(
                name: "a charge counts as another amount",
                sql: "UPDATE payments SET amount = amount + 1, captured = captured + 1 WHERE id = ?",
                arguments: [charge]),
            Loss(
                name: "a charge is of no mandate", sql: "UPDATE payments SET mandate_id = NULL WHERE id = ?",
                arguments: [charge]),
            Loss(
                name: "a charge is another account's",
                sql: "UPDATE payments SET account = '\(Configuration.urlAccount)' WHERE id = ?", arguments: [charge]),
            Loss(
                name: "a charge will never be asked about",
                statements: [
                    Statement(
                        sql: "UPDATE payments SET state = 'failed', \(nothing) WHERE id = ?", arguments: [charge]),
                    Statement(
                        sql: "UPDATE orders SET state = 'open', paid_at = NULL, paid_by = NULL WHERE id = ?",
                        arguments: [order]),
                ]),
        ]
    }

    private static func ofOrders(_ order: String, earlier: String) -> [Loss] {
        [
            Loss(
                name: "a renewal's order is open again",
                sql: "UPDATE orders SET state = 'open', paid_at = NULL, paid_by = NULL WHERE id = ?",
                arguments: [order]),
            Loss(
                name: "a renewal's order is closed",
                sql: "UPDATE orders SET state = 'closed', paid_at = NULL, paid_by = NULL WHERE id = ?",
                arguments: [order]),
            Loss(
                name: "a renewal's order is of no subscription",
                sql: "UPDATE orders SET subscription_id = NULL WHERE id = ?", arguments: [order]),
            Loss(
                name: "a period is missing between two", sql: "UPDATE orders SET subscription_id = NULL WHERE id = ?",
                arguments: [earlier]),
            Loss(
                name: "a renewal's order has another price", sql: "UPDATE orders SET amount = amount + 1 WHERE id = ?",
                arguments: [order]),
            Loss(
                name: "a period ends an hour early",
                sql: "UPDATE orders SET period_end = period_end - 3600 WHERE id = ?", arguments: [order]),
            Loss(
                name: "a period begins an hour late",
                sql: "UPDATE orders SET period_start = period_start + 3600 WHERE id = ?", arguments: [order]),
            Loss(
                name: "a renewal's order is announced as paid twice",
                sql: """
                    INSERT INTO events (id, subject, sequence, type, user_id, at, data)
                    SELECT 'evt_twice', subject, 1000, type, user_id, at, data FROM events
                    WHERE subject = ? AND type = 'order.paid'
                    """, arguments: [order]),
        ]
    }

    private static func ofSubscription(_ id: String) -> [Loss] {
        let length = RenewalPlan.daily.length
        let without = ["DELETE FROM subscription_timeline", "DELETE FROM mandates"]
        return [
            Loss(
                name: "a subscription is gone",
                statements: [
                    Statement(
                        sql: """
                            UPDATE payments SET mandate_id = NULL
                            WHERE mandate_id IN (SELECT id FROM mandates WHERE subscription_id = ?)
                            """, arguments: [id]),
                    Statement(
                        sql: "UPDATE orders SET subscription_id = NULL WHERE subscription_id = ?", arguments: [id]),
                ] + without.map { Statement(sql: "\($0) WHERE subscription_id = ?", arguments: [id]) } + [
                    Statement(sql: "DELETE FROM managed_subscriptions WHERE id = ?", arguments: [id])
                ]),
            Loss(
                name: "a subscription has ended",
                sql: """
                    UPDATE managed_subscriptions SET state = 'ended', ended_at = period_end, end_reason = 'lapsed'
                    WHERE id = ?
                    """, arguments: [id]),
            Loss(
                name: "a subscription has forgotten its last period",
                sql: """
                    UPDATE managed_subscriptions SET period_index = period_index - 1, period_end = period_start,
                        period_start = period_start - \(length)
                    WHERE id = ?
                    """, arguments: [id]),
            Loss(
                name: "a subscription runs to a time that nobody paid for",
                sql: "UPDATE managed_subscriptions SET period_end = period_end + \(length) WHERE id = ?",
                arguments: [id]),
            Loss(
                name: "a subscription counts as refused",
                sql: "UPDATE managed_subscriptions SET failed_at = period_end WHERE id = ?", arguments: [id]),
            Loss(
                name: "a subscription is another account's",
                sql: "UPDATE managed_subscriptions SET account = '\(Configuration.urlAccount)' WHERE id = ?",
                arguments: [id]),
            Loss(
                name: "a renewal is not in the timeline",
                sql: """
                    DELETE FROM subscription_timeline WHERE cause = 'renewed' AND position =
                        (SELECT MAX(t.position) FROM subscription_timeline t
                        WHERE t.cause = 'renewed' AND t.subscription_id = subscription_timeline.subscription_id)
                        AND subscription_id = ?
                    """, arguments: [id]),
        ]
    }

    private static func ofGrant(_ id: String, stranger: String) -> [Loss] {
        let ofLife = "WHERE source_kind = 'managed_subscription' AND source_id = ?"
        let length = RenewalPlan.daily.length
        return [
            Loss(name: "a subscription's grant is gone", sql: "DELETE FROM grants \(ofLife)", arguments: [id]),
            Loss(
                name: "a subscription's grant is somebody else's",
                sql: "UPDATE grants SET user_id = (SELECT id FROM users WHERE external_id = ?) \(ofLife)",
                arguments: [stranger, id]),
            Loss(
                name: "a paid period was not given",
                sql: "UPDATE grants SET paid_until = paid_until - \(length), ends_at = ends_at - \(length) \(ofLife)",
                arguments: [id]),
            Loss(
                name: "a period was given that nobody paid for",
                sql: "UPDATE grants SET paid_until = paid_until + \(length), ends_at = ends_at + \(length) \(ofLife)",
                arguments: [id]),
            Loss(
                name: "a subscription's grant is taken back",
                sql: "UPDATE grants SET revoked_at = 1, revoked_by = 'refund' \(ofLife)", arguments: [id]),
            Loss(
                name: "a subscription's grant is of no order", sql: "UPDATE grants SET order_id = NULL \(ofLife)",
                arguments: [id]),
            Loss(
                name: "a grant of a subscription that nobody began",
                sql: """
                    INSERT INTO grants (id, user_id, sku, kind, tier, rank, source_kind, source_id, environment,
                        purchased_at, perpetual, days, ends_at, stack_group, attributes)
                    SELECT 'grt_foreign', user_id, sku, kind, tier, rank, source_kind, 'sub_nobody', environment,
                        purchased_at, perpetual, days, ends_at, stack_group, attributes FROM grants \(ofLife)
                    """, arguments: [id]),
        ]
    }

    private static func ofMandate(_ id: String, other: String) -> [Loss] {
        let ofLife = "WHERE subscription_id = ?"
        return [
            Loss(
                name: "a mandate is gone",
                statements: [
                    Statement(
                        sql: """
                            UPDATE payments SET mandate_id = NULL
                            WHERE mandate_id IN (SELECT id FROM mandates \(ofLife))
                            """, arguments: [id]),
                    Statement(sql: "DELETE FROM mandates \(ofLife)", arguments: [id]),
                ]),
            Loss(
                name: "a mandate is revoked", sql: "UPDATE mandates SET state = 'revoked' \(ofLife)", arguments: [id]),
            Loss(
                name: "a mandate is another subscription's",
                sql: "UPDATE mandates SET state = 'dead', subscription_id = ? \(ofLife)", arguments: [other, id]),
        ]
    }
}
