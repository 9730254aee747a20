public import Domain

/// A payment to open.
public struct PaymentAttempt: Sendable {
    /// Also the idempotency key of the call and, where the provider takes one, its order number.
    public let payment: ID<Payment>
    public let order: ID<Order>
    public let amount: Money
    /// The title of the purchase, shown to the payer.
    public let title: String
    public let platform: Platform
    /// The address to which the payer returns; already checked against `http.return_urls`.
    public let returnURL: String?
    public let expiresAt: Timestamp
    /// The product ids that Apple can sell for this order; empty for other providers' goods.
    public let appleProductIDs: [String]
    /// The buyer's UUID for StoreKit's `appAccountToken`; nil unless the provider sells Apple products.
    public let appAccountToken: String?
    /// The contract types that the client takes.
    public let accepts: Set<ContractType>
    /// The payer's IP address as Paydesk saw it, the same for every repetition; nil where nobody knows.
    public let payerAddress: String?

    public init(
        payment: ID<Payment>, order: ID<Order>, amount: Money, title: String, platform: Platform, returnURL: String?,
        expiresAt: Timestamp, appleProductIDs: [String] = [], appAccountToken: String? = nil,
        accepts: Set<ContractType>, payerAddress: String? = nil
    ) {
        self.payment = payment
        self.order = order
        self.amount = amount
        self.title = title
        self.platform = platform
        self.returnURL = returnURL
        self.expiresAt = expiresAt
        self.appleProductIDs = appleProductIDs
        self.appAccountToken = appAccountToken
        self.accepts = accepts
        self.payerAddress = payerAddress
    }

    /// The address that a service is told which compares it with the payer's own.
    ///
    /// - Parameter fallback: the account's setting. It counts where the payer's own is not known, and where what is known
    ///   can be nobody's on the Internet: a proxy's that is not among the trusted ones.
    public func payerAddress(orElse fallback: String?) -> String? {
        guard let own = payerAddress else { return fallback }
        return IPAddress(own)?.isPublic ?? false ? own : fallback ?? own
    }

    /// The same for every repetition of this call.
    public var idempotencyKey: String { "\(payment.rawValue)-open" }
}

/// A payment as the provider opened it.
public struct OpenedPayment: Sendable {
    /// The action that the client takes.
    public let instruction: PaymentInstruction
    /// The provider's own id; nil where it only knows ours.
    public let reference: String?
    /// The outcome that is known already; `accepted` while it waits for the payer.
    public let outcome: PaymentOutcome

    public init(instruction: PaymentInstruction, reference: String?, outcome: PaymentOutcome = .accepted) {
        self.instruction = instruction
        self.reference = reference
        self.outcome = outcome
    }
}

/// The ids that name a payment in calls to its provider.
public struct ProviderReference: Sendable, Hashable {
    public let payment: ID<Payment>
    /// The provider's own id where it gave one.
    public let reference: String?
    public let amount: Money

    public init(payment: ID<Payment>, reference: String?, amount: Money) {
        self.payment = payment
        self.reference = reference
        self.amount = amount
    }
}

/// A refund to make, or to ask about.
public struct RefundAttempt: Sendable {
    /// Also the idempotency key of the call.
    public let refund: ID<Refund>
    public let payment: ProviderReference
    public let amount: Money
    public let reason: String
    /// The provider's own id of the refund where it gave one.
    public let reference: String?
    /// The time at which its call was sent last; the present time where it is about to be sent.
    ///
    /// A refund may wait for days before it is sent, so its id's own time says nothing of its call. Where the service does
    /// not know a refund that is asked about, its call may still be on its way for as long after this as a call of yours
    /// can be; only then may a report say that it failed.
    public let sentAt: Timestamp
    /// True where its call was sent before and its outcome is unknown.
    ///
    /// Where a service can only say that something was given back, this tells a refund of ours from somebody else's.
    public let wasSent: Bool

    /// - Parameter sentAt: nil: when the id was made.
    public init(
        refund: ID<Refund>, payment: ProviderReference, amount: Money, reason: String, reference: String? = nil,
        sentAt: Timestamp? = nil, wasSent: Bool = false
    ) {
        self.refund = refund
        self.payment = payment
        self.amount = amount
        self.reason = reason
        self.reference = reference
        self.sentAt = sentAt ?? refund.madeAt
        self.wasSent = wasSent
    }

    /// The same for every repetition of this call.
    public var idempotencyKey: String { "\(refund.rawValue)-refund" }
}
