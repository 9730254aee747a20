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
    /// The card network's advice on another try.
    let adviceCode: String?
    /// The name of the parameter that the refusal is about.
    let parameter: String?
    /// The PaymentIntent that was made and whose confirmation was refused.
    let intent: String?

    init(
        status: Int, type: String? = nil, code: String? = nil, declineCode: String? = nil, adviceCode: String? = nil,
        parameter: String? = nil, intent: String? = nil
    ) {
        self.status = status
        self.type = type
        self.code = code
        self.declineCode = declineCode
        self.adviceCode = adviceCode
        self.parameter = parameter
        self.intent = intent
    }

    init(_ reply: IncomingReply) {
        struct Body: Decodable {
            struct Details: Decodable {
                let type: String?
                let code: String?
                let decline_code: String?
                let advice_code: String?
                let param: String?
                let payment_intent: StripeObject.Named?
            }
            let error: Details
        }
        let details = try? JSONDecoder().decode(Body.self, from: reply.body).error
        self.init(
            status: reply.status, type: StripeText.word(details?.type), code: StripeText.word(details?.code),
            declineCode: StripeText.word(details?.decline_code), adviceCode: StripeText.word(details?.advice_code),
            parameter: StripeText.word(details?.param), intent: details?.payment_intent.flatMap { StripeText.id($0.id) }
        )
    }

    /// True where the key was used with other parameters before: the first call's result stands.
    var isOtherUseOfKey: Bool { type == "idempotency_error" && status != 409 }

    /// True where Stripe has no such object.
    var isMissing: Bool { status == 404 && (type == "invalid_request_error" || code == "resource_missing") }

    /// True where Stripe refused before any work: because of a key, a right, a limit.
    var isBeforeWork: Bool {
        [401, 403, 429].contains(status) || code == "rate_limit" || code == "lock_timeout"
    }

    private var reason: String { StripeDecline(self).reason }

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
