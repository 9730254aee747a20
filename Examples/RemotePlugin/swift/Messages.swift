/// The words of the protocol (`Providers/Remote/openapi.yaml`) that this plugin needs.
struct Money: Codable, Hashable {
    let value: Int64
    let currency: String
}

struct ManifestCall: Decodable {}

struct Manifest: Encodable {
    let `protocol` = 1
    let display_name = "Example bank"
    let contract_types = ["url"]
    let currencies: [String] = []
    let cancel = "definite"
    let refunds = "partial"
    let notifications = true
    let mandates = true
}

struct OpenCall: Decodable {
    let payment_id: String
    let amount: Money
    let notify_url: String
    let mandate_request: MandateRequest?
}

struct PaymentCall: Decodable {
    let payment_id: String
    let amount: Money
}

struct RefundCall: Decodable {
    let payment_id: String
    let refund_id: String
    let amount: Money
}

/// A payment, a refund or a dispute, as answers and notifications have it.
struct Said: Encodable {
    var payment_id: String
    var refund_id: String?
    var status: String
    var amount: Money?
    var reference: String?
    var reason: String?
    /// The kind of a refused charge: `soft`, `hard` or `action_required`.
    var refusal: String?
    var mandate: Mandate?
}

struct Contract: Encodable {
    let type = "url"
    let checkout_url: String
}

struct Opened: Encodable {
    let payment: Said
    let contract: Contract
}

struct PaymentAnswer: Encodable {
    let payment: Said
}

struct RefundAnswer: Encodable {
    let refund: Said
}

struct Notice: Encodable {
    let type: String
    var payment: Said?
    var refund: Said?
    var dispute: Said?
    var setup: SaidSetup?
    var mandate: MandateNotice?
}

/// A refusal that Paydesk understands; its status goes with its type.
struct Refusal: Error, Encodable {
    struct Words: Encodable {
        let type: String
        var reason: String?
    }

    let error: Words

    /// Final: it stays so.
    static func rejected(_ reason: String) -> Refusal { Refusal(error: Words(type: "rejected", reason: reason)) }
    /// The call had no effect.
    static let unavailable = Refusal(error: Words(type: "unavailable"))
    /// The call may have had its effect.
    static let outcomeUnknown = Refusal(error: Words(type: "outcome_unknown"))

    var status: Int { ["rejected": 409, "unsupported": 501, "unavailable": 503][error.type] ?? 504 }
}

// The rehearsal.
struct BeginCall: Decodable {}

struct Begun: Encodable {
    let payers_can_fail = true
}

struct ActCall: Decodable {
    let payment_id: String?
    let setup_id: String?
    let act: String
}

struct PlayCall: Decodable {
    let subscription_id: String
    let charges: String?
    let ended: Bool?
}

struct Acted: Encodable {
    let taken: Bool
    let notification: Letter?
}

struct EffectsCall: Decodable {
    let payment_id: String?
    let setup_id: String?
}

struct Effects: Encodable {
    let payments: Int
    let refunds: [Money]
    let setups: Int
}

struct NotificationCall: Decodable {
    struct Event: Decodable {
        let id: String
        let type: String
        let status: String
        let payment_id: String?
        let refund_id: String?
        let amount: Money?
        let setup_id: String?
        let subscription_id: String?
    }

    let event: Event
}

struct NotificationAnswer: Encodable {
    let notification: Letter?
}

/// A notification as it is sent.
struct Letter: Encodable {
    let headers: [String: String]
    let body: String
}
