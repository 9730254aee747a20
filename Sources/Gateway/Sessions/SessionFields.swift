package import Domain

/// The fields that a session's call gives; nil takes the session's own.
package struct SessionFields: Sendable {
    package var sku: String?
    package var quantity: Int64?
    package var days: Int64?
    package var platform: Platform?
    package var currency: Currency?
    package var provider: String?
    package var accept: Set<ContractType>?
    package var returnURL: String?
    package var locale: String?
    /// The language of a subscription's terms where neither the call nor the session names one.
    package var termsLocale: String?
    package var metadata: [String: String]?
    package var storefront: String?
    /// The payer's address; nil where it is not known.
    package var payerAddress: IPAddress?
    /// The payer as a wallet knows them; nil takes the one that WeChat named to the session.
    package var wallet: WalletPayer?

    package init(
        sku: String? = nil, quantity: Int64? = nil, days: Int64? = nil, platform: Platform? = nil,
        currency: Currency? = nil, provider: String? = nil, accept: Set<ContractType>? = nil, returnURL: String? = nil
    ) {
        self.sku = sku
        self.quantity = quantity
        self.days = days
        self.platform = platform
        self.currency = currency
        self.provider = provider
        self.accept = accept
        self.returnURL = returnURL
    }
}

/// Fills a call's fields in from its session, and refuses those that contradict it.
struct SessionTerms: Sendable {
    let caller: AuthenticatedSession
    let plans: SessionPlans
    let publicURL: String
    /// The payer whom WeChat named to the session; nil for none.
    let payer: WalletPayer?
    /// Returns the kind of an account; nil where there is no such account.
    let kind: @Sendable (String) -> String?

    private var session: Session { caller.session }
    private var sale: SessionSale { session.sale }

    /// Makes the request of a checkout.
    ///
    /// - Throws: `invalidRequest` with the field that contradicts the session, and with `sku` where there are several
    ///   and none is named or chosen; `skuNotFound`.
    func checkout(_ fields: SessionFields) throws(GatewayError) -> CheckoutRequest {
        let sku = try sku(fields.sku)
        try agree(fields.platform, sale.platform, "platform")
        guard let currency = sale.currency else { throw .internalError }
        try agree(fields.currency, currency, "currency")
        try agree(fields.quantity, sale.quantity, "quantity")
        if let days = sale.days { try agree(fields.days, days, "days") }
        let chosen = session.chosen.flatMap { $0.sku.rawValue == sku ? $0.days : nil }
        let wallet = wallet(fields.wallet)
        let provider = try provider(fields.provider)
        let accept = try accept(fields.accept, wallet)
        let returnURL = try returnURL(fields.returnURL)
        if let locale = session.locale { try agree(fields.locale, locale, "locale") }
        try agree(fields.metadata, sale.metadata, "metadata")
        if let storefront = fields.storefront { try agree(storefront, sale.storefront ?? "", "storefront") }
        var request = CheckoutRequest(
            sku: sku, quantity: sale.quantity, days: fields.days ?? sale.days ?? chosen, platform: sale.platform,
            currency: currency, provider: provider, accept: accept, returnURL: returnURL,
            locale: fields.locale ?? session.locale, metadata: sale.metadata, payerAddress: fields.payerAddress)
        request.wallet = wallet
        request.termsLocale = request.locale ?? fields.termsLocale
        if let token = sale.externalToken, let storefront = sale.storefront {
            request.external = ExternalClaim(token: .kept(token), storefront: storefront)
        }
        return request
    }

    /// Makes the request of another attempt.
    ///
    /// - Throws: `invalidRequest` with the field that contradicts the session.
    func retry(_ fields: SessionFields) throws(GatewayError) -> RetryRequest {
        try agree(fields.platform, sale.platform, "platform")
        let wallet = wallet(fields.wallet)
        var request = RetryRequest(
            platform: sale.platform, currency: fields.currency, provider: try provider(fields.provider),
            accept: try accept(fields.accept, wallet), returnURL: try returnURL(fields.returnURL),
            payerAddress: fields.payerAddress)
        request.wallet = wallet
        request.session = session.id
        return request
    }

    /// Returns the payer of a call, whose openid WeChat named to the session where the call names none.
    private func wallet(_ given: WalletPayer?) -> WalletPayer? {
        guard let given else { return payer }
        guard given.openID == nil, let payer, given.appID == nil || given.appID == payer.appID else { return given }
        return payer
    }

    private func agree<Value: Equatable>(
        _ given: Value?, _ own: Value, _ field: String
    ) throws(GatewayError) {
        guard let given, given != own else { return }
        throw .invalidRequest(field: field, reason: Self.contradiction)
    }

    private static let contradiction: LocalizedText = "is not the session's"

    private func sku(_ given: String?) throws(GatewayError) -> String {
        guard let given else {
            if let chosen = plans.chosen(in: session) { return chosen.sku.rawValue }
            let reason: LocalizedText = "one of the session's SKUs must be named"
            throw .invalidRequest(
                field: "sku", reason: reason.with("allowed", .array(plans.codes.map { .string($0.rawValue) })))
        }
        guard sale.skus.isEmpty || sale.skus.contains(where: { $0.rawValue == given }) else {
            throw .invalidRequest(field: "sku", reason: Self.contradiction)
        }
        return given
    }

    /// Takes any account or kind where the session names none, and an account of the kind that it names.
    private func provider(_ given: String?) throws(GatewayError) -> String? {
        guard let given, let own = sale.provider, given != own else { return given ?? sale.provider }
        guard kind(given) == own else { throw .invalidRequest(field: "provider", reason: Self.contradiction) }
        return given
    }

    private func accept(
        _ given: Set<ContractType>?, _ wallet: WalletPayer?
    ) throws(GatewayError) -> Set<ContractType> {
        // Without an openid WeChat's own contract cannot be made, so nobody gets it unasked.
        guard let given else { return wallet?.openID == nil ? sale.accept : sale.possible }
        guard given.isSubset(of: sale.nameable) else {
            throw .invalidRequest(field: "accept", reason: Self.contradiction)
        }
        return given
    }

    /// Takes the session's own address, or that of its page, to which the page lets its payers return.
    private func returnURL(_ given: String?) throws(GatewayError) -> String? {
        guard let given, given != sale.returnURL else { return sale.returnURL }
        guard given == "\(publicURL)/pay/s/\(session.id)" else {
            throw .invalidRequest(field: "return_url", reason: Self.contradiction)
        }
        return given
    }
}
