import Domain
import ProviderKit
import Store

/// The disputes of one transaction: an open one suspends its order's grant, a won one reinstates it, a lost one revokes it.
struct DisputeLedger {
    /// The seconds by which a provider's clock may be ahead of ours; a later time is replaced by ours, because
    /// it would win over every report after it.
    private static let clockSkew: Int64 = 86_400

    let log: ChangeLog
    let refunds: RefundLedger
    let entitlements: EntitlementLedger

    private var tx: any Transaction { log.tx }

    /// Records an account's report about a dispute of a locked payment, unless a newer one is stored.
    func apply(_ report: DisputeReport, from account: AccountID, to reported: LockedPayment) throws {
        guard reported.belongs(to: account) else { return }
        let locked = try reported.second(under: report.paymentReference, in: tx)
        let fact: Dispute.State =
            switch report.outcome {
            case .opened: .open
            case .won: .won
            case .lost: .lost
            }
        let whole = locked.payment.amount
        var disputed = report.amount
        if let amount = disputed, amount.currency != whole.currency {
            // The share of the payment is unknown, so all of it counts as disputed.
            try log.record(
                .disputeCurrency, locked.order, "a dispute of \(amount) was reported for \(locked.payment.id)")
            disputed = whole
        } else if let amount = disputed, !(1...whole.value).contains(amount.value) {
            try log.record(
                .amountMismatch, locked.order, "a dispute of \(amount) was reported for \(locked.payment.id)")
            // A bank may claim more than was paid, by its own exchange rate; the dispute counts all the same.
            guard amount.value > whole.value else { return }
            disputed = whole
        }
        let at = report.at.flatMap { $0 > log.now.adding(seconds: Self.clockSkew) ? nil : $0 } ?? log.now
        let reference = report.reference?.stored(255) ?? locked.payment.id.rawValue
        if let dispute = try tx.disputes.list(of: locked.payment.id).value().first(where: { $0.reference == reference })
        {
            let amount = disputed ?? dispute.amount
            let wasOpen = try fact == .open && at == dispute.toldAt && wasOpened(dispute)
            let isNewer =
                dispute.state == fact
                ? at > dispute.toldAt : dispute.isFollowed(by: fact, at: at, wasOpen: wasOpen)
            guard isNewer else { return }
            try tx.disputes.move(dispute.id, to: fact, amount: amount, toldAt: at)
            guard fact != dispute.state || amount != dispute.amount else { return }
            try recordChange(of: dispute.id, from: dispute.state.rawValue, to: fact, locked)
        } else {
            let dispute = Dispute(
                id: log.ids.make(), order: locked.order.id, payment: locked.payment.id, reference: reference,
                amount: disputed ?? whole, state: fact, createdAt: log.now, toldAt: at)
            try tx.disputes.insert(dispute)
            try recordChange(of: dispute.id, from: "", to: fact, locked)
        }
    }

    /// Returns whether a statement has opened the dispute; one that arrives again is not applied again.
    private func wasOpened(_ dispute: Dispute) throws -> Bool {
        try tx.orders.timeline(of: dispute.order).value().contains {
            $0.type == "dispute.opened" && $0.detail == dispute.id.rawValue
        }
    }

    private func recordChange(
        of dispute: ID<Dispute>, from old: String, to new: Dispute.State, _ locked: LockedPayment
    ) throws {
        let order = locked.order
        let type = "dispute.\(new == .open ? "opened" : new.rawValue)"
        try log.appendTimeline(order, type, dispute.rawValue)
        try log.audit(order, type, before: "\(dispute) \(old)", after: "\(dispute) \(new.rawValue)")
        try refunds.recount(locked.payment.id, order)
        try entitlements.recompute(order.id)
        try log.emit(new == .open ? .disputeOpened : .disputeClosed, order.id)
    }
}
