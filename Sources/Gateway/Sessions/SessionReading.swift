package import Domain
import ProviderKit
import Store

/// Reads what a session shows: its fields, its newest order, and the state of the cashier.
package struct SessionReading: Sendable {
    let store: StoreAccess
    let accounts: Accounts
    let contracts: Contracts
    let offers: SessionOffers
    let settings: GatewaySettings
    /// The real clock.
    let time: TimeSource
    /// The clock of entitlements.
    let entitlementTime: BusinessTime

    /// Reads a session.
    ///
    /// - Parameters:
    ///   - view: the part of the choice that the page asks for; ignored after the session's end.
    ///   - hasReturned: true where the payer comes back from a card's page.
    package func find(
        _ caller: AuthenticatedSession, view: CashierFacts.View? = nil, hasReturned: Bool = false
    ) async throws(GatewayError) -> SessionSnapshot {
        let branding = try await branding()
        guard caller.purpose == .checkout else {
            return SessionSnapshot(caller.session, nil, branding: branding)
        }
        let plans = try await offers.plans(of: caller)
        let found = try await readOrder(of: caller)
        let mayChoose = caller.session.mayBuy(at: time.now)
        let facts = CashierFacts(
            order: try found.map(facts), view: mayChoose ? view : nil,
            needsPlan: plans.needsPlan(in: caller.session), offer: plans.offer, hasReturned: hasReturned)
        let cashier = SessionCashier(
            plans: plans, standing: facts.standing, order: found?.snapshot.withoutMetadata,
            contract: try found.flatMap(contract), granted: found?.granted)
        return SessionSnapshot(caller.session, cashier, branding: branding)
    }

    /// The appearance of the pages.
    package func branding() async throws(GatewayError) -> Branding {
        let overrides = try await store.read { db in try db.accounts.listOverrides().value() }
        let enabled = accounts.configured(with: overrides).filter(\.enabled)
        let isTest = settings.isDevelopment || (!enabled.isEmpty && enabled.allSatisfy(\.isTest))
        return Branding(settings.pages, publicURL: settings.publicURL, isTest: isTest)
    }

    private struct FoundOrder: Sendable {
        let order: Order
        let parts: OrderParts
        let snapshot: OrderSnapshot
        let granted: SessionSnapshot.Granted?
        /// The part of its contract about renewals by Paydesk.
        let renewal: RecurringContract?
        /// The set-up of a trial.
        let setup: OpenedSetupRecord?

        /// The newest attempt that was opened.
        var newest: PaymentRecord? { parts.payments.last { $0.payment.original == nil } }
    }

    private func readOrder(of caller: AuthenticatedSession) async throws(GatewayError) -> FoundOrder? {
        let now = entitlementTime.now
        return try await store.read { db in
            guard let newest = try db.sessions.findOrder(of: caller.id), let order = try db.orders.find(newest.order),
                let parts = try db.orders.listParts(of: [order], withMismatches: true).first
            else { return nil }
            return FoundOrder(
                order: order, parts: parts, snapshot: try OrderSnapshot(order, from: db, audience: .user),
                granted: try Self.granted(order, in: db, at: now),
                renewal: try parts.payments.last.flatMap {
                    try Contracts.renewal(of: order, madeAt: $0.payment.createdAt, in: db)
                },
                setup: try order.period.flatMap { _ in
                    try db.setups.find(of: order.id).flatMap { try OpenedSetupRecord.load($0, from: db) }
                })
        }
    }

    private static func granted(
        _ order: Order, in db: any Database, at now: Timestamp
    ) throws -> SessionSnapshot.Granted? {
        guard order.state == .paid else { return nil }
        let grants = try db.grants.list(of: order.user).value()
        // A pass begins after those before it in its group, so its end follows from all of them.
        let own = EntitlementRules.fold(grants, now: now).entitlements.first { $0.grant.order == order.id }
        return SessionSnapshot.Granted(
            expiresAt: own?.endsAt, isPerpetual: own?.grant.term == .perpetual, units: order.terms.units)
    }

    /// The contract of an open order; nil where its newest attempt has none.
    private func contract(_ found: FoundOrder) throws(GatewayError) -> PaymentContract? {
        guard found.order.state == .open else { return nil }
        if let setup = found.setup, setup.setup.instruction != nil { return try contracts.contract(setup) }
        guard let newest = found.newest, newest.instruction != nil else { return nil }
        let contract = try contracts.contract(found.order, newest, renewal: found.renewal)
        return contracts.hasExpired(contract.instruction) ? nil : contract
    }

    private func facts(_ found: FoundOrder) throws(GatewayError) -> CashierFacts.OrderFacts {
        CashierFacts.OrderFacts(
            found.order, found.parts, attempt: try attempt(found), timeline: found.parts.timeline)
    }

    private func attempt(_ found: FoundOrder) throws(GatewayError) -> CashierFacts.OrderFacts.Attempt {
        guard let instruction = try instruction(found) else { return .none }
        switch found.snapshot.nextAction {
        case .retry: return .ended
        case .wait: return .awaited
        case .pay, .none: return contracts.hasExpired(instruction) ? .ended : .open(instruction.type)
        }
    }

    /// The instruction of the newest attempt, for a trial of its set-up.
    private func instruction(_ found: FoundOrder) throws(GatewayError) -> PaymentInstruction? {
        if let setup = found.setup { return try contracts.instruction(setup.setup) }
        return try found.newest.flatMap(contracts.instruction)
    }
}

extension CashierFacts.OrderFacts {
    fileprivate init(_ order: Order, _ parts: OrderParts, attempt: Attempt, timeline: [TimelineEntry]) {
        let further = parts.payments.map(\.payment).filter { $0.state == .succeeded && $0.id != order.paidBy }
        let disputes = parts.disputes.map(\.state)
        let closing = timeline.last { $0.type == "order.closed" }?.detail
        self.init(
            status: order.status, hasMismatch: parts.mismatches.contains { $0.state == .open },
            dispute: disputes.contains(.open) ? .open : disputes.contains(.lost) ? .lost : nil,
            duplicate: Self.duplicate(order, further, parts.refunds),
            latePayment: order.anomalies.contains(.latePayment) && order.state == .closed
                ? Self.way(of: further, parts.refunds) : nil,
            closing: closing.flatMap { ["expired", "trial_used"].contains($0) ? $0 : nil } ?? "cancelled",
            attempt: attempt)
    }

    private static func duplicate(
        _ order: Order, _ further: [Payment], _ refunds: [Refund]
    ) -> (anomaly: Anomaly, money: Return)? {
        if order.state == .paid, order.anomalies.contains(.duplicatePayment) {
            return (.duplicatePayment, way(of: further, refunds))
        }
        guard order.anomalies.contains(.duplicateOwnership), order.state == .paid else { return nil }
        if order.status == .refunded { return (.duplicateOwnership, .done) }
        let isBegun = refunds.contains { $0.payment == order.paidBy && $0.state.isUnderWay }
        return (.duplicateOwnership, isBegun ? .begun : .held)
    }

    /// The way of the money of payments that do not pay the order.
    private static func way(of payments: [Payment], _ refunds: [Refund]) -> Return {
        let ways = payments.map { payment -> Return in
            let own = refunds.filter { $0.payment == payment.id && $0.state.isUnderWay }
            guard !own.isEmpty else { return .held }
            let returned = own.filter { $0.state == .succeeded }.reduce(0) { $0 + $1.amount.value }
            return returned >= payment.amount.value ? .done : .begun
        }
        return ways.contains(.held) ? .held : ways.contains(.begun) ? .begun : .done
    }
}

extension Refund.State {
    /// True where the money goes back or has gone back.
    fileprivate var isUnderWay: Bool { self != .failed && self != .reversed }
}
