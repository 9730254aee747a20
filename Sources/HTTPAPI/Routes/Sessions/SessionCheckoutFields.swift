import Domain
import Gateway

/// The body of a session's checkout, whose absent fields are the session's.
struct SessionCheckoutFields: Decodable {
    let sku: String?
    let quantity: Int64?
    let days: Int64?
    let platform: String?
    let currency: String?
    let provider: String?
    let accept: [String]?
    let return_url: String?
    let locale: String?
    let metadata: [String: String]?
    let external_purchase_token: String?
    let storefront: String?
    let app_id: String?
    let payer: PayerFields?

    func fields(_ call: Call) throws(GatewayError) -> SessionFields {
        var fields = SessionFields(
            sku: sku, quantity: quantity, days: days, platform: try platform.map(CheckoutFields.platform),
            currency: try currency.map(CheckoutFields.currency), provider: provider,
            accept: try accept.map { types throws(GatewayError) in try CheckoutFields.accept(types) },
            returnURL: return_url)
        fields.locale = try locale.map(CheckoutFields.locale)
        fields.termsLocale = CheckoutRequest.termsLanguage(of: call.languages)
        fields.metadata = metadata
        fields.storefront = storefront
        fields.wallet = try PayerFields.wallet(payer, app: app_id)
        guard external_purchase_token == nil else {
            throw .invalidRequest(field: "external_purchase_token", reason: "is not the session's")
        }
        fields.payerAddress = call.payerAddress
        return fields
    }

    /// Reads the parameters of a session's `payment-methods`.
    static func query(_ call: Call) throws(GatewayError) -> SessionFields {
        let accept = call.query["accept"].map { $0.split(separator: ",").map(String.init) }
        return SessionFields(
            sku: call.query["sku"], quantity: try call.integer("quantity"), days: try call.integer("days"),
            platform: try call.choice("platform"), currency: try call.currency("currency"),
            provider: call.query["provider"],
            accept: try accept.map { types throws(GatewayError) in try CheckoutFields.accept(types) })
    }
}

/// The body of another attempt by a session, whose absent fields are the session's.
struct SessionRetryFields: Decodable {
    let platform: String?
    let currency: String?
    let provider: String?
    let accept: [String]?
    let return_url: String?
    let app_id: String?
    let payer: PayerFields?

    func fields(_ call: Call) throws(GatewayError) -> SessionFields {
        var fields = SessionFields(
            platform: try platform.map(CheckoutFields.platform),
            currency: try currency.map(CheckoutFields.currency), provider: provider,
            accept: try accept.map { types throws(GatewayError) in try CheckoutFields.accept(types) },
            returnURL: return_url)
        fields.wallet = try PayerFields.wallet(payer, app: app_id)
        fields.payerAddress = call.payerAddress
        return fields
    }
}
