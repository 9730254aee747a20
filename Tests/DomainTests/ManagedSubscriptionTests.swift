import Domain
import Testing

struct ManagedSubscriptionTests {
    private static let day: Int64 = 86_400
    private static let month = BillingPeriod(unit: .month, count: 1)
    private let settings = BillingSettings()

    private static func time(_ text: String) throws -> Timestamp { try #require(Timestamp(iso8601: text)) }

    /// Makes a subscription that began with a payment.
    private static func begun(
        _ start: String = "2026-01-31T10:00:00Z", period: BillingPeriod = month, grace: Int64 = 3, trial: Int64 = 0
    ) throws -> ManagedSubscription {
        let start = try time(start)
        let terms = try sku(#"{"kind":"subscription","tier":"Club"}"#).terms(days: nil, quantity: 1)
        var made = ManagedSubscription(
            id: try #require(ID("sub_00000000000000000000000001")),
            user: try #require(ID("usr_00000000000000000000000001")),
            environment: .sandbox, sku: try #require(SKUCode("club")), stackGroup: "club", terms: terms,
            account: try #require(AccountID("box")), price: try money("39.90 CNY"), period: period, trialDays: trial,
            graceDays: grace, anchor: PeriodAnchor(at: start, index: 0), periodStart: start, periodEnd: start,
            partner: nil, createdAt: start)
        if trial > 0 { made.beginTrial(at: start) } else { made.begin(paidAt: start) }
        return made
    }

    @Test func `each period is counted from the anchor`() throws {
        var subscription = try Self.begun()
        var ends = [subscription.periodEnd]
        for _ in 1...4 {
            #expect(subscription.renew(paidAt: subscription.periodEnd) == .renewed)
            ends.append(subscription.periodEnd)
        }
        #expect(ends.map(\.utcDate) == ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31", "2026-06-30"])
        #expect(subscription.periodIndex == 4)
    }

    @Test func `a trial comes first, and the paid periods are counted from its end`() throws {
        var subscription = try Self.begun(trial: 7)
        #expect(subscription.isTrial && subscription.periodEnd.utcDate == "2026-02-07")
        _ = subscription.renew(paidAt: subscription.periodEnd)
        #expect(!subscription.isTrial && subscription.periodIndex == 1)
        #expect(subscription.periodStart.utcDate == "2026-02-07" && subscription.periodEnd.utcDate == "2026-03-07")
    }

    @Test func `paid in its grace, the next period follows; after it, the period begins anew`() throws {
        var within = try Self.begun()
        within.refuse(.soft, at: within.periodEnd, settings)
        #expect(within.renew(paidAt: within.periodEnd.adding(days: 2)) == .recovered)
        #expect(within.periodStart.utcDate == "2026-02-28" && within.periodEnd.utcDate == "2026-03-31")
        var after = try Self.begun()
        after.refuse(.soft, at: after.periodEnd, settings)
        let late = after.periodEnd.adding(days: 5)
        #expect(after.renew(paidAt: late) == .recovered)
        #expect(after.periodStart == late && after.periodEnd.utcDate == "2026-04-05")
        #expect(after.failedAt == nil && after.tries == 0 && after.refusal == nil && after.nextTryAt == nil)
    }

    @Test func `a refused renewal is tried on its days and then given up`() throws {
        var subscription = try Self.begun()
        let end = subscription.periodEnd
        let open = RenewalFacts(hasOpenOrder: true)
        #expect(subscription.act(at: end, RenewalFacts(), settings, isHeld: false) == .begin)
        var now = end.adding(seconds: 2)
        subscription.refuse(.soft, at: now, settings)
        let failed = now
        for offset in settings.retryDays {
            let next = failed.adding(days: offset)
            #expect(subscription.act(at: now, open, settings, isHeld: false) == .wait(until: next))
            now = next
            #expect(subscription.act(at: now, open, settings, isHeld: false) == .tryAgain)
            subscription.refuse(.soft, at: now, settings)
        }
        #expect(subscription.tries == 5 && subscription.failedAt == failed)
        #expect(subscription.act(at: now, open, settings, isHeld: false) == .end(.paymentFailed))
    }

    @Test func `the last try is made up to a day late, and no try long after the end`() throws {
        var subscription = try Self.begun()
        let failed = subscription.periodEnd
        subscription.refuse(.soft, at: failed, settings)
        let (open, givenUp) = (RenewalFacts(hasOpenOrder: true), failed.adding(days: 7))
        #expect(subscription.act(at: givenUp.adding(days: 1), open, settings, isHeld: false) == .tryAgain)
        let late = givenUp.adding(days: 1).adding(seconds: 1)
        #expect(subscription.act(at: late, open, settings, isHeld: false) == .end(.paymentFailed))
    }

    @Test(arguments: [ChargeRefusal.hard, .actionRequired])
    func `a refusal that time does not heal waits for the payer`(_ refusal: ChargeRefusal) throws {
        var subscription = try Self.begun()
        let failed = subscription.periodEnd
        subscription.refuse(refusal, at: failed, settings)
        let open = RenewalFacts(hasOpenOrder: true)
        let givenUp = failed.adding(days: 7)
        #expect(subscription.act(at: failed, open, settings, isHeld: false) == .wait(until: givenUp))
        #expect(subscription.act(at: givenUp, open, settings, isHeld: false) == .end(.paymentFailed))
        subscription.takeMandate(at: failed.adding(days: 1))
        #expect(subscription.act(at: failed.adding(days: 1), open, settings, isHeld: false) == .tryAgain)
    }

    @Test func `what forbids a renewal comes before it`() throws {
        let running = try Self.begun()
        let end = running.periodEnd
        func act(
            _ now: Timestamp, _ facts: RenewalFacts = RenewalFacts(), isHeld: Bool = false,
            _ change: (inout ManagedSubscription) -> Void = { _ in }
        ) -> RenewalAct {
            var changed = running
            change(&changed)
            return changed.act(at: now, facts, settings, isHeld: isHeld)
        }
        #expect(act(end.adding(seconds: -1)) == .wait(until: end))
        #expect(act(end) { $0.cancellation = .canceled } == .end(.canceled))
        #expect(act(end) { $0.isStoppedByDispute = true } == .end(.disputed))
        #expect(act(end, RenewalFacts(hasOpenOrder: true, isCharging: true)) == .wait(until: nil))
        #expect(act(end, isHeld: true) == .wait(until: nil))
        #expect(act(end.adding(days: 30)) == .begin)
        #expect(act(end.adding(days: 30).adding(seconds: 1)) == .end(.lapsed))
        #expect(act(end.adding(days: 40)) { $0.heldSeconds = 20 * Self.day } == .begin)
        #expect(act(end) { $0.state = .ended } == .wait(until: nil))
    }

    @Test func `the status follows the facts and the time`() throws {
        var subscription = try Self.begun()
        let end = subscription.periodEnd
        let none = RenewalFacts()
        #expect(subscription.status(at: end.adding(seconds: -1), none) == .active)
        #expect(subscription.status(at: end, none) == .inGracePeriod)
        #expect(subscription.status(at: end.adding(days: 3), none) == .inBillingRetry)
        #expect(subscription.status(at: end, RenewalFacts(isSuspended: true)) == .suspended)
        subscription.cancellation = .canceled
        #expect(subscription.status(at: end, none) == .expired)
        subscription.end(.refunded, at: end.adding(days: -9))
        #expect(subscription.status(at: end.adding(days: -5), RenewalFacts(isRevoked: true)) == .revoked)
        #expect(subscription.status(at: end.adding(days: -5), none) == .expired)
        subscription.reinstate()
        #expect(subscription.status(at: end.adding(days: -5), none) == .active)
        #expect(subscription.status(at: end, none) == .expired)
    }

    @Test func `without days of grace an undecided renewal keeps access for an hour`() throws {
        var subscription = try Self.begun(grace: 0)
        let end = subscription.periodEnd
        #expect(subscription.status(at: end.adding(seconds: 3_599), RenewalFacts()) == .inGracePeriod)
        subscription.refuse(.soft, at: end.adding(seconds: 5), settings)
        #expect(subscription.status(at: end.adding(seconds: 6), RenewalFacts(hasOpenOrder: true)) == .inBillingRetry)
    }

    @Test func `days that an admin adds move the anchor of what follows`() throws {
        var subscription = try Self.begun()
        subscription.extend(days: 10)
        #expect(subscription.periodEnd.utcDate == "2026-03-10" && subscription.extendedDays == 10)
        _ = subscription.renew(paidAt: subscription.periodEnd)
        #expect(subscription.periodStart.utcDate == "2026-03-10" && subscription.periodEnd.utcDate == "2026-04-10")
        #expect(subscription.extendedDays == 0)
    }

    @Test func `another plan is counted from its own start`() throws {
        var subscription = try Self.begun()
        subscription.change = ManagedSubscription.Change(
            sku: try #require(SKUCode("year")), terms: subscription.terms, price: try money("299.00 CNY"),
            period: BillingPeriod(unit: .year, count: 1), graceDays: 5)
        #expect(subscription.renew(paidAt: subscription.periodEnd) == .changed)
        #expect(subscription.sku.rawValue == "year" && subscription.graceDays == 5 && subscription.change == nil)
        #expect(subscription.periodEnd.utcDate == "2027-02-28" && subscription.periodIndex == 1)
    }

    @Test func `days that are left are whole ones`() throws {
        let subscription = try Self.begun("2026-03-01T00:00:00Z", period: BillingPeriod(unit: .day, count: 30))
        let late = subscription.periodEnd.adding(seconds: -(10 * Self.day + 23 * 3_600))
        #expect(subscription.daysLeft(at: late).left == 10 && subscription.daysLeft(at: late).all == 30)
    }
}
