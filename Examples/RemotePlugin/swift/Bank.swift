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
    }

    private var payments: [String: Payment] = [:]
    /// The address at which payers reach this plugin.
    private let base: String

    init(base: String) { self.base = base }

    func open(_ call: OpenCall) throws -> Opened {
        var payment = payments[call.payment_id] ?? Payment(amount: call.amount)
        guard payment.amount == call.amount else { throw Refusal.rejected("amount_differs") }
        guard !["failed", "cancelled"].contains(payment.status) else { throw Refusal.rejected("closed") }
        payment.notifyURL = call.notify_url
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
    /// - Returns: what to notify of, and where.
    func act(_ payment: String, _ status: String) -> (notice: Notice, url: String)? {
        guard payments[payment]?.status == "waiting" else { return nil }
        payments[payment]?.status = status
        return (Notice(type: "payment", payment: said(payment)), payments[payment]?.notifyURL ?? "")
    }

    func effects(_ call: EffectsCall) -> Effects {
        let payment = payments[call.payment_id]
        return Effects(payments: payment == nil ? 0 : 1, refunds: payment.map { Array($0.refunds.values) } ?? [])
    }

    /// A payment that is not known is no end: its opening may be on its way.
    func said(_ id: String) -> Said {
        guard let payment = payments[id] else { return Said(payment_id: id, status: "not_found") }
        return Said(payment_id: id, status: payment.status, amount: payment.amount, reference: "B-\(id)")
    }
}
