public import Domain
public import FoundationEssentials

/// The outcome of a payment, as its provider states it.
///
/// A foreign status that is not known is ``pending(status:)`` with its raw text, never a success.
public enum PaymentOutcome: Sendable, Equatable, Codable {
    /// The provider knows the payment and waits for the payer.
    case accepted
    /// Not final, and not one of the provider's words that this adapter knows.
    case pending(status: String)
    /// The money is there: exactly so much of it.
    case succeeded(Money)
    /// Final: it will never be paid.
    case failed(reason: String)
    /// A try inside the payment failed; the payer may try again.
    case tryFailed(reason: String)
    /// Final: closed before it was paid.
    case cancelled

    /// The payer has acted, and the provider works on it: nothing is left for the payer to do.
    public static let processing = PaymentOutcome.pending(status: "processing")
}

public struct PaymentReport: Sendable, Equatable, Codable {
    public let payment: ID<Payment>
    public let outcome: PaymentOutcome
    /// The provider's own id where it is known.
    public let reference: String?

    public init(payment: ID<Payment>, outcome: PaymentOutcome, reference: String? = nil) {
        self.payment = payment
        self.outcome = outcome
        self.reference = reference
    }
}

/// The outcome of a refund, as its provider states it.
public enum RefundOutcome: Sendable, Equatable, Codable {
    case pending
    case succeeded
    /// The money stayed, or came back after a success.
    case failed(reason: String)
    /// Taken back by the provider itself after a success (Apple).
    case reversed
}

public struct RefundReport: Sendable, Equatable, Codable {
    public let payment: ID<Payment>
    /// Our refund; nil for one that was made at the provider, which then has a ``reference``.
    public let refund: ID<Refund>?
    public let outcome: RefundOutcome
    /// The refund's own amount; nil where the provider does not repeat it.
    public let amount: Money?
    public let reference: String?
    /// The provider's own id of the payment whose money goes back, where it says so.
    public let paymentReference: String?

    public init(
        payment: ID<Payment>, refund: ID<Refund>?, outcome: RefundOutcome, amount: Money?, reference: String? = nil,
        paymentReference: String? = nil
    ) {
        self.payment = payment
        self.refund = refund
        self.outcome = outcome
        self.amount = amount
        self.reference = reference
        self.paymentReference = paymentReference
    }
}

public enum DisputeOutcome: Sendable, Equatable, Codable {
    case opened, won, lost
}

public struct DisputeReport: Sendable, Equatable, Codable {
    public let payment: ID<Payment>
    /// The provider's id of the dispute; nil where a payment has at most one.
    public let reference: String?
    public let outcome: DisputeOutcome
    /// nil means the whole payment.
    public let amount: Money?
    /// The time at which it came to this state, by the provider's own clock; nil where the provider does not say, and
    /// its arrival counts.
    ///
    /// States are told late and out of order: the newest counts.
    public let at: Timestamp?
    /// The provider's own id of the disputed payment, where it says so.
    public let paymentReference: String?

    public init(
        payment: ID<Payment>, reference: String?, outcome: DisputeOutcome, amount: Money?, at: Timestamp? = nil,
        paymentReference: String? = nil
    ) {
        self.payment = payment
        self.reference = reference
        self.outcome = outcome
        self.amount = amount
        self.at = at
        self.paymentReference = paymentReference
    }
}

/// Something that a provider stated and that was proven to come from it.
public enum ProviderFact: Sendable, Equatable, Codable {
    case payment(PaymentReport)
    case refund(RefundReport)
    case dispute(DisputeReport)
    case store(StoreStatement)

    /// The payment that it is about; a store's own statements are about none of ours.
    public var payment: ID<Payment>? {
        switch self {
        case .payment(let report): report.payment
        case .refund(let report): report.payment
        case .dispute(let report): report.payment
        case .store: nil
        }
    }
}

/// A store's signed statement: a purchase, a subscription's renewal information, or both.
public struct StoreStatement: Sendable, Equatable, Codable {
    public let purchase: StorePurchase?
    public let renewal: StoreRenewal?
    /// The subscription's status as the store states it; nil where it states none.
    public let standing: StoreStanding?
    /// The customer asks for a refund, and the store wants to know how much of the purchase was used.
    public let asksForConsumption: Bool

    public init(
        purchase: StorePurchase?, renewal: StoreRenewal?, standing: StoreStanding? = nil,
        asksForConsumption: Bool = false
    ) {
        self.purchase = purchase
        self.renewal = renewal
        self.standing = standing
        self.asksForConsumption = asksForConsumption
    }
}

/// A notification as it arrived, before anybody looked into it.
public struct RawNotification: Sendable {
    public let method: ProviderManifest.NotificationMethod
    /// The query string without its `?`, undecoded.
    public let query: String
    /// Names in lower case, in the order of arrival.
    public let headers: [(name: String, value: String)]
    /// At most 2 MiB, byte for byte.
    public let body: Data
    /// The time of arrival of a stored notification that is verified again; nil for one that arrives now.
    ///
    /// A provider compares a signature's time with this before its own clock.
    public let receivedAt: Timestamp?

    public init(
        method: ProviderManifest.NotificationMethod, query: String = "", headers: [(name: String, value: String)],
        body: Data, receivedAt: Timestamp? = nil
    ) {
        self.receivedAt = receivedAt
        self.method = method
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// The first value of a header; `name` in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// The answer that the provider expects once a notification is stored.
public struct Acknowledgement: Sendable, Equatable {
    public let status: Int
    public let contentType: String
    public let body: String

    public init(status: Int = 200, contentType: String = "text/plain; charset=utf-8", body: String) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}

/// A verified notification.
public struct ReceivedNotification: Sendable {
    /// The provider's id of the event; a repetition has the same.
    public let eventID: String
    /// The provider's own word for what happened.
    public let type: String
    /// Empty for an event that means nothing to an order; it is stored and acknowledged all the same.
    public let facts: [ProviderFact]
    public let acknowledgement: Acknowledgement

    public init(eventID: String, type: String, facts: [ProviderFact], acknowledgement: Acknowledgement) {
        self.eventID = eventID
        self.type = type
        self.facts = facts
        self.acknowledgement = acknowledgement
    }
}
