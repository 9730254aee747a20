import Domain
import ProviderKit
import Store

/// The managed subscriptions of one transaction: moved by the facts about their orders, with their one grant each.
///
/// The caller has locked the user, which orders all acts about the subscriptions of a user.
struct ManagedSubscriptionLedger {
    let log: ChangeLog
    let billing: Billing
    let entitlements: EntitlementLedger
    let followUps: FollowUps

    var tx: any Transaction { log.tx }
    var settings: BillingSettings { billing.settings }

    /// A subscription with the facts on which its acts depend.
    struct Standing {
        var record: ManagedSubscriptionRecord
        var facts: RenewalFacts
        var openOrder: ID<Order>?
        var grant: Grant?

        var subscription: ManagedSubscription {
            get { record.subscription }
            set { record.subscription = newValue }
        }
    }

    /// Locks a subscription and reads its facts; its user is locked.
    func lock(_ id: ID<Subscription>) throws -> Standing? {
        guard let record = try tx.managedSubscriptions.lock(id) else { return nil }
        return try Self.standing(record, in: tx)
    }

    /// Reads the facts of a subscription.
    static func standing(_ record: ManagedSubscriptionRecord, in db: any Database) throws -> Standing {
        let subscription = record.subscription
        let openOrder = subscription.state == .running ? try db.managedSubscriptions.openOrder(of: subscription) : nil
        let grant = try grant(of: subscription, in: db)
        let facts = RenewalFacts(
            hasOpenOrder: openOrder != nil,
            isCharging: try openOrder.map { try db.managedSubscriptions.isCharging($0) } ?? false,
            isSuspended: grant?.suspended ?? false, isRevoked: grant?.revocation != nil)
        return Standing(record: record, facts: facts, openOrder: openOrder, grant: grant)
    }

    private static func grant(of subscription: ManagedSubscription, in db: any Database) throws -> Grant? {
        let source = Grant.Source(kind: .managedSubscription, id: subscription.id.rawValue)
        return try db.grants.find(source, in: subscription.environment, of: subscription.user)
    }

    // MARK: Writing

    /// Writes a changed subscription with its grant, the time of its next act, its history and its event.
    ///
    /// - Parameters:
    ///   - cause: the cause of the event; nil for a change that users do not see.
    ///   - facts: the contents of the entry in its history, from which `check` and `replay` rebuild it.
    func save(
        _ changed: Standing, _ cause: ManagedSubscription.ChangeCause?,
        _ facts: SubscriptionEntryFacts = SubscriptionEntryFacts(),
        revocation: Grant.Revocation?? = nil, suspended: Bool? = nil
    ) throws {
        var standing = changed
        let subscription = standing.subscription
        standing.openOrder =
            subscription.state == .running ? try tx.managedSubscriptions.openOrder(of: subscription) : nil
        standing.facts.hasOpenOrder = standing.openOrder != nil
        standing.facts.isCharging = try standing.openOrder.map { try tx.managedSubscriptions.isCharging($0) } ?? false
        if subscription.state != .pending {
            try writeGrant(&standing, revocation: revocation, suspended: suspended)
        }
        try schedule(&standing)
        try tx.managedSubscriptions.update(standing.record)
        if let cause {
            try append(.told(cause), facts, to: subscription.id)
            try log.audit(
                subject: subscription.id.rawValue, "subscription.\(cause.rawValue)", before: "",
                after: "period \(subscription.periodIndex) \(subscription.state.rawValue)", about: subscription.user)
        }
        try entitlements.publish(subscription.user)
        if let cause { try emit(cause, standing) }
        if standing.record.dueAt.map({ $0 <= log.now }) ?? false { try actNow(subscription.id) }
        if standing.record.noticeAt.map({ $0 <= log.now }) ?? false {
            try makeJob(.announceRenewal, of: subscription.id)
        }
    }

    /// Appends an entry to a subscription's history, which nothing is told of.
    func note(
        _ cause: SubscriptionEntry.QuietCause, of id: ID<Subscription>, _ fill: (inout SubscriptionEntryFacts) -> Void
    ) throws {
        try append(.quiet(cause), SubscriptionEntryFacts(fill), to: id)
    }

    private func append(
        _ cause: SubscriptionEntry.Kind, _ facts: SubscriptionEntryFacts, to id: ID<Subscription>
    ) throws {
        try tx.managedSubscriptions.insertEntry(SubscriptionEntry(at: log.now, cause: cause, facts: facts), of: id)
    }

    private func writeGrant(_ standing: inout Standing, revocation: Grant.Revocation??, suspended: Bool?) throws {
        let subscription = standing.subscription
        let order = try tx.managedSubscriptions.newestPaidOrder(of: subscription.id)
        let known = standing.grant
        var grant = Grant(
            known?.id ?? log.ids.make(), of: subscription, standing.facts,
            begunAt: known?.purchasedAt ?? subscription.periodStart, order: order)
        grant.revocation = revocation ?? known?.revocation
        _ = try tx.grants.upsert(grant)
        if let suspended, suspended != known?.suspended ?? false {
            try tx.grants.update(grant.id, revocation: grant.revocation, suspended: suspended)
        }
        grant.suspended = suspended ?? known?.suspended ?? false
        standing.grant = grant
        standing.facts.isSuspended = grant.suspended
        standing.facts.isRevoked = grant.revocation != nil
    }

    /// Sets the times of the next act and of the next notice.
    func schedule(_ standing: inout Standing) throws {
        let subscription = standing.subscription
        let isHeld = try tx.billingHold.find() != nil
        var facts = standing.facts
        if facts.isCharging, isHeld || subscription.isStoppedByDispute,
            let order = standing.openOrder, try unsentCharge(of: order) != nil
        {
            // It is not sent for now, so that no answer to it comes first.
            facts.isCharging = false
        }
        switch subscription.act(at: log.now, facts, settings, isHeld: isHeld) {
        case .wait(let next): standing.record.dueAt = next
        case .begin, .tryAgain, .end: standing.record.dueAt = log.now
        }
        standing.record.noticeAt = try notice(of: standing.record)?.at
    }

    /// The notice of the next renewal that is not sent yet.
    func notice(of record: ManagedSubscriptionRecord) throws -> RenewalNotice? {
        let change = try ManagedSnapshots.announced(record, from: tx)
        return RenewalNotice(record, settings, amount: ManagedSnapshots.nextAmount(record.subscription, change))
    }

    /// Makes the job of a subscription at once, where its next act should not wait for the search for work.
    func actNow(_ id: ID<Subscription>) throws { try makeJob(.renewSubscription, of: id) }

    private func makeJob(_ kind: JobKind, of id: ID<Subscription>) throws {
        try tx.jobs.enqueue(log.ids.make(), kind: kind.rawValue, subject: id.rawValue, delay: 0, at: log.now)
        followUps.wakeWorkers()
    }

    func emit(_ cause: ManagedSubscription.ChangeCause, _ standing: Standing) throws {
        let snapshot = try ManagedSnapshots.snapshot(standing, from: tx, at: log.now)
        let event = SubscriptionChange(snapshot: snapshot, cause: cause)
        try log.emit(
            .subscriptionChanged, subject: standing.subscription.id.rawValue, user: standing.subscription.user,
            partner: standing.subscription.partner, data: try event.storedJSON())
    }
}
