/// Stripe's objects, in the fields that Paydesk reads; others are ignored.
///
/// Nearly everything is optional: a missing field is handled where it is needed.
enum StripeObject {
    struct PaymentIntent: Decodable, Sendable {
        struct PaymentError: Decodable, Sendable {
            let type: String?
            let code: String?
            let decline_code: String?
            let advice_code: String?
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
        let customer: Expandable<Named>?
        let payment_method: Expandable<Named>?
        /// Seconds since 1970.
        let created: Int64?
    }

    struct SetupIntent: Decodable, Sendable {
        let id: String
        let status: String
        let client_secret: String?
        let livemode: Bool?
        let metadata: [String: String]?
        let customer: Expandable<Named>?
        let payment_method: Expandable<Named>?
    }

    struct PaymentMethod: Decodable, Sendable {
        struct Card: Decodable, Sendable {
            let brand: String?
            let last4: String?
            let exp_month: Int64?
            let exp_year: Int64?
            let fingerprint: String?
        }

        let id: String
        let type: String?
        let livemode: Bool?
        /// nil where it is attached to none, and cannot be charged.
        let customer: Expandable<Named>?
        let card: Card?
    }

    struct Customer: Decodable, Sendable {
        let id: String
        let deleted: Bool?
        let metadata: [String: String]?
    }

    struct WebhookEndpoint: Decodable, Sendable {
        let id: String
        let url: String?
        let status: String?
        let enabled_events: [String]?
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
        let setup_intent: Expandable<SetupIntent>?
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
