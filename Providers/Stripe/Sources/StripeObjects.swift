/// Stripe's objects, in the fields that Paydesk reads; others are ignored.
///
/// Nearly everything is optional: a missing field is handled where it is needed.
enum StripeObject {
    struct PaymentIntent: Decodable, Sendable {
        struct PaymentError: Decodable, Sendable {
            let type: String?
            let code: String?
            let decline_code: String?
        }

        let id: String
        let status: String
        let amount: Int64?
        let amount_received: Int64?
        let currency: String?
        let client_secret: String?
        let livemode: Bool?
        let metadata: [String: String]?
        let last_payment_error: PaymentError?
    }

    struct Token: Decodable, Sendable {
        let id: String
    }

    struct CheckoutSession: Decodable, Sendable {
        let id: String
        let status: String?
        let payment_status: String?
        let amount_total: Int64?
        let currency: String?
        let url: String?
        let livemode: Bool?
        let metadata: [String: String]?
        let payment_intent: Expandable<PaymentIntent>?
    }

    struct Refund: Decodable, Sendable {
        let id: String
        let status: String?
        let amount: Int64?
        let currency: String?
        let failure_reason: String?
        let metadata: [String: String]?
        let payment_intent: Expandable<Named>?
    }

    struct Charge: Decodable, Sendable {
        let id: String
        let payment_intent: Expandable<Named>?
    }

    struct Dispute: Decodable, Sendable {
        let id: String
        let status: String
        let amount: Int64?
        let currency: String?
        let payment_intent: Expandable<Named>?
    }

    struct List<Element: Decodable & Sendable>: Decodable, Sendable {
        let data: [Element]
        let has_more: Bool?
    }

    struct Named: Decodable, Sendable {
        let id: String
    }

    /// An object's id, or the object itself where the call requested it.
    enum Expandable<Value: Decodable & Sendable>: Decodable, Sendable {
        case id(String)
        case object(Value, id: String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let id = try? container.decode(String.self) {
                self = .id(id)
            } else {
                self = .object(try container.decode(Value.self), id: try container.decode(Named.self).id)
            }
        }

        var id: String {
            switch self {
            case .id(let id), .object(_, let id): id
            }
        }

        var object: Value? {
            switch self {
            case .id: nil
            case .object(let value, _): value
            }
        }
    }
}
