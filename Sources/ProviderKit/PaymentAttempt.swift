public import Domain

/// A payment to open.
public struct PaymentAttempt: Sendable {
    /// The payment's id; also the idempotency key of the call and, where the provider accepts one, its order number.
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
    /// The user's UUID for StoreKit's `appAccountToken`; nil unless the provider sells Apple products.
    public let appAccountToken: String?
    /// The contract types that the client accepts, without those that its platform or the SKU rules out.
    ///
    /// A provider makes the first of its ``PaymentProvider/orderedContractTypes`` that is among them.
    public let accepts: Set<ContractType>
    /// The payer's IP address, the same in every repetition; nil where it is unknown.
    public let payerAddress: String?
    /// The mandate that the payment is to leave behind; nil for a payment that happens once.
    public let mandate: MandateRequest?
    /// The payer as a wallet knows them, the same in every repetition; nil where no wallet needs it.
    public let payer: WalletPayer?

    public init(
        payment: ID<Payment>, order: ID<Order>, amount: Money, title: String, platform: Platform, returnURL: String?,
        expiresAt: Timestamp, appleProductIDs: [String] = [], appAccountToken: String? = nil,
        accepts: Set<ContractType>, payerAddress: String? = nil, mandate: MandateRequest? = nil,
        payer: WalletPayer? = nil
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
        self.mandate = mandate
        self.payer = payer
    }

    /// Returns the payer's address for a service that compares it with its own observation.
    ///
    /// - Parameter fallback: the account's setting, which is used where the payer's address is unknown, or is not a
    ///   public one, such as that of a proxy that is not among the trusted ones.
    public func payerAddress(orElse fallback: String?) -> String? {
        guard let own = payerAddress else { return fallback }
        return IPAddress(own)?.isPublic ?? false ? own : fallback ?? own
    }

    /// The idempotency key of this call, the same in every repetition.
    public var idempotencyKey: String { "\(payment.rawValue)-open" }
}

/// A payment as the provider opened it.
public struct OpenedPayment: Sendable {
    /// The client's next step.
    public let instruction: PaymentInstruction
    /// The provider's own id; nil where it only has ours.
    public let reference: String?
    /// The outcome so far; `accepted` while the payment waits for the payer.
    public let outcome: PaymentOutcome

    public init(instruction: PaymentInstruction, reference: String?, outcome: PaymentOutcome = .accepted) {
        self.instruction = instruction
        self.reference = reference
        self.outcome = outcome
    }
}

/// The ids of a payment in calls to its provider.
public struct ProviderReference: Sendable, Hashable {
    public let payment: ID<Payment>
    /// The provider's own id, where it gave one.
    public let reference: String?
    public let amount: Money

    public init(payment: ID<Payment>, reference: String?, amount: Money) {
        self.payment = payment
        self.reference = reference
        self.amount = amount
    }
}

/// A refund to make or to query.
public struct RefundAttempt: Sendable {
    /// The refund's id; also the idempotency key of the call.
    public let refund: ID<Refund>
    public let payment: ProviderReference
    public let amount: Money
    public let reason: String
    /// The provider's own id of the refund, where it gave one.
    public let reference: String?
    /// The time of the last call for this refund; the current time where it is about to be made.
    ///
    /// A refund may wait for days before it is sent, so the time of its id says nothing about its call. Where the
    /// service does not know a refund, the call may still be under way for as long after this time as your calls can
    /// take; only after that may a report say that it failed.
    public let sentAt: Timestamp
    /// True where an earlier call was made and its outcome is unknown.
    ///
    /// Distinguishes our refund from another one if a service only states that a payment was refunded.
    public let wasSent: Bool

    /// - Parameter sentAt: nil for the time of the id.
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

    /// The idempotency key of this call, the same in every repetition.
    public var idempotencyKey: String { "\(refund.rawValue)-refund" }
}
