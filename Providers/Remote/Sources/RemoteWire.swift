import Domain
import ProviderKit

/// The calls of the protocol, each a POST to the path with its name.
enum RemoteCall: String, Sendable, Encodable, CaseIterable {
    case manifest
    case open = "payments/open"
    case query = "payments/query"
    case cancel = "payments/cancel"
    case refund = "refunds/make"
    case queryRefund = "refunds/query"
    case openSetup = "setups/open"
    case querySetup = "setups/query"
    case cancelSetup = "setups/cancel"
    case charge = "mandates/charge"
    case verify = "mandates/verify"
    case charges = "mandates/charges"
    case revoke = "mandates/revoke"
    case begin = "rehearsal/begin"
    case act = "rehearsal/act"
    case effects = "rehearsal/effects"
    case notification = "rehearsal/notification"
    case playMandates = "rehearsal/mandates"

    /// The calls whose lost answers leave the effect unknown.
    static let changes: Set<RemoteCall> = [.open, .cancel, .refund, .openSetup, .cancelSetup, .charge, .revoke]

    /// True where a lost answer leaves the effect unknown.
    var changesSomething: Bool { Self.changes.contains(self) }

    /// True where `rejected` is a final answer: a change, and the question for a mandate that there may not be.
    var canBeRejected: Bool { changesSomething || self == .verify }
}

/// A request to a plugin; `openapi.yaml` lists the members of each call.
struct RemoteRequest: Encodable, Sendable {
    let call: RemoteCall
    var payment_id: String?
    var order_id: String?
    var refund_id: String?
    var amount: Money?
    var payment_amount: Money?
    var title: String?
    var platform: String?
    var return_url: String?
    var payer_address: String?
    var notify_url: String?
    var expires_at: Int64?
    var accepts: [String]?
    var reference: String?
    var payment_reference: String?
    var reason: String?
    var mandate_request: RemoteMandateRequest?
    var setup_id: String?
    var subscription_id: String?
    var customer: String?
    var currency: Currency?
    var terms: String?
    var period_index: Int64?
    var mandate: RemoteMandateIDs?
    var owns_customer: Bool?
    var since: Int64?
    var after: String?
    var act: String?
    var charges: String?
    var ended: Bool?
    var event: RemoteEvent?

    init(_ call: RemoteCall) { self.call = call }

    init(_ call: RemoteCall, _ payment: ProviderReference) {
        self.call = call
        payment_id = payment.payment.rawValue
        amount = payment.amount
        reference = payment.reference
    }

    init(_ call: RemoteCall, _ refund: RefundAttempt) {
        self.call = call
        payment_id = refund.payment.payment.rawValue
        payment_reference = refund.payment.reference
        payment_amount = refund.payment.amount
        refund_id = refund.refund.rawValue
        amount = refund.amount
        reason = refund.reason
        reference = refund.reference
    }
}

/// A plugin's refusal, in the body beside its status.
struct RemoteRefusal: Decodable, ServiceRefusal {
    struct Words: Decodable, Equatable {
        let type: String
        let reason: String?
    }

    let error: Words

    func providerError(_ unknown: ProviderError) -> ProviderError {
        providerError(unknown, isFinal: unknown != .unavailable)
    }

    /// - Parameter isFinal: false for a query, which cannot be refused finally.
    func providerError(_ unknown: ProviderError, isFinal: Bool) -> ProviderError {
        switch error.type {
        case "rejected" where isFinal: .rejected(reason: RemoteText.word(error.reason) ?? "rejected")
        case "unsupported": .unsupported
        case "unavailable": .unavailable
        default: unknown
        }
    }
}

struct RemoteOpened: Decodable {
    struct Contract: Decodable {
        let type: String
        let checkout_url: String?
        let text: String?
    }

    let payment: RemotePayment
    let contract: Contract
}

struct RemotePaymentAnswer: Decodable {
    let payment: RemotePayment
}

struct RemoteRefundAnswer: Decodable {
    let refund: RemoteRefund
}

/// A payment in the protocol's form.
struct RemotePayment: Decodable {
    let payment_id: String
    let status: String
    let amount: Money?
    let reference: String?
    let reason: String?
    /// The mandate that a success has left behind.
    var mandate: RemoteMandate?
    /// The kind of a charge's failure.
    var refusal: String?

    /// - Returns: nil for a success without an amount.
    var outcome: PaymentOutcome? {
        let reason = RemoteText.word(reason)
        return switch status {
        case "waiting": .accepted
        case "succeeded": amount.map { .succeeded($0) }
        case "failed": .failed(reason: reason ?? "failed")
        case "try_failed": .tryFailed(reason: reason ?? "failed")
        case "cancelled": .cancelled
        // An unknown status is neither a success nor an end.
        default: .pending(status: RemoteText.word(status) ?? "unknown")
        }
    }
}

/// A refund in the protocol's form.
struct RemoteRefund: Decodable {
    let payment_id: String
    /// The plugin's own id of the payment.
    let payment_reference: String?
    let refund_id: String?
    let status: String
    let amount: Money?
    let reference: String?
    let reason: String?

    var outcome: RefundOutcome {
        switch status {
        case "succeeded": .succeeded
        case "failed": .failed(reason: RemoteText.word(reason) ?? "failed")
        default: .pending
        }
    }
}

/// A dispute in the protocol's form.
struct RemoteDispute: Decodable {
    let payment_id: String
    let status: String
    let amount: Money?
    let reference: String?
    /// The time of this status, in seconds since 1970.
    let at: Int64?
    /// The plugin's own id of the payment.
    let payment_reference: String?

    var outcome: DisputeOutcome? {
        switch status {
        case "opened": .opened
        case "won": .won
        case "lost": .lost
        default: nil
        }
    }
}
