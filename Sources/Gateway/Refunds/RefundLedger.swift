import Domain
import ProviderKit
import Store

/// The refunds of one transaction: opens them, moves them by the facts of their providers, and sums them.
struct RefundLedger {
    let log: ChangeLog
    let entitlements: EntitlementLedger

    private var tx: any Transaction { log.tx }

    /// Applies an account's report about a refund of a locked payment, which was made here or at the provider.
    func apply(_ report: RefundReport, from account: AccountID, to reported: LockedPayment) throws {
        guard reported.belongs(to: account) else { return }
        let locked = try payment(of: report, reported)
        guard let refund = try find(report, locked) else { return }
        if let amount = report.amount, amount != refund.amount {
            try log.record(
                .amountMismatch, locked.order, "\(refund.id) of \(refund.amount) was reported with \(amount)")
            return
        }
        let fact: Refund.State.Fact =
            switch report.outcome {
            case .pending: .accepted
            case .succeeded: .succeeded
            case .failed: .failed
            case .reversed: .reversed
            }
        try move(refund, fact, reference: report.reference, locked)
    }

    /// Finds the refunded payment: the reported one, or a second payment under the same number.
    private func payment(of report: RefundReport, _ reported: LockedPayment) throws -> LockedPayment {
        if let known = try report.refund.flatMap({ try tx.refunds.find($0) }), known.payment != reported.payment.id,
            let record = try tx.payments.find(known.payment).value(), record.payment.original == reported.payment.id
        {
            return LockedPayment(order: reported.order, record: record)
        }
        return try reported.second(under: report.paymentReference, in: tx)
    }

    /// Records that a call about a refund ended without an answer.
    func markUnknown(_ refund: Refund) throws {
        guard let locked = try LockedPayment.lock(refund.payment, in: tx), let current = try tx.refunds.find(refund.id)
        else {
            return
        }
        try move(current, .outcomeUnknown, reference: nil, locked)
    }

    /// Makes the durable intent of a refund; the caller has locked the payment.
    ///
    /// - Returns: nil where less than the amount is left, which a guarded statement checks.
    func open(_ amount: Money, of payment: Payment, reason: String) throws -> Refund? {
        guard try tx.payments.reserveRefund(amount.value, of: payment.id) else { return nil }
        let refund = Refund(
            id: log.ids.make(), order: payment.order, payment: payment.id, amount: amount, reason: reason,
            createdAt: log.now)
        try tx.refunds.insert(refund)
        guard let order = try tx.orders.find(payment.order) else { return refund }
        try log.appendTimeline(order, "refund.created", "\(refund.id) \(amount)")
        try log.audit(order, "refund.created", before: "", after: "\(refund.id) \(amount)", reason: reason)
        return refund
    }

    private func find(_ report: RefundReport, _ locked: LockedPayment) throws -> Refund? {
        if let id = report.refund, let refund = try tx.refunds.find(id) {
            guard refund.payment == locked.payment.id else {
                try log.record(.contradictingFact, locked.order, "\(id) was reported for \(locked.payment.id)")
                return nil
            }
            return refund
        }
        let known = try tx.refunds.list(of: locked.payment.id).value()
        if let reference = report.reference, let refund = known.first(where: { $0.reference == reference }) {
            return refund
        }
        return try adopt(report, locked)
    }

    /// Stores a refund that was made at the provider, or that a restored backup lacks; it is queried but never sent.
    ///
    /// - Returns: nil where its amount is unknown, because the provider is queried for that first, or cannot be right.
    private func adopt(_ report: RefundReport, _ locked: LockedPayment) throws -> Refund? {
        let whole = locked.payment.amount
        guard let amount = report.amount else { return nil }
        guard amount.currency == whole.currency, (1...whole.value).contains(amount.value) else {
            try log.record(
                .contradictingFact, locked.order, "a refund of \(amount) was reported for \(locked.payment.id)")
            return nil
        }
        let refund = Refund(
            id: report.refund ?? log.ids.make(), order: locked.order.id, payment: locked.payment.id, amount: amount,
            reason: Refund.madeElsewhere, state: .pending, reference: report.reference?.stored(255), counted: false,
            createdAt: log.now)
        try tx.refunds.insert(refund)
        try log.appendTimeline(locked.order, "refund.adopted", "\(refund.id) \(refund.amount)")
        try log.audit(locked.order, "refund.adopted", before: "", after: "\(refund.id) \(refund.amount)")
        try recount(locked.payment.id, locked.order)
        return refund
    }

    private func move(
        _ refund: Refund, _ fact: Refund.State.Fact, reference: String?, _ locked: LockedPayment
    ) throws {
        let order = locked.order
        let move = refund.state.applying(fact)
        if let anomaly = move.anomaly {
            try log.record(
                anomaly, order, "\(refund.id) of \(refund.amount) was reported \(fact.rawValue) after it failed")
        }
        let state = move.state
        guard state != refund.state else { return }
        try tx.refunds.move(refund.id, from: refund.state, to: state, reference: reference?.stored(255))
        try log.appendTimeline(order, "refund.\(state.rawValue)", "\(refund.id) \(refund.amount)")
        try log.audit(
            order, "refund.\(state.rawValue)", before: "\(refund.id) \(refund.state.rawValue)",
            after: "\(refund.id) \(state.rawValue)")
        try recount(locked.payment.id, order)
        try entitlements.recompute(order.id)
        switch state {
        case .succeeded: try log.emit(.refundSucceeded, order.id)
        case .failed, .reversed: try log.emit(.refundFailed, order.id)
        case .created, .pending, .unknown: break
        }
    }

    /// Sums a payment's refunds and lost disputes again, in the order in which they were made.
    ///
    /// A refund beyond the captured amount is stored and not counted, and is an anomaly.
    func recount(_ payment: ID<Payment>, _ order: Order) throws {
        let (disputes, refunds) = (try tx.disputes.list(of: payment), try tx.refunds.list(of: payment))
        guard let record = try tx.payments.find(payment).value() else { return }
        var left = record.captured
        var (refunding, refunded, lost) = (0 as Int64, 0 as Int64, 0 as Int64)
        var exceeds = false
        let known = try disputes.value()
        for dispute in known where dispute.state == .lost {
            let taken = min(dispute.amount.value, left)
            exceeds = exceeds || taken < dispute.amount.value
            lost += taken
            left -= taken
        }
        let open = known.filter { $0.state == .open }.reduce(into: 0 as Int64) { $0 += $1.amount.value }
        let disputed = min(open, left)
        for refund in try refunds.value() {
            let fits = refund.state.isBinding && refund.amount.value <= left
            if fits {
                left -= refund.amount.value
                refunding += refund.amount.value
                if refund.state == .succeeded { refunded += refund.amount.value }
            }
            exceeds = exceeds || (refund.state.isBinding && !fits)
            if fits != refund.counted { try tx.refunds.setCounted(refund.id, fits) }
        }
        let kept = (record.refunding, record.refunded, record.lost, record.disputed)
        if kept != (refunding, refunded, lost, disputed) {
            try tx.payments.setSums(payment, refunding: refunding, refunded: refunded, lost: lost, disputed: disputed)
        }
        if exceeds && record.captured > 0 {
            try log.record(.contradictingFact, order, "more than \(payment) captured was given back")
        }
    }
}
