import FoundationEssentials
import ProviderKit

/// The failures of a call to Stripe.
typealias StripeFailure = ServiceFailure<StripeRefusal>

/// An error answer of Stripe's, without its message, which can contain parts of a key.
struct StripeRefusal: ServiceRefusal {
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

    private var reason: String { declineCode ?? code ?? type ?? "refused" }

    func providerError(_ unknown: ProviderError) -> ProviderError {
        if isBeforeWork { return .unavailable }
        // A result under the same key exists, or is being made.
        if isOtherUseOfKey { return unknown }
        switch status {
        case 408, 409, 425, 500...: return unknown
        default: return type == nil ? unknown : .rejected(reason: reason)
        }
    }
}
