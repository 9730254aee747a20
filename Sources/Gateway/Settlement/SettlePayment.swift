import Domain
import ProviderKit
import Store

extension Settlement {
    /// Moves a payment, and with its success the order.
    mutating func settle(_ report: PaymentReport, from account: AccountID, _ scene: Scene) throws {
        let reference = scene.belongs(to: account) ? report.reference?.stored(255) : nil
        if let reference, let own = scene.payment.reference, own != reference, scene.payment.state == .succeeded {
            // What becomes of other money under the same number says nothing of this payment.
            guard case .succeeded(let money) = report.outcome else { return }
            return try succeedBeside(money, reference, scene)
        }
        if let reference, try !tx.setReference(reference, of: scene.payment) {
            try record(
                .contradictingFact, scene.order, "\(scene.payment.id) was reported with another payment's reference")
        }
        switch report.outcome {
        case .succeeded(let money): try succeed(money, reference, from: account, scene)
        case .accepted: try move(.accepted, scene, from: account, detail: "")
        case .pending(let status):
            try move(.accepted, scene, from: account, detail: status)
            if report.outcome == .processing { try noteProcessing(scene, from: account) }
        case .failed(let reason): try move(.failed, scene, from: account, detail: reason)
        case .cancelled: try move(.cancelled, scene, from: account, detail: "")
        case .tryFailed(let reason):
            // The provider knows the payment and waits for another try.
            try move(.accepted, scene, from: account, detail: "")
            try noteTry(reason, scene, from: account)
        }
    }

    /// Tells of a try that failed, once: a query repeats the last try's reason until there is another.
    private func noteTry(_ reason: String, _ scene: Scene, from account: AccountID) throws {
        guard scene.belongs(to: account) else { return }
        let type = "payment.try_failed"
        let detail = "\(scene.payment.id) \(reason)".stored(Self.noteLength)
        let told = try tx.timeline(scene.order.id).last {
            $0.type == type && $0.detail.hasPrefix(scene.payment.id.rawValue)
        }
        if told?.detail != detail { try note(scene.order, type, detail) }
    }

    /// Tells that the provider works on what the payer did, once for each try.
    private func noteProcessing(_ scene: Scene, from account: AccountID) throws {
        guard scene.belongs(to: account), !scene.payment.state.isFinal else { return }
        let last = try tx.timeline(scene.order.id).last {
            [Payment.processing, "payment.try_failed"].contains($0.type)
                && $0.detail.hasPrefix(scene.payment.id.rawValue)
        }
        if last?.type != Payment.processing { try note(scene.order, Payment.processing, scene.payment.id.rawValue) }
    }

    /// Records that a call ended without an answer.
    func settleUnknown(_ payment: ID<Payment>) throws {
        guard let scene = try lock(payment) else { return }
        try move(.outcomeUnknown, scene, from: scene.payment.account, detail: "")
    }

    /// Applies every fact but success; one of another account is not about this payment and changes nothing.
    private func move(
        _ fact: Payment.State.Fact, _ scene: Scene, from account: AccountID, detail: String
    ) throws {
        guard scene.belongs(to: account) else { return }
        let move = scene.payment.state.applying(fact)
        if let anomaly = move.anomaly {
            try record(anomaly, scene.order, "\(scene.payment.id) was reported \(fact.rawValue) after its success")
        }
        guard move.state != scene.payment.state else { return }
        try tx.movePayment(scene.payment.id, from: scene.payment.state, to: move.state)
        try note(
            scene.order, "payment.\(move.state.rawValue)", [scene.payment.id.rawValue, detail].joined(separator: " "))
        try audit(
            scene.order, "payment.\(move.state.rawValue)", before: scene.payment.state.rawValue,
            after: move.state.rawValue)
    }

    private mutating func succeed(
        _ money: Money, _ reference: String?, from account: AccountID, _ scene: Scene
    ) throws {
        let (order, payment) = (scene.order, scene.payment)
        guard scene.belongs(to: account) else {
            return try record(
                .amountMismatch, order,
                "\(payment.id) of \(payment.amount) was reported paid with \(money) through \(account.rawValue)")
        }
        guard money == payment.amount else { return try mismatch(money, reference, scene) }
        let move = payment.state.applying(.succeeded)
        guard move.state != payment.state else { return }
        // The first money under its number is the payment's, whichever of its provider's ids was known before.
        if let reference, payment.reference != nil, payment.reference != reference {
            _ = try tx.replaceReference(reference, of: payment)
        }
        try tx.movePayment(payment.id, from: payment.state, to: move.state)
        try note(order, "payment.succeeded", "\(payment.id) \(money)")
        try audit(order, "payment.succeeded", before: payment.state.rawValue, after: move.state.rawValue)
        // That an order was paid twice says more than that one of its payments had been given up.
        if let anomaly = move.anomaly, anomaly != .latePayment || order.state != .paid {
            try record(anomaly, order, "\(payment.id) succeeded after \(payment.state.rawValue)")
        }
        try pay(order, with: payment)
        try recount(payment.id, order)
        try regrade(order.id)
    }

    /// Applies a success with the right amount to its order, which is of the payment's environment from then on.
    mutating func pay(_ order: Order, with payment: Payment) throws {
        var order = order
        let owned =
            try order.terms.kind == .nonConsumable
            && owns(order.sku, order.user, in: payment.environment, besides: order.id)
        let effect = order.state.paymentSucceeded(policies: policies, alreadyOwned: owned)
        if order.state == .closed { try record(.latePayment, order, "\(payment.id) of \(payment.amount)") }
        if let anomaly = effect.anomaly { try record(anomaly, order, "\(payment.id) of \(payment.amount)") }
        // Asked before what waits for an answer, so that it costs no wait of its own.
        let attempts = effect.state == order.state ? nil : try tx.askPayments(of: order.id)
        if effect.state != order.state {
            if order.environment != payment.environment {
                try tx.setEnvironment(payment.environment, of: order.id)
                order.environment = payment.environment
            }
            try tx.moveOrder(order.id, from: order.state, to: effect.state, paidBy: payment.id, at: now)
            try note(order, "order.paid", payment.id.rawValue)
            try audit(order, "order.paid", before: order.state.rawValue, after: effect.state.rawValue)
            if let attempts { try closeAttempts(try attempts.value(), of: order.id) }
        }
        if effect.grants { try grant(order) }
        if effect.state != order.state { try emit(.orderPaid, order.id) }
        if effect.refunds {
            let reason = (effect.anomaly ?? .duplicatePayment).rawValue
            guard let refund = try openRefund(payment.amount, of: payment, reason: reason) else { return }
            followUps.append(.refund(refund.id))
        }
    }

    /// Whether the user holds this SKU for good, from elsewhere; environments never mix.
    func owns(
        _ sku: SKUCode, _ user: ID<User>, in environment: Environment, besides order: ID<Order>?
    ) throws -> Bool {
        let held = try tx.grants(of: user).filter {
            $0.sku == sku && $0.environment == environment && $0.term == .perpetual && $0.revocation == nil
                && ($0.order == nil || $0.order != order)
        }
        // What another's order gave can go with it where it is shared, and stays where the purchase has moved.
        return try held.contains { grant in
            guard let order = try grant.order.flatMap({ try tx.order($0) }) else { return true }
            return try order.user == user || tx.purchaser(of: order.id) == user
        }
    }
}
