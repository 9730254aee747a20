import Domain
import ProviderKit
import Store

/// Money that came under a payment's number and is not the payment's own: a second payment, or another amount.
extension Settlement {
    /// Applies a success under another reference than the one that paid the payment: a second payment of the same order.
    mutating func succeedBeside(_ money: Money, _ reference: String, _ scene: Scene) throws {
        if let known = try tx.payment(of: scene.payment.account, reference: reference) {
            guard known.payment.original == scene.payment.id else {
                return try record(
                    .contradictingFact, scene.order,
                    "\(scene.payment.id) was reported with another payment's reference")
            }
            // Told again.
            guard known.payment.state == .created else { return }
        }
        guard money == scene.payment.amount else { return try mismatch(money, reference, scene) }
        let second = try book(money, reference, under: reference, scene)
        try pay(scene.order, with: second)
        try recount(second.id, scene.order)
        try regrade(scene.order.id)
    }

    /// Keeps that a payment was paid with another amount, so that an admin can settle it; told again it changes nothing.
    func mismatch(_ money: Money, _ reference: String?, _ scene: Scene) throws {
        let (order, payment) = (scene.order, scene.payment)
        try record(
            .amountMismatch, order, "\(payment.id) of \(payment.amount) was reported paid with \(money)")
        // Another amount of the money that paid the payment is a contradiction and no other money.
        let isItsOwn = payment.state == .succeeded && (reference == nil || reference == payment.reference)
        guard money.value > 0, !isItsOwn else { return }
        try tx.insertMismatch(of: payment, money, reference: reference, at: now)
    }

    /// Keeps money as a payment of its own that has succeeded.
    ///
    /// - Parameter name: what tells it from other money beside the same payment.
    func book(_ money: Money, _ reference: String?, under name: String, _ scene: Scene) throws -> Payment {
        let first = scene.payment
        var second: Payment
        if let known = try tx.payment(beside: first.id, under: name)?.payment {
            second = known
        } else {
            second = Payment(
                id: ids.make(), order: first.order, account: first.account, processor: first.processor, amount: money,
                platform: first.platform, returnURL: first.returnURL, environment: first.environment,
                original: first.id, createdAt: now)
            try tx.insertPayment(second, beside: first, under: name)
            // The reference of the payment itself, where it waits under this one, stays its own.
            if let reference { _ = try tx.setReference(reference, of: second) }
        }
        guard second.state == .created else { return second }
        try note(scene.order, "payment.created", "\(second.id) \(second.account.rawValue) beside \(first.id)")
        try tx.movePayment(second.id, from: .created, to: .succeeded)
        second.state = .succeeded
        try note(scene.order, "payment.succeeded", "\(second.id) \(money) beside \(first.id)")
        try audit(scene.order, "payment.succeeded", before: "beside \(first.id)", after: "\(second.id) \(money)")
        return second
    }

    /// Pays an order with the other amount that came, or marks it to be given back.
    ///
    /// - Parameter refunds: false in a rebuild, where the refund is there already.
    /// - Returns: the payment that was made of it.
    @discardableResult
    mutating func settleMismatch(
        _ found: Mismatch, _ act: Mismatch.Act, refunds: Bool = true
    ) throws -> Payment? {
        guard let scene = try lock(found.payment), found.state == .open else { return nil }
        let name = found.reference.isEmpty ? "mismatch \(found.n)" : found.reference
        let reference = found.reference.isEmpty ? nil : found.reference
        let payment = try book(found.amount, reference, under: name, scene)
        try tx.settleMismatch(found, as: act.state, at: now)
        try note(scene.order, "mismatch.\(act.state.rawValue)", "\(payment.id) \(found.amount)")
        switch act {
        case .accept:
            // An admin says that it counts, also for an order that was closed meanwhile.
            let late = policies.latePayment
            policies.latePayment = .fulfil
            try pay(scene.order, with: payment)
            policies.latePayment = late
        case .giveBack:
            if refunds, let refund = try openRefund(found.amount, of: payment, reason: "mismatch") {
                followUps.append(.refund(refund.id))
            }
        }
        try recount(payment.id, scene.order)
        try regrade(scene.order.id)
        return payment
    }

    /// Sees to it that nobody pays an order's other attempts once it is paid.
    ///
    /// - Parameter payments: the order's, after the one that paid it has succeeded.
    func closeAttempts(_ payments: [PaymentRecord], of order: ID<Order>) throws {
        guard payments.contains(where: { !$0.payment.state.isFinal }) else { return }
        try tx.ensureJob(ids.make(), kind: JobKind.closeAttempts.rawValue, subject: order.rawValue, at: now)
        wakeUp.mark()
    }
}
