import Domain
import ProviderKit
import Store

/// The payments of one transaction: moves them, and with a success their orders, by the facts of providers.
struct PaymentLedger {
    let log: ChangeLog
    let policies: OrderPolicies
    let followUps: FollowUps
    let refunds: RefundLedger
    let entitlements: EntitlementLedger

    var tx: any Transaction { log.tx }

    /// Applies an account's report about a locked payment.
    func apply(_ report: PaymentReport, from account: AccountID, to locked: LockedPayment) throws {
        let reference = locked.belongs(to: account) ? report.reference?.stored(255) : nil
        if let reference, let own = locked.payment.reference, own != reference, locked.payment.state == .succeeded {
            // Another payment at the provider under the same number: only its success matters, as a second payment.
            guard case .succeeded(let money) = report.outcome else { return }
            return try applySecondSuccess(money, reference, locked)
        }
        if let reference, try !tx.payments.setReference(reference, of: locked.payment) {
            try log.record(
                .contradictingFact, locked.order, "\(locked.payment.id) was reported with another payment's reference")
        }
        switch report.outcome {
        case .succeeded(let money):
            try succeed(money, reference, leaving: report.mandate, from: account, locked)
        case .accepted: try move(.accepted, locked, from: account, detail: "")
        case .pending(let status):
            try move(.accepted, locked, from: account, detail: status)
            if report.outcome == .processing { try recordProcessing(locked, from: account) }
        case .failed(let reason):
            try move(.failed, locked, from: account, detail: reason)
            if let mandate = locked.record.mandate, locked.belongs(to: account), !locked.payment.state.isFinal {
                if reason == PaymentReport.mandateEnded {
                    _ = try tx.mandates.move(mandate, from: .active, to: .dead)
                }
                try entitlements.managed.refused(locked.order, by: locked.payment, report.refusal ?? .soft)
            }
        case .cancelled:
            try move(.cancelled, locked, from: account, detail: "")
            if locked.record.mandate != nil, let period = locked.order.period {
                try entitlements.managed.chargeWithdrawn(of: period.subscription)
            }
        case .tryFailed(let reason):
            // The provider has the payment and waits for another try.
            try move(.accepted, locked, from: account, detail: "")
            try recordFailedTry(reason, locked, from: account)
        }
    }

    /// Records a failed try in the timeline, once: a query repeats the reason of the last try until there is another.
    private func recordFailedTry(_ reason: String, _ locked: LockedPayment, from account: AccountID) throws {
        guard locked.belongs(to: account) else { return }
        let type = "payment.try_failed"
        let detail = "\(locked.payment.id) \(reason)".stored(ChangeLog.detailLength)
        let last = try tx.orders.timeline(of: locked.order.id).value().last {
            $0.type == type && $0.detail.hasPrefix(locked.payment.id.rawValue)
        }
        if last?.detail != detail { try log.appendTimeline(locked.order, type, detail) }
    }

    /// Records in the timeline, once for each try, that the provider is processing it.
    private func recordProcessing(_ locked: LockedPayment, from account: AccountID) throws {
        guard locked.belongs(to: account), !locked.payment.state.isFinal else { return }
        let last = try tx.orders.timeline(of: locked.order.id).value().last {
            [Payment.processing, "payment.try_failed"].contains($0.type)
                && $0.detail.hasPrefix(locked.payment.id.rawValue)
        }
        guard last?.type != Payment.processing else { return }
        try log.appendTimeline(locked.order, Payment.processing, locked.payment.id.rawValue)
    }

    /// Records that a call about a payment ended without an answer.
    func markUnknown(_ payment: ID<Payment>) throws {
        guard let locked = try LockedPayment.lock(payment, in: tx) else { return }
        try move(.outcomeUnknown, locked, from: locked.payment.account, detail: "")
    }

    /// Applies any fact except a success; a fact from an account that the payment does not belong to changes nothing.
    private func move(
        _ fact: Payment.State.Fact, _ locked: LockedPayment, from account: AccountID, detail: String
    ) throws {
        guard locked.belongs(to: account) else { return }
        let (order, payment) = (locked.order, locked.payment)
        let move = payment.state.applying(fact)
        if let anomaly = move.anomaly {
            try log.record(anomaly, order, "\(payment.id) was reported \(fact.rawValue) after its success")
        }
        guard move.state != payment.state else { return }
        try tx.payments.move(payment.id, from: payment.state, to: move.state)
        try log.appendTimeline(
            order, "payment.\(move.state.rawValue)", [payment.id.rawValue, detail].joined(separator: " "))
        try log.audit(
            order, "payment.\(move.state.rawValue)", before: payment.state.rawValue, after: move.state.rawValue)
    }

    private func succeed(
        _ money: Money, _ reference: String?, leaving mandate: ProviderMandate?, from account: AccountID,
        _ locked: LockedPayment
    ) throws {
        let (order, payment) = (locked.order, locked.payment)
        guard locked.belongs(to: account) else {
            return try log.record(
                .amountMismatch, order,
                "\(payment.id) of \(payment.amount) was reported paid with \(money) through \(account.rawValue)")
        }
        guard money == payment.amount else { return try recordMismatch(money, reference, locked) }
        let move = payment.state.applying(.succeeded)
        guard move.state != payment.state else { return }
        // The first money under the payment's number is the payment's, whichever reference of the provider was known
        // before.
        if let reference, payment.reference != nil, payment.reference != reference {
            _ = try tx.payments.replaceReference(reference, of: payment)
        }
        try tx.payments.move(payment.id, from: payment.state, to: move.state)
        try log.appendTimeline(order, "payment.succeeded", "\(payment.id) \(money)")
        try log.audit(order, "payment.succeeded", before: payment.state.rawValue, after: move.state.rawValue)
        // A second payment of the order matters more than that the payment had been given up.
        if let anomaly = move.anomaly, anomaly != .latePayment || order.state != .paid {
            try log.record(anomaly, order, "\(payment.id) succeeded after \(payment.state.rawValue)")
        }
        // A charge leaves nothing behind, whatever its report says: a mandate of its own would replace the one that it used.
        let paid = try pay(order, with: payment, leaving: locked.record.mandate == nil ? mandate : nil)
        // An order that has just been paid, without a refund or a dispute, has the sums of a new payment, and its grant is
        // as it was made.
        if let paid, paid.refunds.isEmpty, paid.disputes.isEmpty, order.period == nil, order.terms.units.isEmpty {
            return
        }
        try refunds.recount(payment.id, order)
        try entitlements.recompute(order.id)
    }

    /// Applies a payment with the right amount to its order, which has the payment's environment from then on.
    ///
    /// - Parameters:
    ///   - mandate: the mandate that the payment left behind.
    ///   - late: the policy for a closed order; nil for the configured one.
    /// - Returns: the order as it is announced; nil where the payment did not pay it, or goes back.
    @discardableResult
    func pay(
        _ order: Order, with payment: Payment, leaving mandate: ProviderMandate? = nil, late: LatePaymentPolicy? = nil
    ) throws -> OrderSnapshot? {
        var order = order
        let owned =
            try order.terms.kind == .nonConsumable
            && entitlements.owns(order.sku, order.user, in: payment.environment, besides: order.id)
        var policies = policies
        if let late { policies.latePayment = late }
        let managed = entitlements.managed
        let effect =
            try order.period.map { try managed.effect(of: order, $0, policies: policies) }
            ?? order.state.paymentSucceeded(policies: policies, alreadyOwned: owned)
        if order.state == .closed { try log.record(.latePayment, order, "\(payment.id) of \(payment.amount)") }
        if let anomaly = effect.anomaly { try log.record(anomaly, order, "\(payment.id) of \(payment.amount)") }
        // Sent together with the statements before the first awaited answer, so that it costs no round trip of its own.
        let attempts = effect.state == order.state ? nil : try tx.payments.list(of: order.id)
        if effect.state != order.state {
            if order.environment != payment.environment {
                try tx.orders.setEnvironment(payment.environment, of: order.id)
                order.environment = payment.environment
            }
            try tx.orders.move(order.id, from: order.state, to: effect.state, paidBy: payment.id, at: log.now)
            try log.appendTimeline(order, "order.paid", payment.id.rawValue)
            try log.audit(order, "order.paid", before: order.state.rawValue, after: effect.state.rawValue)
            if let attempts { try closeAttempts(try attempts.value(), of: order.id) }
        }
        if let period = order.period {
            if effect.grants {
                try managed.paid(order, period, by: payment, leaving: mandate)
            } else {
                try managed.notBegun(order, period, reason: .duplicate, leaving: mandate)
            }
        } else if effect.grants {
            try entitlements.grant(order)
        }
        let paid = try attempts.flatMap { try log.emit(.orderPaid, order.id, payments: $0.value()) }
        guard effect.refunds else { return paid }
        let reason = (effect.anomaly ?? .duplicatePayment).rawValue
        if let refund = try refunds.open(payment.amount, of: payment, reason: reason) { followUps.send(refund.id) }
        return nil
    }

    /// Makes the job that closes the other attempts of a paid order, so that they cannot be paid.
    ///
    /// - Parameter payments: the payments of the order, in their state after the success.
    func closeAttempts(_ payments: [PaymentRecord], of order: ID<Order>) throws {
        guard payments.contains(where: { !$0.payment.state.isFinal }) else { return }
        try tx.jobs.ensure(log.ids.make(), kind: JobKind.closeAttempts.rawValue, subject: order.rawValue, at: log.now)
        followUps.wakeWorkers()
    }
}
