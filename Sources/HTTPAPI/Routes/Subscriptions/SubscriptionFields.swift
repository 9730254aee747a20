import Domain
import Gateway

// The bodies of calls about subscriptions.

struct ExtensionFields: Decodable {
    let days: Int64
    let reason_code: Int64?
}

struct PriceChangeFields: Decodable {
    let prices: [Money]
    let effective_at: Int64
}

struct HoldFields: Decodable {
    let hold: Bool
    let reason: String?
    let accept_unchecked: Bool?
}

struct ImportFields: Decodable {
    struct Mandate: Decodable {
        let reference: String
        let customer: String?
    }

    let external_id: String
    let user_id: String
    let sku: String
    let account: String
    let mandate: Mandate
    let period_start: Int64?
    let period_end: Int64
    let price: Money?

    func imported() throws(GatewayError) -> ImportedSubscription {
        ImportedSubscription(
            externalID: external_id, user: try UserName.parse(user_id), sku: sku, account: account,
            reference: mandate.reference, customer: mandate.customer, periodStart: period_start.map(Timestamp.init(_:)),
            periodEnd: Timestamp(period_end), price: price)
    }
}

struct ChangeFields: Decodable {
    let sku: String
}

struct CancelFields: Decodable {
    let when: String?
    let refund: String?

    func time() throws(GatewayError) -> SubscriptionActs.CancelTime {
        guard let when else { return .periodEnd }
        guard let known = SubscriptionActs.CancelTime(rawValue: when) else {
            throw .invalidRequest(
                field: "when", reason: .words(SubscriptionActs.CancelTime.allCases.map(\.rawValue)))
        }
        return known
    }

    func choice() throws(GatewayError) -> SubscriptionActs.RefundChoice {
        guard let refund else { return .none }
        guard let known = SubscriptionActs.RefundChoice(rawValue: refund) else {
            throw .invalidRequest(
                field: "refund", reason: .words(SubscriptionActs.RefundChoice.allCases.map(\.rawValue)))
        }
        return known
    }
}
