import Foundation

/// The payment service behind the plugin, played in memory: put yours in its place, and a database.
///
/// Every call may come again, also at the same time: Paydesk's ids are the idempotency keys.
actor Bank {
    struct Payment {
        let amount: Money
        var status = "waiting"
        var refunds: [String: Money] = [:]
        var notifyURL: String?
        /// The mandate that it is to leave behind.
        var wanted: MandateRequest?
        var mandate: Mandate?
        /// The charge that it is, and why it was refused.
        var charge: ListedCharge?
        var refusal: String?
        var reason: String?
    }

    private var payments: [String: Payment] = [:]
    private let mandates = MandateBook()
    /// The address at which payers reach this plugin.
    private let base: String

    init(base: String) { self.base = base }

    func open(_ call: OpenCall) throws -> Opened {
        var payment = payments[call.payment_id] ?? Payment(amount: call.amount)
        guard payment.amount == call.amount else { throw Refusal.rejected("amount_differs") }
        guard !["failed", "cancelled"].contains(payment.status) else { throw Refusal.rejected("closed") }
        payment.notifyURL = call.notify_url
        payment.wanted = call.mandate_request
        payments[call.payment_id] = payment
        return Opened(
            payment: said(call.payment_id), contract: Contract(checkout_url: "\(base)/pay/\(call.payment_id)"))
    }

    func query(_ call: PaymentCall) -> PaymentAnswer { PaymentAnswer(payment: said(call.payment_id)) }

    /// Closed is also what was never opened: an opening that comes late must find it so.
    func cancel(_ call: PaymentCall) -> PaymentAnswer {
        var payment = payments[call.payment_id] ?? Payment(amount: call.amount)
        if payment.status == "waiting" { payment.status = "cancelled" }
        payments[call.payment_id] = payment
        return PaymentAnswer(payment: said(call.payment_id))
    }

    func refund(_ call: RefundCall) throws -> RefundAnswer {
        guard let payment = payments[call.payment_id], payment.status == "succeeded",
            payment.amount.currency == call.amount.currency
        else { throw Refusal.rejected("not_paid") }
        if payment.refunds[call.refund_id] == nil {
            let left = payment.refunds.values.reduce(payment.amount.value) { $0 - $1.value }
            guard call.amount.value > 0, call.amount.value <= left else { throw Refusal.rejected("too_much") }
            payments[call.payment_id]?.refunds[call.refund_id] = call.amount
        }
        return query(refund: call)
    }

    func query(refund call: RefundCall) -> RefundAnswer {
        let made = payments[call.payment_id]?.refunds[call.refund_id]
        return RefundAnswer(
            refund: Said(
                payment_id: call.payment_id, refund_id: call.refund_id, status: made == nil ? "not_found" : "succeeded",
                amount: made))
    }

    /// The payer's act; only what waits changes.
    ///
    /// - Parameters:
    ///   - id: a payment's or a set-up's.
    ///   - account: the payer's, where there is one; else another for each id.
    /// - Returns: what to notify of, and where.
    func act(_ id: String, _ status: String, account: String? = nil) -> (notice: Notice, url: String)? {
        if payments[id] == nil { return mandates.act(id, status, account: account ?? id) }
        guard payments[id]?.status == "waiting" else { return nil }
        payments[id]?.status = status
        if status == "succeeded", let wanted = payments[id]?.wanted {
            payments[id]?.mandate = mandates.keep("M-\(id)", wanted.subscription_id, account: account ?? id)
        }
        return (Notice(type: "payment", payment: said(id)), payments[id]?.notifyURL ?? "")
    }

    func effects(_ call: EffectsCall) -> Effects {
        let payment = call.payment_id.flatMap { payments[$0] }
        let hasSetup = call.setup_id.map { mandates.page($0) != nil } ?? false
        return Effects(
            payments: payment == nil ? 0 : 1, refunds: payment.map { Array($0.refunds.values) } ?? [],
            setups: hasSetup ? 1 : 0)
    }

    /// A payment that is not known is no end: its opening may be on its way.
    func said(_ id: String) -> Said {
        guard let payment = payments[id] else { return Said(payment_id: id, status: "not_found") }
        return Said(
            payment_id: id, status: payment.status, amount: payment.amount, reference: "B-\(id)",
            reason: payment.reason, refusal: payment.refusal, mandate: payment.mandate)
    }

    /// Returns a page's lines: its state, and the sentence to which the payer agrees.
    func page(_ id: String) -> (state: String, terms: String) {
        if let setup = mandates.page(id) { return setup }
        let said = said(id)
        let amount = said.amount.map { "\($0.value) \($0.currency)" } ?? ""
        return ("\(said.status) \(amount)", payments[id]?.wanted?.terms ?? "")
    }
}

// Mandates.
extension Bank {
    func open(_ call: OpenSetupCall) throws -> OpenedSetup {
        OpenedSetup(
            setup: try mandates.open(call), contract: Contract(checkout_url: "\(base)/pay/\(call.setup_id)"))
    }

    func query(setup id: String) -> SetupAnswer { SetupAnswer(setup: mandates.said(id)) }

    func cancel(setup call: SetupCall) -> SetupAnswer { SetupAnswer(setup: mandates.cancel(call)) }

    /// Charges a mandate: the first call decides, however often it comes.
    func charge(_ call: ChargeCall, at now: Int64) throws -> PaymentAnswer {
        if payments[call.payment_id] == nil {
            let isGood = mandates.find(call.mandate.reference, of: call.subscription_id) != nil
            let played = isGood ? mandates.played[call.subscription_id] ?? "succeed" : "hard"
            var payment = Payment(amount: call.amount)
            payment.status = ["succeed": "succeeded", "pending": "waiting"][played] ?? "failed"
            if payment.status == "failed" {
                (payment.refusal, payment.reason) = (played, isGood ? "declined" : "mandate_ended")
            }
            payment.charge = ListedCharge(
                payment_id: call.payment_id, order_id: call.order_id, subscription_id: call.subscription_id,
                period_index: call.period_index, amount: call.amount, reference: "B-\(call.payment_id)", at: now)
            payments[call.payment_id] = payment
        }
        let known = said(call.payment_id)
        guard known.amount == call.amount else { throw Refusal.rejected("amount_differs") }
        guard known.status != "cancelled" else { throw Refusal.rejected("closed") }
        return PaymentAnswer(payment: known)
    }

    func verify(_ call: MandateCall) throws -> MandateAnswer {
        guard let mandate = mandates.find(call.mandate.reference, of: call.subscription_id) else {
            throw Refusal.rejected("unknown_mandate")
        }
        return MandateAnswer(mandate: mandate)
    }

    /// Lists what was charged, in pages of 100, because a body has a limit.
    func charges(_ call: ChargesCall) -> Charges {
        let made = payments.values.filter { $0.status == "succeeded" }.compactMap(\.charge)
            .filter { $0.subscription_id == call.subscription_id && $0.at >= call.since }
            .sorted { ($0.at, $0.payment_id) < ($1.at, $1.payment_id) }
        let first = min(call.after.flatMap { Int($0) }.map { max($0, 0) } ?? 0, made.count)
        let end = min(first + 100, made.count)
        return Charges(charges: Array(made[first..<end]), next: end < made.count ? "\(end)" : nil)
    }

    func revoke(_ call: MandateCall) -> MandateAnswer {
        mandates.revoke(call.mandate.reference, of: call.subscription_id)
        return MandateAnswer(mandate: Mandate(reference: call.mandate.reference))
    }

    /// Says how later charges end, or ends the mandates of a subscription, as its payer does without Paydesk.
    func play(_ call: PlayCall) -> (taken: Bool, notice: Notice?) {
        if let charges = call.charges { mandates.played[call.subscription_id] = charges }
        guard call.ended ?? false else { return (call.charges != nil, nil) }
        mandates.end(call.subscription_id)
        let ended = MandateNotice(subscription_id: call.subscription_id, status: "ended")
        return (true, Notice(type: "mandate", mandate: ended))
    }
}
