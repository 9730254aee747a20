public import Domain
public import ProviderKit

/// A provider's own simulation of its payer and its payment service.
///
/// The kit makes a new rehearsal for every check, so that no check sees the effects of another: a rehearsal stands for
/// a fresh account at a fresh payment service. Every requirement has a default that stops the check that needs it, so
/// that a gap is a failed check and never a silent one.
public protocol Rehearsal: Sendable {
    /// The secrets in the account's settings; none of them may be shown anywhere.
    var secrets: [String] { get }

    /// The number of seconds by which a notification's signing time may differ from now; nil where signatures carry no
    /// time.
    var signatureWindow: Int64? { get }

    /// True where a payer's act can end a payment badly; false where the service only knows paid and not yet paid.
    var payersCanFail: Bool { get }

    /// True where notifications name a currency; false where the service has only one.
    var namesCurrencies: Bool { get }

    /// Makes the account's provider.
    ///
    /// The kit's transport simulates the behaviour for everything that goes over HTTP; only a provider that plays its
    /// own payment service has to look at `upstream`.
    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider

    /// Returns the payment service's answer to a call.
    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply

    /// Returns whether losing the answer to this call leaves its effect unknown; false for the fetch of a token or a
    /// key.
    func changesSomething(_ request: OutgoingRequest) -> Bool

    /// Plays the payer's act at the payment service.
    ///
    /// - Returns: whether the service accepted the act; false when the payment can no longer be paid.
    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool

    /// Returns the payment service's records of one of our payments.
    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects

    /// Returns a genuine answer with fields that no adapter knows; where the service signs its answers, signed again.
    ///
    /// - Returns: nil where that cannot be played. The default adds fields to JSON.
    func addingUnknownFields(to reply: IncomingReply) -> IncomingReply?

    /// Gives a waiting payment a status at the payment service that no adapter knows.
    ///
    /// - Returns: false where the service cannot have such a status.
    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool

    /// Returns a notification as the payment service sends it at `context.time`.
    ///
    /// - Returns: nil where this service has no such notification.
    func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification?

    // The rest is asked of providers that charge mandates alone.

    /// Plays the payer of a set-up, who gives a means of payment or fails to.
    ///
    /// - Returns: whether the service accepted the act; false when the set-up can no longer be given.
    func act(_ act: PayerAct, on setup: ID<Setup>, in context: ProviderContext) async throws -> Bool

    /// Returns the number of set-ups that the payment service made for one of ours.
    func setups(of setup: ID<Setup>, in context: ProviderContext) async throws -> Int

    /// Decides what the payer's bank says to later charges of a subscription's mandates.
    ///
    /// - Returns: false where this service never says so.
    func play(
        _ charging: RehearsedCharging, of subscription: ID<Subscription>, in context: ProviderContext
    ) async throws -> Bool

    /// Ends a mandate at the payment service, as its payer does.
    func end(_ mandate: MandateReference, in context: ProviderContext) async throws

    /// Returns a genuine notification about a set-up or a mandate as it stands at the payment service.
    ///
    /// - Returns: nil where this service has no such notification.
    func notification(_ event: RehearsedMandateEvent, in context: ProviderContext) async throws -> RawNotification?
}

extension Rehearsal {
    public var signatureWindow: Int64? { nil }
    public var payersCanFail: Bool { true }
    public var namesCurrencies: Bool { true }

    public func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply { throw .notSent }

    public func changesSomething(_ request: OutgoingRequest) -> Bool { true }

    public func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        throw RehearsalGap("cannot play the payer")
    }

    public func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        throw RehearsalGap("cannot say what the payment service has")
    }

    public func addingUnknownFields(to reply: IncomingReply) -> IncomingReply? {
        guard let body = UnknownFields.adding(to: reply.body) else { return nil }
        return IncomingReply(status: reply.status, headers: reply.headers, body: body)
    }

    public func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        throw RehearsalGap("cannot give a payment an unknown status")
    }

    public func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? {
        throw RehearsalGap("cannot make notifications")
    }

    public func act(_ act: PayerAct, on setup: ID<Setup>, in context: ProviderContext) async throws -> Bool {
        throw RehearsalGap("cannot play the payer of a set-up")
    }

    public func setups(of setup: ID<Setup>, in context: ProviderContext) async throws -> Int {
        throw RehearsalGap("cannot say which set-ups the payment service has")
    }

    public func play(
        _ charging: RehearsedCharging, of subscription: ID<Subscription>, in context: ProviderContext
    ) async throws -> Bool {
        throw RehearsalGap("cannot play the payer's bank")
    }

    public func end(_ mandate: MandateReference, in context: ProviderContext) async throws {
        throw RehearsalGap("cannot end a mandate")
    }

    public func notification(
        _ event: RehearsedMandateEvent, in context: ProviderContext
    ) async throws -> RawNotification? {
        throw RehearsalGap("cannot make notifications about mandates")
    }
}

/// The answer of the payer's bank to charges of a mandate.
public enum RehearsedCharging: String, Sendable, CaseIterable {
    case succeeds, soft, hard, actionRequired
    /// Decided later.
    case pending

    /// The refusal that a charge's report has to name; nil where it is none.
    public var refusal: ChargeRefusal? {
        switch self {
        case .succeeds, .pending: nil
        case .soft: .soft
        case .hard: .hard
        case .actionRequired: .actionRequired
        }
    }
}

/// An event about a set-up or a mandate that the payment service sends a notification of.
public enum RehearsedMandateEvent: Sendable, Equatable {
    /// The set-up has ended, as it stands at the service.
    case setupEnded(ID<Setup>)
    case mandateEnded(MandateReference)
}

/// The error of a requirement that a check needs and a rehearsal does not play.
public struct RehearsalGap: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = "the rehearsal \(description)" }
}

/// The behaviour of the payment service towards the provider.
public enum UpstreamBehaviour: String, Sendable, CaseIterable {
    case normal
    /// Calls take effect, and their answers are lost.
    case lostReplies
    /// Calls have no effect and are not answered.
    case unavailable
    /// Time passes between a call and its answer.
    case slow
}

/// The action of a payer at the payment service.
public enum PayerAct: Sendable { case succeed, fail }

/// The payment service's records of one of our payments.
public struct UpstreamEffects: Sendable, Equatable {
    /// The number of payments that it made for one of ours.
    public var payments: Int
    /// The amounts that it gave back, one for each refund.
    public var refunds: [Money]

    public init(payments: Int, refunds: [Money] = []) {
        self.payments = payments
        self.refunds = refunds
    }
}

/// An event at the payment service that it sends a notification of.
public struct RehearsedEvent: Sendable {
    public enum What: Sendable, Equatable {
        case paymentSucceeded(Money)
        case paymentFailed, paymentCancelled, paymentPending
        case refundCreated(ID<Refund>, Money)
        case refundSucceeded(ID<Refund>, Money)
        case refundFailed(ID<Refund>, Money)
        case disputeOpened(Money), disputeWon(Money), disputeLost(Money)
        /// A payment that another system made at the account, without an id of Paydesk.
        case foreignPaymentSucceeded(Money)
        /// The payment in a correctly signed notification for another account.
        case anothersPaymentSucceeded(Money)
        /// A status of the payment that no adapter knows.
        case unknownStatus
        /// A genuine, correctly signed document that is no notification of this service.
        case unreadable
    }

    /// The event id of the notification: the same for equal texts, different for different ones.
    public let id: String
    public let payment: ProviderReference
    public let what: What
    /// True where the notification has fields that no adapter knows, within its signature.
    public let hasUnknownFields: Bool

    public init(id: String, payment: ProviderReference, what: What, hasUnknownFields: Bool = false) {
        self.id = id
        self.payment = payment
        self.what = what
        self.hasUnknownFields = hasUnknownFields
    }
}

/// The signature of a rehearsed notification.
public enum RehearsedSignature: Sendable, CaseIterable {
    case genuine
    /// Well-formed and wrong.
    case forged
    /// The notification has no signature.
    case missing
    /// Made with the secret or key of another account.
    case anothers
}

/// A provider whose live service can play its own payers, so that an operator can run the kit against it.
public protocol Rehearsable: PaymentProvider {
    /// Returns a function that makes the rehearsals of one run of the kit.
    ///
    /// - Throws: the reason, for an operator, why this service cannot be rehearsed with.
    func rehearsals() async throws(RehearsalGap) -> @Sendable () -> any Rehearsal

    /// Checks the service alone, beyond what the kit checks through the provider.
    func examineService() async -> [ConformanceReport.Result]
}
