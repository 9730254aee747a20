import Domain
import Store

extension InvariantCheck {
    private static let subscriptionPage: Int64 = 100
    /// The invariant of the charges of subscriptions that Paydesk renews, and that of their rebuild.
    static let (charging, rebuilding) = (19, 20)

    /// Rebuilds every managed subscription from its history, with its periods and its grant, and compares them.
    func checkSubscriptions() async throws -> [Violation] {
        var found = try await checkEnds()
        var subscriptions = progress.begin("subscriptions")
        var last = ""
        let overlap = overlap
        while found.count < Int(Self.limit) {
            let (cursor, now) = (last, time?.now)
            let page = try await store.report { db in
                let isHeld = try db.billingHold.find() != nil
                let moment = try now.map { try db.clock.find().businessTime(at: $0) }
                return try db.consistency.listSubscriptions(after: cursor, limit: Self.subscriptionPage).map {
                    checked -> (id: String, violations: [Violation]) in
                    let check = SubscriptionCheck(checked, isHeld: isHeld)
                    var violations = try check.violations(in: db)
                    if overlap == .stopManaged, let moment, try check.overlaps(at: moment, in: db) {
                        violations.append(
                            check.violation(Self.charging, "it renews beside a running subscription of a store"))
                    }
                    return (checked.record.subscription.id.rawValue, violations)
                }
            }
            guard let end = page.last else { break }
            last = end.id
            subscriptions.add(page.count)
            found += page.flatMap(\.violations)
        }
        return found
    }

    /// Finds set-ups that should have ended a day ago.
    private func checkEnds() async throws -> [Violation] {
        guard let real = time?.now else { return [] }
        return try await store.report { db in
            let since = try db.clock.find().businessTime(at: real).adding(days: -1)
            return try db.consistency.listUnendedSetups(since: since, limit: Self.limit).map {
                Violation(invariant: Self.charging, subject: $0, detail: "a set-up is in flight a day after its end")
            }
        }
    }
}

/// A managed subscription compared with its history.
struct SubscriptionCheck {
    private let checked: CheckedSubscription
    /// True while no mandate may be charged.
    private let isHeld: Bool
    private let stored: ManagedSubscription
    private let rebuild: SubscriptionRebuild

    init(_ checked: CheckedSubscription, isHeld: Bool) {
        self.checked = checked
        self.isHeld = isHeld
        stored = checked.record.subscription
        rebuild = checked.history.rebuild
    }

    func violation(_ invariant: Int, _ detail: String) -> Violation {
        Violation(invariant: invariant, subject: stored.id.rawValue, detail: detail)
    }

    /// The parts that the history makes otherwise.
    func violations(in db: any Database) throws -> [Violation] {
        if checked.history.isOlder { return olderViolations }
        if let fault = checked.history.fault { return [violation(InvariantCheck.rebuilding, fault)] }
        guard let rebuilt = rebuild.subscription else {
            return [violation(InvariantCheck.rebuilding, "it has no history")]
        }
        let differences = (stored.differences(from: rebuilt) + recordDifferences).map(\.words)
        let grants = differencesOfGrant(rebuilt)
        let times = try faultsOfTimes(rebuilt, in: db)
        return (differences + grants + times).map { violation(InvariantCheck.rebuilding, $0) }
            + faultsOfPeriods(rebuilt).map { violation(InvariantCheck.charging, $0) }
            + checked.history.orderFaults.map {
                Violation(invariant: InvariantCheck.charging, subject: $0.order.rawValue, detail: $0.detail)
            }
    }

    /// The rules that need no history, for a subscription that an earlier release began.
    private var olderViolations: [Violation] {
        guard stored.hasBegun, checked.newestOrder != nil else { return [] }
        var found: [String] = []
        if stored.anchor.end(of: stored.periodIndex, stored.period) != stored.periodEnd {
            found.append("its period does not end where the calendar ends it")
        }
        if checked.paidOrders != stored.periodIndex + 1 { found.append("a period has no order that was paid") }
        return found.map { violation(InvariantCheck.charging, $0) }
    }

    /// The columns beside the subscription itself.
    private var recordDifferences: [SubscriptionDifference] {
        let record = checked.record
        let found = [
            SubscriptionDifference("external_id", record.externalID, rebuild.externalID),
            SubscriptionDifference("price_change", record.priceChange, rebuild.priceChange),
            SubscriptionDifference("retried_at", record.retriedAt, rebuild.retriedAt) { "\($0.rawValue)" },
            SubscriptionDifference("noticed", record.noticed, rebuild.noticed),
        ]
        return found.compactMap(\.self)
    }

    // MARK: Periods and money

    private func faultsOfPeriods(_ rebuilt: ManagedSubscription) -> [String] {
        guard rebuild.periods > 0 else { return [] }
        var found: [String] = []
        if rebuilt.anchor.end(of: rebuilt.periodIndex, rebuilt.period) != rebuilt.periodEnd {
            found.append("its period does not end where the calendar ends it")
        }
        if checked.paidOrders != rebuild.periods {
            found.append("\(checked.paidOrders) of its orders are paid, by its history \(rebuild.periods)")
        }
        guard let order = checked.newestOrder, order.id == rebuild.newestOrder else { return found }
        let standing = order.standing(checked.newestDisputes)
        if rebuilt.state == .running {
            if standing.revocation != nil { found.append("it runs, and the money of its period went back") }
            if standing.isSuspended != rebuild.isSuspended {
                found.append("its access is not suspended by the disputes of its period alone")
            }
            if checked.isDisputed != rebuilt.isStoppedByDispute {
                found.append("its charges are not stopped by the disputes of its orders alone")
            }
        } else if rebuilt.endReason == .refunded || rebuilt.endReason == .disputed {
            if (standing.revocation == nil) != (rebuild.revocation == nil) {
                found.append("its access was taken or given back, and the money of its period was not")
            }
        }
        return found
    }

    // MARK: The grant

    /// The facts beside the rebuilt subscription on which its grant and its next act depend.
    func facts(of rebuilt: ManagedSubscription) -> RenewalFacts {
        let isOpen = rebuilt.state == .running && checked.openPeriods.contains(rebuilt.periodIndex + 1)
        return RenewalFacts(
            hasOpenOrder: isOpen, isCharging: isOpen && checked.isCharging, isSuspended: rebuild.isSuspended,
            isRevoked: rebuild.revocation != nil)
    }

    /// The grant that the history makes; nil where the subscription has not begun.
    func grant(of rebuilt: ManagedSubscription, as id: ID<Grant>) -> Grant? {
        guard let begunAt = rebuild.begunAt else { return nil }
        var grant = Grant(id, of: rebuilt, facts(of: rebuilt), begunAt: begunAt, order: rebuild.newestOrder)
        grant.revocation = rebuild.revocation
        grant.suspended = rebuild.isSuspended
        return grant
    }

    /// The subscription and the grant that the history makes; nil where it makes none.
    ///
    /// - Parameter id: the id of the grant.
    func rebuilt(as id: ID<Grant>) -> (record: ManagedSubscriptionRecord, grant: Grant?)? {
        guard !checked.history.isOlder, checked.history.fault == nil, let made = rebuild.subscription else {
            return nil
        }
        var record = checked.record
        record.subscription = made
        (record.priceChange, record.retriedAt) = (rebuild.priceChange, rebuild.retriedAt)
        (record.noticed, record.externalID) = (rebuild.noticed, rebuild.externalID)
        let runs = made.state == .running
        record.dueAt = runs ? record.dueAt ?? made.periodEnd : nil
        record.noticeAt = runs ? record.noticeAt : nil
        var grant = grant(of: made, as: id)
        // An admin's revocation stays.
        if let taken = checked.grants.first?.revocation, taken.reason == .admin { grant?.revocation = taken }
        return (record, grant)
    }

    private func differencesOfGrant(_ rebuilt: ManagedSubscription) -> [String] {
        guard let kept = checked.grants.first else {
            return rebuild.begunAt == nil ? [] : ["it has begun, and grants nothing"]
        }
        guard checked.grants.count == 1, let grant = grant(of: rebuilt, as: kept.id) else {
            return ["it has \(checked.grants.count) grants, by its history \(rebuild.begunAt == nil ? 0 : 1)"]
        }
        return kept.differences(from: grant).map(\.words)
    }

    // MARK: The times at which Paydesk acts

    /// The days after a first refusal within which a renewal is given up, whatever `billing.retry_days` says.
    private static let longestDunning: Int64 = 28

    /// The faults of the times of the next act and of the next notice.
    ///
    /// They depend on settings, so they are compared with the range in which every setting lets them lie.
    private func faultsOfTimes(_ rebuilt: ManagedSubscription, in db: any Database) throws -> [String] {
        let (due, notice) = (checked.record.dueAt, checked.record.noticeAt)
        guard rebuilt.state == .running else {
            return [
                due == nil ? nil : "it does not run, and something is due at \(due?.rawValue ?? 0)",
                notice == nil ? nil : "it does not run, and a notice is due at \(notice?.rawValue ?? 0)",
            ].compactMap(\.self)
        }
        var found: [String] = []
        let facts = facts(of: rebuilt)
        if let due {
            if due > latestAct(of: rebuilt) {
                found.append("its next act is due at \(due.rawValue), which is too late")
            }
        } else if !facts.isCharging && !isHeld {
            found.append("it runs, and nothing is due")
        }
        if try !isNoticeGood(rebuilt, in: db) {
            found.append("the notice of its renewal is due at \(notice.map { "\($0.rawValue)" } ?? "no time")")
        }
        return found
    }

    private func latestAct(of rebuilt: ManagedSubscription) -> Timestamp {
        let lapse = rebuilt.periodEnd.adding(days: BillingSettings.lapseDays).adding(seconds: rebuilt.heldSeconds + 1)
        let givenUp = rebuilt.failedAt.map { max($0.adding(days: Self.longestDunning), rebuilt.graceEnd) }
        return [lapse, givenUp, rebuilt.nextTryAt, rebuild.changedAt].compactMap(\.self).max() ?? lapse
    }

    private func isNoticeGood(_ rebuilt: ManagedSubscription, in db: any Database) throws -> Bool {
        // A price of which the user is still to be told brings its own notice.
        if let price = rebuild.priceChange, checked.priceTold != price.rawValue { return true }
        var record = checked.record
        record.subscription = rebuilt
        (record.noticed, record.priceChange) = (rebuild.noticed, rebuild.priceChange)
        let amount = ManagedSnapshots.nextAmount(rebuilt, try ManagedSnapshots.announced(record, from: db))
        let isDue = RenewalNotice(record, BillingSettings(), amount: amount) != nil
        // After a price was withdrawn the notice is looked at again.
        if let at = checked.record.noticeAt, at == rebuild.changedAt { return true }
        guard let at = checked.record.noticeAt else { return !isDue }
        return isDue && at >= rebuilt.periodStart && at <= rebuilt.periodEnd
    }

    // MARK: Two stores at once

    /// Returns whether it renews although a store's subscription of its group runs.
    func overlaps(at now: Timestamp, in db: any Database) throws -> Bool {
        guard stored.willRenew else { return false }
        return try GroupHoldings(of: stored.user, stored.environment, in: db)
            .storeSubscription(of: stored.stackGroup, at: now) != nil
    }
}
