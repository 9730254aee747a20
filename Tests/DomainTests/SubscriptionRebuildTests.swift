import Domain
import FoundationEssentials
import Testing

/// The fold of a managed subscription's history.
struct SubscriptionRebuildTests {
    private static let month = BillingPeriod(unit: .month, count: 1)
    private static let retryDays: [Int64] = [1, 3, 5, 7]

    /// A subscription beside its history, which the same acts write.
    private struct Life {
        var live: ManagedSubscription
        var entries: [SubscriptionEntry] = []
        private var orders = 0

        init(trial: Int64 = 0) throws {
            let start = try #require(Timestamp(iso8601: "2026-01-31T10:00:00Z"))
            let terms = try sku(#"{"kind":"subscription","tier":"Club"}"#).terms(days: nil, quantity: 1)
            live = ManagedSubscription(
                id: try #require(ID("sub_00000000000000000000000001")),
                user: try #require(ID("usr_00000000000000000000000001")), environment: .sandbox,
                sku: try #require(SKUCode("club")), stackGroup: "club", terms: terms,
                account: try #require(AccountID("box")), price: try money("39.90 CNY"), period: month,
                trialDays: trial, graceDays: 3, anchor: PeriodAnchor(at: start, index: 0), periodStart: start,
                periodEnd: start.adding(month, times: 1), partner: "acme", createdAt: start)
            live.locale = "zh"
            let opening = SubscriptionOpening(live)
            entries.append(
                SubscriptionEntry(
                    at: start, cause: .quiet(.opened), facts: SubscriptionEntryFacts { $0.opening = opening }))
        }

        mutating func tell(
            _ cause: ManagedSubscription.ChangeCause, at now: Timestamp,
            _ facts: SubscriptionEntryFacts = SubscriptionEntryFacts()
        ) {
            entries.append(SubscriptionEntry(at: now, cause: .told(cause), facts: facts))
        }

        mutating func begin(at now: Timestamp) throws {
            let order = try nextOrder()
            if live.trialDays > 0 { live.beginTrial(at: now) } else { live.begin(paidAt: now) }
            tell(.started, at: now, SubscriptionEntryFacts { $0.order = order })
        }

        mutating func renew(at now: Timestamp) throws {
            let order = try nextOrder()
            let cause = live.renew(paidAt: now)
            tell(cause, at: now, SubscriptionEntryFacts { $0.order = order })
        }

        mutating func refuse(_ refusal: ChargeRefusal, at now: Timestamp) throws {
            let (order, payment) = (try nextOrder(), try #require(ID<Payment>("pay_00000000000000000000000001")))
            live.refuse(refusal, at: now, BillingSettings(retryDays: retryDays))
            tell(
                .paymentFailed, at: now,
                SubscriptionEntryFacts {
                    $0.order = order
                    $0.payment = payment
                    $0.refusal = refusal
                    $0.retryDays = retryDays
                })
        }

        private mutating func nextOrder() throws -> ID<Order> {
            orders += 1
            return try #require(ID("ord_0000000000000000000000000\(orders)"))
        }

        /// Folds the history as it is stored.
        func rebuilt() throws -> SubscriptionRebuild {
            var fold = SubscriptionRebuild(live.id)
            for entry in entries {
                let stored = try JSONEncoder().encode(entry.facts)
                let facts = try JSONDecoder().decode(SubscriptionEntryFacts.self, from: stored)
                #expect(facts == entry.facts && SubscriptionEntry.Kind(rawValue: entry.cause.rawValue) == entry.cause)
                try fold.apply(SubscriptionEntry(at: entry.at, cause: entry.cause, facts: facts))
            }
            return fold
        }
    }

    @Test(arguments: [0, 7] as [Int64])
    func `a life that its history makes again`(_ trial: Int64) throws {
        var life = try Life(trial: trial)
        let start = life.live.createdAt.adding(seconds: 60)
        try life.begin(at: start)
        try life.renew(at: life.live.periodEnd)
        life.live.extend(days: 3)
        life.tell(.extended, at: life.live.periodStart, SubscriptionEntryFacts { $0.days = 3 })
        let end = life.live.periodEnd
        try life.refuse(.soft, at: end)
        try life.refuse(.soft, at: end.adding(days: 1))
        #expect(try life.rebuilt().subscription == life.live && life.live.tries == 2)
        try life.renew(at: end.adding(days: 4))
        let plan = ManagedSubscription.Change(
            sku: try #require(SKUCode("year")), terms: life.live.terms, price: try money("299.00 CNY"),
            period: BillingPeriod(unit: .year, count: 1), graceDays: 5)
        life.live.change = plan
        life.tell(.changeRequested, at: end.adding(days: 5), SubscriptionEntryFacts { $0.plan = plan })
        #expect(try life.rebuilt().subscription == life.live)
        try life.renew(at: life.live.periodEnd)
        #expect(life.entries.last?.cause == .told(.changed))
        let fold = try life.rebuilt()
        #expect(fold.subscription == life.live && fold.periods == 4 && fold.begunAt == start)
        #expect(life.live.differences(from: try #require(fold.subscription)) == [])
    }

    @Test func `money that goes back and comes again`() throws {
        var life = try Life()
        let now = life.live.createdAt.adding(days: 1)
        try life.begin(at: now)
        life.live.end(.refunded, at: now.adding(days: 1))
        life.tell(
            .revoked, at: now.adding(days: 1),
            SubscriptionEntryFacts {
                $0.isStopped = false
                $0.isSuspended = false
                $0.revocation = .refund
            })
        let taken = try life.rebuilt()
        #expect(taken.subscription == life.live && taken.revocation?.reason == .refund)
        life.live.reinstate()
        life.tell(
            .reinstated, at: now.adding(days: 2),
            SubscriptionEntryFacts {
                $0.isStopped = false
                $0.isSuspended = false
                $0.isRestored = true
            })
        let restored = try life.rebuilt()
        #expect(restored.subscription == life.live && restored.revocation == nil)
    }

    @Test func `one that ran elsewhere is made from its opening`() throws {
        let life = try Life()
        var imported = life.live
        imported.state = .running
        imported.anchor = PeriodAnchor(at: imported.periodEnd, index: 1)
        let (opening, order) = (
            SubscriptionOpening(imported, importedAs: "old"), try #require(ID<Order>("ord_00000000000000000000000001"))
        )
        var fold = SubscriptionRebuild(imported.id)
        let period = try fold.apply(
            SubscriptionEntry(
                at: imported.createdAt, cause: .told(.imported),
                facts: SubscriptionEntryFacts {
                    $0.opening = opening
                    $0.order = order
                }))
        #expect(fold.subscription == imported && fold.externalID == "old")
        #expect(period?.origin == .history && period?.amount == imported.price)
    }

    /// Entries that cannot follow an opening.
    static let impossible: [(SubscriptionEntry.Kind, SubscriptionRebuild.Fault)] = [
        (.quiet(.opened), .notOpened), (.told(.started), .lacksFact), (.told(.renewed), .impossible),
        (.told(.paymentFailed), .lacksFact), (.told(.cancelRequested), .impossible), (.told(.resumed), .impossible),
        (.told(.changeRequested), .lacksFact), (.told(.paymentMethod), .impossible), (.told(.expired), .lacksFact),
        (.told(.suspended), .impossible), (.told(.revoked), .impossible), (.told(.imported), .notOpened),
        (.quiet(.moved), .lacksFact), (.quiet(.notBegun), .lacksFact), (.quiet(.retried), .impossible),
    ]

    @Test(arguments: impossible)
    func `an entry that cannot follow is refused`(
        _ cause: SubscriptionEntry.Kind, _ fault: SubscriptionRebuild.Fault
    ) throws {
        let life = try Life()
        var fold = try life.rebuilt()
        #expect(throws: fault) {
            try fold.apply(SubscriptionEntry(at: life.live.createdAt, cause: cause, facts: SubscriptionEntryFacts()))
        }
    }

    @Test func `every part that differs is named`() throws {
        var life = try Life()
        try life.begin(at: life.live.createdAt)
        let rebuilt = try #require(try life.rebuilt().subscription)
        life.live.periodEnd = life.live.periodEnd.adding(seconds: 1)
        life.live.tries = 3
        life.live.refusal = .hard
        let parts = life.live.differences(from: rebuilt).map(\.part)
        #expect(parts == ["period_end", "refusal", "tries"])
        #expect(life.live.differences(from: rebuilt).last?.words == "tries is 3, by its history 0")
    }
}
