public import Domain

/// A provider that charges payers who are not present, by mandates that they have given.
///
/// A mandate is left behind by a payment (``PaymentAttempt/mandate``) or made by a set-up, which moves no money. Its
/// manifest says `mandates: true`. Paydesk decides when to charge; it never has two charges of one order under way.
public protocol MandateCharging: PaymentProvider {
    /// True where this account's settings let it leave mandates behind.
    var chargesMandates: Bool { get }

    /// Opens the set-up of a mandate and returns the client's next step.
    func setUp(_ attempt: SetupAttempt) async throws(ProviderError) -> OpenedSetup

    /// Queries the current state of a set-up.
    func query(setup: SetupReference) async throws(ProviderError) -> SetupReport

    /// Makes a set-up impossible, or reports the state that prevents it.
    func cancel(setup: SetupReference) async throws(ProviderError) -> SetupReport

    /// Charges a mandate.
    ///
    /// A refusal is a report of ``PaymentOutcome/failed(reason:)`` with ``PaymentReport/refusal``, not an error: the
    /// payment is then final at the service, too.
    ///
    /// - Throws: ``ProviderError/unavailable`` only where nothing was charged; ``ProviderError/outcomeUnknown`` after a
    ///   lost reply.
    func charge(_ charge: MandateCharge) async throws(ProviderError) -> PaymentReport

    /// Looks a mandate up that was made elsewhere.
    ///
    /// - Throws: `rejected` where there is none.
    func verify(_ mandate: MandateReference) async throws(ProviderError) -> ProviderMandate

    /// Lists the charges of a mandate since a time, oldest first, under the payments' ids in their metadata; nil where
    /// the service cannot list them.
    func charges(
        of mandate: MandateReference, since: Timestamp
    ) async throws(ProviderError) -> [MandateChargeReport]?

    /// Makes a mandate useless; succeeds for one that is unknown or was revoked before.
    func revoke(_ mandate: MandateReference) async throws(ProviderError)
}

extension MandateCharging {
    public var chargesMandates: Bool { manifest.mandates }
}

/// The mandate that a payment is to leave behind.
public struct MandateRequest: Sendable, Hashable {
    public let subscription: ID<Subscription>
    /// The period that the payment pays, from 0.
    public let periodIndex: Int64
    /// The sentence to which the payer agrees: amount, period, first charge and how to end it, in the payer's language.
    public let terms: String

    public init(subscription: ID<Subscription>, periodIndex: Int64, terms: String) {
        self.subscription = subscription
        self.periodIndex = periodIndex
        self.terms = terms
    }
}

/// A mandate as its provider states it.
public struct ProviderMandate: Sendable, Hashable, Codable {
    /// The provider's id of the means of payment.
    public let reference: String
    /// The provider's id of its customer; nil where it has none.
    public let customer: String?
    /// The same text for the same means of payment, whoever gives it; nil where the provider has none.
    public let fingerprint: String?
    /// The words by which a payer recognizes it, `Visa •••• 4242`.
    public let label: String?
    public let brand: String?
    public let last4: String?
    public let expMonth: Int64?
    public let expYear: Int64?

    public init(
        reference: String, customer: String? = nil, fingerprint: String? = nil, label: String? = nil,
        brand: String? = nil, last4: String? = nil, expMonth: Int64? = nil, expYear: Int64? = nil
    ) {
        self.reference = reference
        self.customer = customer
        self.fingerprint = fingerprint
        self.label = label
        self.brand = brand
        self.last4 = last4
        self.expMonth = expMonth
        self.expYear = expYear
    }
}

/// The ids of a mandate in calls to its provider.
public struct MandateReference: Sendable, Hashable {
    public let subscription: ID<Subscription>
    public let reference: String
    public let customer: String?
    /// True where the customer was made for this subscription, and may be deleted with its last mandate.
    public let ownsCustomer: Bool

    public init(subscription: ID<Subscription>, reference: String, customer: String?, ownsCustomer: Bool) {
        self.subscription = subscription
        self.reference = reference
        self.customer = customer
        self.ownsCustomer = ownsCustomer
    }
}

/// A charge of a mandate.
public struct MandateCharge: Sendable {
    public let payment: ID<Payment>
    public let order: ID<Order>
    public let periodIndex: Int64
    public let amount: Money
    /// The title of the purchase, for the payer's statement.
    public let title: String
    public let mandate: MandateReference

    public init(
        payment: ID<Payment>, order: ID<Order>, periodIndex: Int64, amount: Money, title: String,
        mandate: MandateReference
    ) {
        self.payment = payment
        self.order = order
        self.periodIndex = periodIndex
        self.amount = amount
        self.title = title
        self.mandate = mandate
    }

    /// The idempotency key of this call, the same in every repetition.
    public var idempotencyKey: String { "\(payment.rawValue)-open" }
}

/// A charge that a service lists.
public struct MandateChargeReport: Sendable, Hashable {
    public let payment: ID<Payment>
    public let order: ID<Order>
    public let periodIndex: Int64
    public let amount: Money
    public let reference: String?
    public let at: Timestamp

    public init(
        payment: ID<Payment>, order: ID<Order>, periodIndex: Int64, amount: Money, reference: String?, at: Timestamp
    ) {
        self.payment = payment
        self.order = order
        self.periodIndex = periodIndex
        self.amount = amount
        self.reference = reference
        self.at = at
    }
}

/// A set-up to open.
public struct SetupAttempt: Sendable {
    /// The set-up's id; also the idempotency key of the call.
    public let setup: ID<Setup>
    public let subscription: ID<Subscription>
    /// The customer of the mandate that it replaces; nil where there is none.
    public let customer: String?
    public let currency: Currency
    /// The title of the purchase, shown to the payer.
    public let title: String
    /// The sentence to which the payer agrees.
    public let terms: String
    public let platform: Platform
    public let returnURL: String?
    public let expiresAt: Timestamp
    /// The contract types that the client accepts.
    public let accepts: Set<ContractType>

    public init(
        setup: ID<Setup>, subscription: ID<Subscription>, customer: String? = nil, currency: Currency, title: String,
        terms: String, platform: Platform, returnURL: String?, expiresAt: Timestamp, accepts: Set<ContractType>
    ) {
        self.setup = setup
        self.subscription = subscription
        self.customer = customer
        self.currency = currency
        self.title = title
        self.terms = terms
        self.platform = platform
        self.returnURL = returnURL
        self.expiresAt = expiresAt
        self.accepts = accepts
    }

    /// The idempotency key of this call, the same in every repetition.
    public var idempotencyKey: String { "\(setup.rawValue)-setup" }
}

/// A set-up as the provider opened it.
public struct OpenedSetup: Sendable {
    /// The client's next step.
    public let instruction: PaymentInstruction
    /// The provider's own id; nil where it only has ours.
    public let reference: String?

    public init(instruction: PaymentInstruction, reference: String?) {
        self.instruction = instruction
        self.reference = reference
    }
}

/// The ids of a set-up in calls to its provider.
public struct SetupReference: Sendable, Hashable {
    public let setup: ID<Setup>
    public let subscription: ID<Subscription>
    /// The provider's own id, where it gave one.
    public let reference: String?

    public init(setup: ID<Setup>, subscription: ID<Subscription>, reference: String?) {
        self.setup = setup
        self.subscription = subscription
        self.reference = reference
    }
}

/// The outcome of a set-up, as its provider states it.
public enum SetupOutcome: Sendable, Equatable, Codable {
    /// The provider knows the set-up and waits for the payer, or works on it.
    case pending
    case succeeded(ProviderMandate)
    /// Final: the set-up will never succeed.
    case failed(reason: String)
    /// Final: the set-up was closed before it succeeded.
    case cancelled
}

public struct SetupReport: Sendable, Equatable, Codable {
    public let setup: ID<Setup>
    public let outcome: SetupOutcome
    /// The provider's own id, where it is known.
    public let reference: String?

    public init(setup: ID<Setup>, outcome: SetupOutcome, reference: String? = nil) {
        self.setup = setup
        self.outcome = outcome
        self.reference = reference
    }
}

/// A statement about the mandate of a subscription that comes without a charge.
public struct MandateReport: Sendable, Equatable, Codable {
    public enum Event: Sendable, Equatable, Codable {
        /// The mandate that a payment was to leave behind, which came after the payment's success.
        case made(ProviderMandate)
        /// The payer or the service has ended the mandate of this reference; nil for every mandate of the subscription.
        case ended(reference: String?)
        /// The service has deleted this customer of the subscription, with every mandate that it kept.
        case customerDeleted(String)
    }

    public let subscription: ID<Subscription>
    public let event: Event

    public init(subscription: ID<Subscription>, event: Event) {
        self.subscription = subscription
        self.event = event
    }
}
