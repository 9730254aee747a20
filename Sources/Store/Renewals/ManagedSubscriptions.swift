package import Domain

/// A stored managed subscription, with the times at which Paydesk acts on it.
package struct ManagedSubscriptionRecord: Sendable, Equatable {
    package var subscription: ManagedSubscription
    /// The announced price that replaces the present one; nil where there is none.
    package var priceChange: ID<PriceChange>?
    /// The time of the next act; nil where time alone brings none.
    package var dueAt: Timestamp?
    /// The time of the next notice of a renewal; nil where there is none.
    package var noticeAt: Timestamp?
    /// The contents of the last notice: the period, its amount and its SKU.
    package var noticed: String?
    /// The time of an admin's last try.
    package var retriedAt: Timestamp?
    /// The id of an imported subscription where it ran before.
    package var externalID: String?

    package init(_ subscription: ManagedSubscription) { self.subscription = subscription }
}

/// Subscriptions that Paydesk renews itself.
///
/// `db.managedSubscriptions` reads; `tx.managedSubscriptions` also writes.
package struct ManagedSubscriptionQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var managedSubscriptions: ManagedSubscriptionQueries<any Database> {
        ManagedSubscriptionQueries(db: self, tx: self)
    }
}

extension Transaction {
    package var managedSubscriptions: ManagedSubscriptionQueries<any Transaction> {
        ManagedSubscriptionQueries(db: self, tx: self)
    }
}

extension ManagedSubscriptionQueries {
    /// The condition that a subscription has begun: it is neither pending, nor ended because another one began first.
    static var hasBegun: String { "state <> 'pending' AND (end_reason IS NULL OR end_reason <> 'duplicate')" }

    package func find(_ id: ID<Subscription>) throws(StoreError) -> ManagedSubscriptionRecord? {
        try db.row("SELECT * FROM managed_subscriptions WHERE id = ?", id).map(ManagedSubscriptionRecord.init(row:))
    }

    /// Finds the running subscription of a user and group.
    package func findRunning(
        of user: ID<User>, _ environment: Environment, group: String
    ) throws(StoreError) -> ManagedSubscriptionRecord? {
        try db.row(
            """
            SELECT * FROM managed_subscriptions
            WHERE user_id = ? AND environment = ? AND stack_group = ? AND state = 'running'
            """, user, environment.rawValue, group
        ).map(ManagedSubscriptionRecord.init(row:))
    }

    /// Lists a user's subscriptions that have begun and whose ids come before `last`, newest first.
    package func list(
        of user: ID<User>, before last: ID<Subscription>?, limit: Int64
    ) throws(StoreError) -> [ManagedSubscriptionRecord] {
        try db.rows(
            """
            SELECT * FROM managed_subscriptions WHERE user_id = ? AND id < ? AND \(Self.hasBegun)
            ORDER BY id DESC LIMIT ?
            """, [user, last?.rawValue ?? "~", limit]
        ).map(ManagedSubscriptionRecord.init(row:))
    }

    /// Lists a user's subscriptions that have not ended, pending ones too.
    package func listUnended(of user: ID<User>) throws(StoreError) -> [ManagedSubscriptionRecord] {
        try db.rows(
            "SELECT * FROM managed_subscriptions WHERE user_id = ? AND state <> 'ended' ORDER BY id", [user]
        ).map(ManagedSubscriptionRecord.init(row:))
    }

    /// Returns whether a user has ever begun a subscription of a group, in an environment.
    package func hasBegun(
        of user: ID<User>, _ environment: Environment, group: String
    ) throws(StoreError) -> Bool {
        try db.row(
            """
            SELECT id FROM managed_subscriptions WHERE user_id = ? AND environment = ? AND stack_group = ?
                AND \(Self.hasBegun) LIMIT 1
            """, user, environment.rawValue, group) != nil
    }

    /// Returns whether a trial was claimed for a user or an instrument.
    package func isClaimed(_ claim: TrialClaim) throws(StoreError) -> Bool {
        let marks = Array(repeating: "?", count: claim.digests.count).joined(separator: ", ")
        let named: [any SQLBindable] = [claim.environment.rawValue, claim.group, claim.kind.rawValue]
        return try !db.rows(
            """
            SELECT 1 AS one FROM trial_claims
            WHERE environment = ? AND stack_group = ? AND kind = ? AND digest IN (\(marks))
            """, named + claim.digests.map { $0 as any SQLBindable }
        ).isEmpty
    }

    /// Returns whether a running subscription is of a SKU, or is to change to it.
    package func isRunning(of sku: SKUCode) throws(StoreError) -> Bool {
        try db.row(
            "SELECT id FROM managed_subscriptions WHERE sku = ? AND state = 'running' LIMIT 1", sku) != nil
    }

    /// Finds an imported subscription by the id that it has elsewhere.
    package func find(at account: AccountID, external id: String) throws(StoreError) -> ManagedSubscriptionRecord? {
        try db.row("SELECT * FROM managed_subscriptions WHERE account = ? AND external_id = ?", account, id)
            .map(ManagedSubscriptionRecord.init(row:))
    }

    /// Lists the timeline of a subscription, oldest first.
    package func timeline(of id: ID<Subscription>) throws(StoreError) -> [TimelineEntry] {
        try db.rows(
            """
            SELECT at, cause AS type, detail FROM subscription_timeline WHERE subscription_id = ? ORDER BY position
            """, [id]
        ).map(TimelineEntry.init(row:))
    }
}

extension ManagedSubscriptionQueries where Connection == any Transaction {
    /// Locks a subscription until the commit; its user is locked before it.
    package func lock(_ id: ID<Subscription>) throws(StoreError) -> ManagedSubscriptionRecord? {
        if tx.dialect.locksRows {
            try tx.enqueue("SELECT id FROM managed_subscriptions WHERE id = ?" + tx.dialect.forUpdate, id)
        }
        return try find(id)
    }

    package func insert(_ record: ManagedSubscriptionRecord) throws(StoreError) {
        let made = record.subscription
        try tx.enqueue(
            """
            INSERT INTO managed_subscriptions (id, user_id, environment, sku, stack_group, terms, account, currency, price,
                unit, unit_count, trial_days, grace_days, anchor_at, anchor_index, period_index, period_start, period_end,
                state, external_id, locale, partner, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            made.id, made.user, made.environment.rawValue, made.sku, made.stackGroup, try made.terms.storedJSON(),
            made.account, made.price.currency.code, made.price.value, made.period.unit.rawValue, made.period.count,
            made.trialDays, made.graceDays, made.anchor.at, made.anchor.index, made.periodIndex, made.periodStart,
            made.periodEnd, made.state.rawValue, record.externalID, made.locale, made.partner,
            made.createdAt)
    }

    /// Writes everything about a subscription that can change; the caller holds its lock.
    package func update(_ record: ManagedSubscriptionRecord) throws(StoreError) {
        let now = record.subscription
        try tx.enqueue(
            """
            UPDATE managed_subscriptions SET account = ?, environment = ?, sku = ?, terms = ?, price = ?, unit = ?, unit_count = ?, grace_days = ?,
                anchor_at = ?, anchor_index = ?, period_index = ?, period_start = ?, period_end = ?, extended_days = ?,
                cancellation = ?, plan = ?, price_change = ?, state = ?, ended_at = ?, end_reason = ?, failed_at = ?,
                refusal = ?, tries = ?, next_try_at = ?, charging_stopped_by = ?, held_seconds = ?, retried_at = ?,
                due_at = ?, notice_at = ?, noticed = ?
            WHERE id = ?
            """,
            now.account, now.environment.rawValue, now.sku, try now.terms.storedJSON(), now.price.value,
            now.period.unit.rawValue, now.period.count,
            now.graceDays, now.anchor.at, now.anchor.index, now.periodIndex, now.periodStart, now.periodEnd,
            now.extendedDays, now.cancellation?.rawValue, try now.change.map(StoredPlan.init)?.storedJSON(),
            record.priceChange, now.state.rawValue, now.endedAt, now.endReason?.rawValue, now.failedAt,
            now.refusal?.rawValue, now.tries, now.nextTryAt, now.isStoppedByDispute ? "dispute" : nil, now.heldSeconds,
            record.retriedAt, record.dueAt, record.noticeAt, record.noticed, now.id)
    }

    /// Claims a trial for a user or an instrument.
    ///
    /// - Returns: false where it was claimed before.
    package func claimTrial(_ claim: TrialClaim) throws(StoreError) -> Bool {
        guard let digest = claim.digests.first, try !isClaimed(claim) else { return false }
        return try tx.execute(
            """
            INSERT INTO trial_claims (environment, stack_group, kind, digest) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
            """, claim.environment.rawValue, claim.group, claim.kind.rawValue, digest) == 1
    }
}

extension ManagedSubscriptionRecord {
    init(row: Row) throws(StoreError) {
        let currency = try row.text("currency")
        guard let currency = Currency(currency) else { throw .corrupt("column currency is not a currency") }
        var found = ManagedSubscription(
            id: try row.id("id"), user: try row.id("user_id"), environment: try row.choice("environment"),
            sku: try row.code("sku"), stackGroup: try row.text("stack_group"), terms: try row.json("terms"),
            account: try row.account("account"), price: Money(value: try row.int("price"), currency: currency),
            period: BillingPeriod(unit: try row.choice("unit"), count: try row.int("unit_count")),
            trialDays: try row.int("trial_days"), graceDays: try row.int("grace_days"),
            anchor: PeriodAnchor(at: try row.time("anchor_at"), index: try row.int("anchor_index")),
            periodIndex: try row.int("period_index"), periodStart: try row.time("period_start"),
            periodEnd: try row.time("period_end"), state: try row.choice("state"),
            partner: try row.optionalText("partner"), createdAt: try row.time("created_at"))
        found.extendedDays = try row.int("extended_days")
        found.cancellation = try row.optionalChoice("cancellation")
        found.change =
            try row.optionalText("plan") == nil ? nil : try row.json("plan", StoredPlan.self).change(in: currency)
        found.endedAt = try row.optionalTime("ended_at")
        found.endReason = try row.optionalChoice("end_reason")
        found.failedAt = try row.optionalTime("failed_at")
        found.refusal = try row.optionalChoice("refusal")
        found.tries = try row.int("tries")
        found.nextTryAt = try row.optionalTime("next_try_at")
        found.isStoppedByDispute = try row.optionalText("charging_stopped_by") != nil
        found.heldSeconds = try row.int("held_seconds")
        found.locale = try row.optionalText("locale")
        subscription = found
        priceChange = try row.optionalID("price_change")
        dueAt = try row.optionalTime("due_at")
        noticeAt = try row.optionalTime("notice_at")
        noticed = try row.optionalText("noticed")
        retriedAt = try row.optionalTime("retried_at")
        externalID = try row.optionalText("external_id")
    }
}

extension Row {
    /// Reads one of a closed list of words; nil for null.
    fileprivate func optionalChoice<Choice: RawRepresentable<String>>(
        _ column: String, _: Choice.Type = Choice.self
    ) throws(StoreError) -> Choice? {
        self[column] == .null ? nil : try choice(column)
    }
}

/// The plan of a change as it is stored; its currency is the subscription's.
private struct StoredPlan: Codable {
    let sku: String
    let terms: OrderTerms
    let price: Int64
    let period: BillingPeriod
    let grace_days: Int64

    init(_ change: ManagedSubscription.Change) {
        sku = change.sku.rawValue
        terms = change.terms
        price = change.price.value
        period = change.period
        grace_days = change.graceDays
    }

    func change(in currency: Currency) throws(StoreError) -> ManagedSubscription.Change {
        guard let code = SKUCode(sku) else { throw .corrupt("a plan has no SKU") }
        return ManagedSubscription.Change(
            sku: code, terms: terms, price: Money(value: price, currency: currency), period: period,
            graceDays: grace_days)
    }
}
