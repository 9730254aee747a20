import FoundationEssentials
import ProviderKit

/// The failures of a call to Stripe.
enum StripeFailure: Error, Sendable, Equatable {
    /// The call never reached Stripe.
    case notSent
    /// The call may have taken effect: after a time limit, a lost connection, or an answer that is not Stripe's.
    case unanswered
    /// Stripe's refusal.
    case refused(StripeRefusal)
    /// The answer is not accepted: it is about another payment or mode, or its amount differs.
    case unproven(UnprovenReason)
    /// The answer has a value that Paydesk cannot represent, with the reason.
    case unsayable(String)

    /// The answer is about another payment.
    static let foreign = StripeFailure.unproven(.otherPayment)
}

/// An error answer of Stripe's, without its message, which can contain parts of a key.
struct StripeRefusal: Error, Sendable, Equatable {
    let status: Int
    /// The type, `invalid_request_error`, `card_error` …; nil where the body is not Stripe's.
    let type: String?
    let code: String?
    let declineCode: String?

    init(status: Int, type: String? = nil, code: String? = nil, declineCode: String? = nil) {
        self.status = status
        self.type = type
        self.code = code
        self.declineCode = declineCode
    }

    init(_ reply: IncomingReply) {
        struct Body: Decodable {
            struct Details: Decodable {
                let type: String?
                let code: String?
                let decline_code: String?
            }
            let error: Details
        }
        let details = try? JSONDecoder().decode(Body.self, from: reply.body).error
        self.init(
            status: reply.status, type: StripeText.word(details?.type), code: StripeText.word(details?.code),
            declineCode: StripeText.word(details?.decline_code))
    }

    /// True where the key was used with other parameters before: the first call's result stands.
    var isOtherUseOfKey: Bool { type == "idempotency_error" && status != 409 }

    /// True where Stripe has no such object.
    var isMissing: Bool { status == 404 && (type == "invalid_request_error" || code == "resource_missing") }

    /// True where Stripe refused before any work: because of a key, a right, a limit.
    var isBeforeWork: Bool {
        [401, 403, 429].contains(status) || code == "rate_limit" || code == "lock_timeout"
    }

    fileprivate var reason: String { declineCode ?? code ?? type ?? "refused" }
}

extension StripeFailure {
    /// Returns the failure as a provider error.
    ///
    /// - Parameter afterChange: true for a call that changes something, whose effect is unknown after a lost answer.
    func providerError(afterChange: Bool) -> ProviderError {
        let unknown: ProviderError = afterChange ? .outcomeUnknown : .unavailable
        switch self {
        case .notSent: return .unavailable
        case .unanswered: return unknown
        case .unproven(let reason): return .unproven(reason)
        // Such an answer is no refusal: Stripe may have made the change.
        case .unsayable(let reason): return reason == "bad_amount" ? .unproven(.badMoney) : unknown
        case .refused(let refusal):
            if refusal.isBeforeWork { return .unavailable }
            // A result under the same key exists, or is being made.
            if refusal.isOtherUseOfKey { return unknown }
            switch refusal.status {
            case 408, 409, 425, 500...: return unknown
            default: return refusal.type == nil ? unknown : .rejected(reason: refusal.reason)
            }
        }
    }
}
