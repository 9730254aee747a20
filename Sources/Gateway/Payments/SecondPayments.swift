import Domain
import ProviderKit
import Store

// Money that came under a payment's number beside the payment's own: a second payment of the order, or another amount.
extension PaymentLedger {
    /// Applies a success under another reference than the payment's: a second payment of the same order.
    func applySecondSuccess(_ money: Money, _ reference: String, _ locked: LockedPayment) throws {
        if let known = try tx.payments.find(of: locked.payment.account, reference: reference) {
            guard known.payment.original == locked.payment.id else {
                return try log.record(
                    .contradictingFact, locked.order,
                    "\(locked.payment.id) was reported with another payment's reference")
            }
            // The same payment was reported before.
            guard known.payment.state == .created else { return }
        }
        guard money == locked.payment.amount else { return try recordMismatch(money, reference, locked) }
        let second = try insertSecond(money, reference, under: reference, locked)
        try pay(locked.order, with: second)
        try refunds.recount(second.id, locked.order)
        try entitlements.recompute(locked.order.id)
    }

    /// Stores that a payment was paid with another amount, for an admin to resolve; a repetition changes nothing.
    func recordMismatch(_ money: Money, _ reference: String?, _ locked: LockedPayment) throws {
        let (order, payment) = (locked.order, locked.payment)
        try log.record(
            .amountMismatch, order, "\(payment.id) of \(payment.amount) was reported paid with \(money)")
        // Another amount for the money that paid the payment is a contradiction and no further money.
        let isItsOwn = payment.state == .succeeded && (reference == nil || reference == payment.reference)
        guard money.value > 0, !isItsOwn else { return }
        try tx.mismatches.insert(of: payment, money, reference: reference, at: log.now)
    }

    /// Stores money as a further payment that has succeeded, or finds the payment that it was stored as.
    ///
    /// - Parameter name: distinguishes it from other further payments beside the same one.
    private func insertSecond(
        _ money: Money, _ reference: String?, under name: String, _ locked: LockedPayment
    ) throws -> Payment {
        let first = locked.payment
        var second: Payment
        if let known = try tx.payments.find(beside: first.id, under: name)?.payment {
            second = known
        } else {
            second = Payment(
                id: log.ids.make(), order: first.order, account: first.account, processor: first.processor,
                amount: money, platform: first.platform, returnURL: first.returnURL, environment: first.environment,
                original: first.id, createdAt: log.now)
            try tx.payments.insert(second, beside: first, under: name)
            // A payment that already has this reference keeps it.
            if let reference { _ = try tx.payments.setReference(reference, of: second) }
        }
        guard second.state == .created else { return second }
        let order = locked.order
        try log.appendTimeline(order, "payment.created", "\(second.id) \(second.account.rawValue) beside \(first.id)")
        try tx.payments.move(second.id, from: .created, to: .succeeded)
        second.state = .succeeded
        try log.appendTimeline(order, "payment.succeeded", "\(second.id) \(money) beside \(first.id)")
        try log.audit(order, "payment.succeeded", before: "beside \(first.id)", after: "\(second.id) \(money)")
        return second
    }

    /// Pays an order with the other amount, or opens the refund that returns it.
    ///
    /// - Parameter refunds: false in a rebuild, which has the refund already.
    /// - Returns: the payment with the other amount; nil where the mismatch is already resolved.
    @discardableResult
    func resolve(_ mismatch: Mismatch, _ act: Mismatch.Act, refunds opensRefund: Bool = true) throws -> Payment? {
        guard let locked = try LockedPayment.lock(mismatch.payment, in: tx), mismatch.state == .open else {
            return nil
        }
        let name = mismatch.reference.isEmpty ? "mismatch \(mismatch.n)" : mismatch.reference
        let reference = mismatch.reference.isEmpty ? nil : mismatch.reference
        let payment = try insertSecond(mismatch.amount, reference, under: name, locked)
        try tx.mismatches.close(mismatch, as: act.state, at: log.now)
        try log.appendTimeline(locked.order, "mismatch.\(act.state.rawValue)", "\(payment.id) \(mismatch.amount)")
        switch act {
        case .accept:
            // An admin's decision also pays an order that was closed meanwhile.
            try pay(locked.order, with: payment, late: .fulfil)
        case .giveBack:
            if opensRefund, let refund = try refunds.open(mismatch.amount, of: payment, reason: "mismatch") {
                followUps.send(refund.id)
            }
        }
        try refunds.recount(payment.id, locked.order)
        try entitlements.recompute(locked.order.id)
        return payment
    }
}
