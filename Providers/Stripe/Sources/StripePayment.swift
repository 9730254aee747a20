import Domain
import ProviderKit

/// A payment at Stripe: a PaymentIntent, or a Checkout Session with one.
struct StripePayment: Sendable {
    enum Kind: Sendable { case intent, session }

    let kind: Kind
    let id: String
    /// Stripe's own status.
    let status: String
    let outcome: PaymentOutcome
    /// The amount in Paydesk's minor units.
    let amount: Money?
    /// The PaymentIntent of the payment's refunds.
    let intent: String?
    /// The value for the client: the client secret, or the page's address while it is open.
    let token: String?
    /// The subscription of a mandate that it leaves behind or charges.
    let subscription: ID<Subscription>?
    /// True for a charge of a mandate, which has no payer who is present.
    let chargesMandate: Bool
    /// The reason why the last try failed.
    let decline: StripeDecline?
    /// The PaymentIntent itself, where Stripe's answer had it.
    let intentObject: StripeObject.PaymentIntent?
    private let payment: ID<Payment>?
    private let isLive: Bool?

    init(_ intent: StripeObject.PaymentIntent) throws(StripeFailure) {
        kind = .intent
        id = intent.id
        status = intent.status
        outcome = try intent.outcome()
        amount = StripeAmount.money(intent.amount, intent.currency)
        self.intent = intent.id
        token = intent.client_secret
        subscription = StripeMetadata.subscription(in: intent.metadata)
        chargesMandate = intent.chargesMandate
        decline = intent.decline
        intentObject = intent
        payment = StripeMetadata.payment(in: intent.metadata)
        isLive = intent.livemode
    }

    init(_ session: StripeObject.CheckoutSession) throws(StripeFailure) {
        kind = .session
        id = session.id
        status = session.status ?? ""
        outcome = try session.outcome()
        amount = StripeAmount.money(session.amount_total, session.currency)
        intent = session.payment_intent?.id
        token = session.url
        subscription = StripeMetadata.subscription(in: session.metadata)
        chargesMandate = false
        decline = nil
        intentObject = session.payment_intent?.object
        payment = StripeMetadata.payment(in: session.metadata)
        isLive = session.livemode
    }

    /// - Throws: `unproven` for another payment or another mode.
    func check(_ expected: ID<Payment>, isLive expectedMode: Bool) throws(StripeFailure) {
        guard payment == expected else { throw .foreign }
        guard isLive ?? expectedMode == expectedMode else { throw .unproven(.otherMode) }
    }

    func report(_ payment: ID<Payment>, leaving mandate: ProviderMandate? = nil) -> PaymentReport {
        var refusal: ChargeRefusal?
        if chargesMandate, case .failed = outcome { refusal = (decline ?? .unnamed).refusal }
        return PaymentReport(payment: payment, outcome: outcome, reference: id, mandate: mandate, refusal: refusal)
    }

    /// True where the payment can no longer be paid.
    var isClosed: Bool {
        switch outcome {
        case .cancelled, .failed: true
        case .accepted, .pending, .succeeded, .tryFailed: false
        }
    }

    var isPaid: Bool { if case .succeeded = outcome { true } else { false } }
}

extension StripeObject.PaymentIntent {
    /// - Throws: `unsayable` for a success without an exact amount.
    func outcome() throws(StripeFailure) -> PaymentOutcome {
        switch status {
        case "requires_payment_method":
            failure.map { isCharge ? .failed(reason: $0) : .tryFailed(reason: $0) } ?? .accepted
        // Paydesk alone cancels a mandate's charge, and only after its refusal.
        case "canceled" where chargesMandate: .failed(reason: (decline ?? .unnamed).reason)
        case "requires_confirmation", "requires_action": .accepted
        case "processing": .processing
        case "canceled": .cancelled
        case "succeeded": .succeeded(try received())
        // This includes `requires_capture`, which Paydesk never requests and cannot complete.
        default: .pending(status: StripeText.word(status) ?? "unknown_status")
        }
    }

    /// True for a payment with a wallet's token, which allows one attempt.
    var isCharge: Bool { metadata?[StripeMetadata.instrument] != nil }

    /// True for the charge of a mandate; a refused one is not final until it is cancelled.
    var chargesMandate: Bool { metadata?[StripeMetadata.charge] == StripeMetadata.chargesMandate }

    var decline: StripeDecline? { last_payment_error.map(StripeDecline.init) }

    /// The reason why the last attempt failed.
    var failure: String? { decline?.reason }

    private func received() throws(StripeFailure) -> Money {
        guard let money = StripeAmount.money(amount_received ?? amount, currency) else {
            throw .unsayable("bad_amount")
        }
        return money
    }
}

extension StripeObject.CheckoutSession {
    /// Returns the outcome of a session: it succeeds when it is paid, not when it is complete, because some methods pay
    /// later or fail.
    ///
    /// - Throws: `unsayable` for a success without an exact amount.
    func outcome() throws(StripeFailure) -> PaymentOutcome {
        switch (status, payment_status) {
        case (_, "paid"): .succeeded(try total())
        case ("open", "unpaid"): payment_intent?.object?.failure.map { .tryFailed(reason: $0) } ?? .accepted
        case ("complete", "unpaid"): lastWord
        case ("expired", "unpaid"): .cancelled
        default: .pending(status: word)
        }
    }

    private var word: String {
        StripeText.word([status, payment_status].compactMap(\.self).joined(separator: "_")) ?? "unknown_status"
    }

    /// The outcome of a complete session, which allows no further attempt: a failed PaymentIntent is its end.
    private var lastWord: PaymentOutcome {
        guard let intent = payment_intent?.object else { return .accepted }
        switch intent.status {
        case "canceled": return .cancelled
        case "requires_payment_method": return .failed(reason: intent.failure ?? "payment_failed")
        case "processing": return .processing
        default: return .accepted
        }
    }

    private func total() throws(StripeFailure) -> Money {
        guard let money = StripeAmount.money(amount_total, currency) else { throw .unsayable("bad_amount") }
        return money
    }
}
