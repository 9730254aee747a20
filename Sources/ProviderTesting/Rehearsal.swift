public import Domain
public import ProviderKit

/// A provider's own simulation of its payer and its payment service.
///
/// The kit makes a new rehearsal for every check, so that no check sees what another did: a rehearsal stands for one
/// fresh account at one fresh payment service. Everything has a default that stops the check which needed it, so that
/// a gap is a red check and never a silent one.
public protocol Rehearsal: Sendable {
    /// The account's secrets, as its settings have them; none of them may be shown anywhere.
    var secrets: [String] { get }

    /// The number of seconds by which a notification's signing time may differ from now; nil where signatures carry no
    /// time.
    var signatureWindow: Int64? { get }

    /// True where a payer's act can end a payment badly; false where the service only knows paid and not yet paid.
    var payersCanFail: Bool { get }

    /// True where notifications name a currency; false where it goes without saying.
    var namesCurrencies: Bool { get }

    /// The account's provider. The kit's transport plays the behaviour for whatever goes over HTTP; only a provider
    /// that plays its own payment service has to look at it.
    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider

    /// The payment service's answer to a call.
    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply

    /// Returns whether losing the answer to this call leaves its effect unknown; false for the fetch of a token or a
    /// key.
    func changesSomething(_ request: OutgoingRequest) -> Bool

    /// The payer acts at the payment service.
    ///
    /// - Returns: whether the service took the act; false when the payment cannot be paid any more.
    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool

    /// Returns the payment service's records of one of our payments.
    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects

    /// A genuine answer with fields that no adapter knows; one whose service signs its answers signs it again.
    ///
    /// - Returns: nil where that cannot be played; JSON is done by itself.
    func addingUnknownFields(to reply: IncomingReply) -> IncomingReply?

    /// Gives a waiting payment a status at the payment service that no adapter knows.
    ///
    /// - Returns: false where the service cannot have one.
    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool

    /// A notification as the payment service sends it at `context.time`.
    ///
    /// - Returns: nil where this service has no such notification.
    func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification?
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
}

/// A function that a check needs and a rehearsal does not play.
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

/// The payer's action.
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

/// An event at the payment service, of which it notifies.
public struct RehearsedEvent: Sendable {
    public enum What: Sendable, Equatable {
        case paymentSucceeded(Money)
        case paymentFailed, paymentCancelled, paymentPending
        case refundCreated(ID<Refund>, Money)
        case refundSucceeded(ID<Refund>, Money)
        case refundFailed(ID<Refund>, Money)
        case disputeOpened(Money), disputeWon(Money), disputeLost(Money)
        /// A payment that somebody else made at our account: it names none of ours.
        case foreignPaymentSucceeded(Money)
        /// The payment, as the service tells another account of it, and signed well.
        case anothersPaymentSucceeded(Money)
        /// A status word of the payment that no adapter knows.
        case unknownStatus
        /// Genuine, and yet no notification of this service: another document, signed well.
        case unreadable
    }

    /// The notification's event id must be the same for the same text and another for another.
    public let id: String
    public let payment: ProviderReference
    public let what: What
    /// The notification has fields more than any adapter knows; it is signed with them.
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
    /// Well-formed, and wrong.
    case forged
    /// Without any.
    case missing
    /// By the secret or key of another account.
    case anothers
}
