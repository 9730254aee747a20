public import Domain
public import FoundationEssentials

/// The outcome of a payment, as its provider states it.
///
/// An unknown status of the service is ``pending(status:)`` with its raw text, never a success.
public enum PaymentOutcome: Sendable, Equatable, Codable {
    /// The provider knows the payment and waits for the payer.
    case accepted
    /// Not final, with a status that this adapter does not know.
    case pending(status: String)
    /// Paid with exactly this amount.
    case succeeded(Money)
    /// Final: the payment will never be paid.
    case failed(reason: String)
    /// An attempt inside the payment failed; the payer may try again.
    case tryFailed(reason: String)
    /// Final: the payment was closed before it was paid.
    case cancelled

    /// The payer has acted and the provider is processing it: the payer has nothing left to do.
    public static let processing = PaymentOutcome.pending(status: "processing")

    /// The provider does not know the payment; its opening or its charge may be under way.
    public static let notFound = PaymentOutcome.pending(status: "not_found")
}

public struct PaymentReport: Sendable, Equatable, Codable {
    /// The reason of a charge that failed because the service no longer has the mandate, or no longer lets it be
    /// charged: its mandate is dead.
    public static let mandateEnded = "mandate_ended"

    public let payment: ID<Payment>
    public let outcome: PaymentOutcome
    /// The provider's own id, where it is known.
    public let reference: String?
    /// The mandate that a success has left behind, where one was asked for.
    public let mandate: ProviderMandate?
    /// The kind of a failure, where a mandate was charged; nil counts as ``ChargeRefusal/soft``.
    public let refusal: ChargeRefusal?

    public init(
        payment: ID<Payment>, outcome: PaymentOutcome, reference: String? = nil, mandate: ProviderMandate? = nil,
        refusal: ChargeRefusal? = nil
    ) {
        self.payment = payment
        self.outcome = outcome
        self.reference = reference
        self.mandate = mandate
        self.refusal = refusal
    }
}

/// The outcome of a refund, as its provider states it.
public enum RefundOutcome: Sendable, Equatable, Codable {
    case pending
    case succeeded
    /// The money was not returned, or came back after a success.
    case failed(reason: String)
    /// The provider itself took it back after a success (Apple).
    case reversed
}

public struct RefundReport: Sendable, Equatable, Codable {
    public let payment: ID<Payment>
    /// Our refund; nil for one that was made at the provider, which then has a ``reference``.
    public let refund: ID<Refund>?
    public let outcome: RefundOutcome
    /// The refund's amount; nil where the provider does not state it.
    public let amount: Money?
    public let reference: String?
    /// The provider's own id of the refunded payment, where it states one.
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
    /// The time of this state by the provider's own clock; nil where the provider does not state it, and the time of
    /// arrival counts.
    ///
    /// States arrive late and in any order: the newest counts.
    public let at: Timestamp?
    /// The provider's own id of the disputed payment, where it states one.
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

/// A statement that is proven to be the provider's.
public enum ProviderFact: Sendable, Equatable, Codable {
    case payment(PaymentReport)
    case refund(RefundReport)
    case dispute(DisputeReport)
    case store(StoreStatement)
    case setup(SetupReport)
    case mandate(MandateReport)
    case externalToken(ExternalTokenNotice)
    case consent(ConsentRescission)

    /// The payment of the fact; nil for a store's statement, a set-up, a mandate, a token and a consent.
    public var payment: ID<Payment>? {
        switch self {
        case .payment(let report): report.payment
        case .refund(let report): report.payment
        case .dispute(let report): report.payment
        case .store, .setup, .mandate, .externalToken, .consent: nil
        }
    }
}

/// A store's word about a token that it handed out for a purchase outside of it.
public struct ExternalTokenNotice: Sendable, Equatable, Codable {
    public let token: ExternalPurchaseToken
    /// True where the store wants the token's report now; false where it tells only that it made the token.
    public let isReminder: Bool

    public init(token: ExternalPurchaseToken, isReminder: Bool) {
        self.token = token
        self.isReminder = isReminder
    }
}

/// A store's signed statement: a purchase, a subscription's renewal information, or both.
public struct StoreStatement: Sendable, Equatable, Codable {
    public let purchase: StorePurchase?
    public let renewal: StoreRenewal?
    /// The subscription's status as the store states it; nil where it states none.
    public let standing: StoreStanding?
    /// True where the customer requests a refund and the store asks how much of the purchase was used.
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

/// A notification as it arrived, unverified.
public struct RawNotification: Sendable {
    public let method: ProviderManifest.NotificationMethod
    /// The query string without its `?`, undecoded.
    public let query: String
    /// The headers with names in lower case, in the order of arrival.
    public let headers: [(name: String, value: String)]
    /// The body, byte for byte, at most 2 MiB.
    public let body: Data
    /// The time of arrival of a stored notification that is verified again; nil for one that arrives now.
    ///
    /// A provider compares the time of a signature with this, or else with its own clock.
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

    /// Returns the first value of a header; `name` is in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// The answer that the provider expects after a notification was stored.
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
    /// The provider's id of the event, which is the same in a repetition.
    public let eventID: String
    /// The provider's own type of the event.
    public let type: String
    /// The facts; empty for an event that does not concern an order, which is stored and acknowledged nevertheless.
    public let facts: [ProviderFact]
    public let acknowledgement: Acknowledgement

    public init(eventID: String, type: String, facts: [ProviderFact], acknowledgement: Acknowledgement) {
        self.eventID = eventID
        self.type = type
        self.facts = facts
        self.acknowledgement = acknowledgement
    }

    /// Checks that an event can be stored under its id and listed by its type.
    ///
    /// - Parameter typeLimit: the largest number of bytes that the type may have in UTF-8.
    /// - Throws: `rejected` with `bad_event_id` for an id that is empty or has more than 255 bytes, and with `bad_type`
    ///   for such a type.
    public static func check(eventID: String, type: String, typeLimit: Int = 128) throws(ProviderError) {
        guard (1...255).contains(eventID.utf8.count) else { throw .rejected(reason: "bad_event_id") }
        guard (1...typeLimit).contains(type.utf8.count) else { throw .rejected(reason: "bad_type") }
    }
}
