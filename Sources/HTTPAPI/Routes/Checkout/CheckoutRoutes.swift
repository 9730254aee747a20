import Domain
import Foundation
import Gateway
import HTTPTypes

/// Routes that find the payment options, and make an order and its payment contract (`docs/api.md` section 3).
struct CheckoutRoutes {
    let gateway: Gateway

    /// The errors with which a checkout, a partner's checkout and another attempt are refused.
    static let refusals: [ErrorID] = [
        .skuNotFound, .alreadyOwned, .conflict, .noProviderAvailable, .providerRejected, .providerUnavailable,
    ]

    var routes: [Route] {
        [
            Route(
                "listPaymentMethods", .get, "/v1/public/payment-methods", .user, sessions: [.checkout], .cashier,
                "Who could take a payment",
                note: """
                    In the order in which a checkout would choose. A session's own fields hold where others are left out.
                    """,
                query: [
                    .query("sku", .string, "The SKU to be paid.", isRequired: true),
                    .query("platform", .words(Platform.self), "Where the client runs.", isRequired: true),
                    .query(
                        "currency", .knownCurrency,
                        "Of the price; the configured `default_currency` where it is left out."),
                    .query("quantity", .integer(1...1_000), "1 where it is left out."),
                    .query("days", .integer(1...3_660), "The option of a SKU that has several."),
                    .query("provider", .string, "An account's id, or a kind."),
                    .query(
                        "accept", .string(0...1_024, pattern: #"[^,\u0000]*(?:,[^,\u0000]*){0,19}"#),
                        "Contract types, separated by commas; at most 20."),
                ], answers: .page(.paymentMethod), refuses: [.skuNotFound], handle: paymentMethods),
            Route(
                "openCheckout", .post, "/v1/public/checkout", .user, sessions: [.checkout], .cashier,
                "Makes an order and the contract to pay it",
                note: """
                    The order is durable before a provider is asked; the same `Idempotency-Key` goes on with it. A \
                    session may leave every field out, and has one open order at a time.
                    """,
                body: .json(.checkout), answers: .data(.contract),
                refuses: Self.refusals, idempotency: .storedWithContract(claims: .withObject), handle: checkout),
            Route(
                "retryCheckout", .post, "/v1/public/orders/{id}/checkout", .user, sessions: [.checkout], .cashier,
                "Another attempt to pay an open order",
                note: "The attempts before it are cancelled, or asked about, first.", body: .json(.retry),
                answers: .data(.contract),
                refuses: [.orderNotFound, .orderNotOpen] + Self.refusals,
                idempotency: .storedWithContract(claims: .first), handle: retry),
            Route(
                "readContract", .get, "/v1/public/orders/{id}/contract", .user, sessions: [.checkout], .cashier,
                "The newest contract of an order, again", answers: .data(.contract),
                refuses: [.orderNotFound, .notFound], gone: [.orderNotOpen], handle: contract),
            Route(
                "readQRImage", .get, "/v1/public/payments/{id}/qr.svg", .anyone, .cashier, "The QR code of a contract",
                answers: .other("image/svg+xml", "An image; no login is needed."), refuses: [.notFound],
                gone: [.orderNotOpen], handle: qrImage),
        ]
    }

    private func paymentMethods(_ call: Call) async throws(GatewayError) -> Answer {
        if let session = call.session {
            let fields = try SessionCheckoutFields.query(call)
            return try .json(Listing(items: try await gateway.sessionCheckout.paymentMethods(fields, session)))
        }
        guard let sku = call.query["sku"] else { throw .invalidRequest(field: "sku", reason: "is missing") }
        guard let platform = try call.choice("platform", Platform.self) else {
            throw .invalidRequest(field: "platform", reason: "is missing")
        }
        let currency = try gateway.cashier.currency(call.currency("currency"))
        let accept = try CheckoutFields.accept(call.query["accept"].map { $0.split(separator: ",").map(String.init) })
        let quantity = try call.integer("quantity") ?? 1
        let request = CheckoutRequest(
            sku: sku, quantity: quantity, days: try call.integer("days"), platform: platform, currency: currency,
            provider: call.query["provider"], accept: accept)
        return try .json(Listing(items: try await gateway.cashier.paymentMethods(request, user: call.user)))
    }

    private func checkout(_ call: Call) async throws(GatewayError) -> Answer {
        if let session = call.session {
            let fields = try call.decode(SessionCheckoutFields.self).fields(call)
            return try .json(try await gateway.sessionCheckout.open(fields, session, context: call.context))
        }
        var request = try call.decode(CheckoutFields.self).request(gateway)
        request.payerAddress = call.payerAddress
        // Terms of a subscription are in a language of the call where the body names none.
        request.termsLocale = request.locale ?? CheckoutRequest.termsLanguage(of: call.languages)
        return try .json(try await gateway.cashier.open(request, user: call.user, context: call.context))
    }

    private func retry(_ call: Call) async throws(GatewayError) -> Answer {
        if let session = call.session {
            let order = try await call.requireOrder(call.parameter("id"), gateway)
            let fields = try call.decode(SessionRetryFields.self).fields(call)
            return try .json(try await gateway.sessionCheckout.retry(order, fields, session, context: call.context))
        }
        let request = try call.decode(RetryFields.self).request(call)
        let contract = try await gateway.cashier.retry(
            call.parameter("id"), request, user: call.user, context: call.context)
        return try .json(contract)
    }

    private func contract(_ call: Call) async throws(GatewayError) -> Answer {
        let order = try await call.requireOrder(call.parameter("id"), gateway)
        return try .json(try await gateway.contracts.find(order, user: call.user))
    }

    private func qrImage(_ call: Call) async throws(GatewayError) -> Answer {
        let text = try await gateway.contracts.qrText(call.parameter("id"))
        guard let image = QRImage.svg(text) else { throw .internalError }
        return .raw(
            status: .ok, contentType: "image/svg+xml", body: Data(image.utf8),
            headers: [HTTPField(name: .cacheControl, value: "private, max-age=300")])
    }
}

/// The body of a checkout.
struct CheckoutFields: Decodable {
    let sku: String
    let quantity: Int64?
    let days: Int64?
    let platform: String
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

    /// The limit of all keys and values together, in bytes of UTF-8.
    private static let metadataBytes = 16 << 10

    /// - Throws: `invalidRequest` naming `metadata`.
    static func check(_ metadata: [String: String]) throws(GatewayError) {
        let size = metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard metadata.count <= 50, size <= metadataBytes,
            metadata.allSatisfy({ (1...64).contains($0.key.utf8.count) && $0.value.utf8.count <= 1_000 })
        else {
            throw .invalidRequest(
                field: "metadata",
                reason: "at most 50 keys of 1 to 64 bytes and values of 1,000 bytes, 16 KiB together, in UTF-8")
        }
    }

    func request(_ gateway: Gateway) throws(GatewayError) -> CheckoutRequest {
        let quantity = quantity ?? 1
        guard SKU.quantityRange.contains(quantity) else {
            throw .invalidRequest(field: "quantity", reason: "must be 1 to 1000")
        }
        let metadata = metadata ?? [:]
        try Self.check(metadata)
        var request = CheckoutRequest(
            sku: sku, quantity: quantity, days: days, platform: try Self.platform(platform),
            currency: try gateway.cashier.currency(currency.map(Self.currency)), provider: provider,
            accept: try Self.accept(accept), returnURL: return_url, locale: try locale.map(Self.locale),
            metadata: metadata)
        request.wallet = try PayerFields.wallet(payer, app: app_id)
        request.external = try gateway.externalPurchases.claim(external_purchase_token, storefront: storefront)
        return request
    }

    static func platform(_ text: String) throws(GatewayError) -> Platform {
        guard let platform = Platform(rawValue: text) else {
            throw .invalidRequest(field: "platform", reason: .words(Platform.allCases.map(\.rawValue)))
        }
        return platform
    }

    static func currency(_ text: String) throws(GatewayError) -> Currency {
        guard let currency = Currency(text) else {
            throw .invalidRequest(field: "currency", reason: "must be an ISO 4217 currency")
        }
        return currency
    }

    /// Checks the characters and the length of a language tag (RFC 5646 section 2.1).
    static func locale(_ text: String) throws(GatewayError) -> String {
        guard text.isWord(2...35, or: "-") else {
            throw .invalidRequest(field: "locale", reason: "must be a language tag")
        }
        return text.replacing("_", with: "-")
    }

    /// Returns the contract types that the client accepts; unknown ones are ignored, so that newer clients work.
    static func accept(_ types: [String]?) throws(GatewayError) -> Set<ContractType> {
        guard let types else { return ContractType.base }
        guard types.count <= 20 else { throw .invalidRequest(field: "accept", reason: "at most 20") }
        return Set(types.compactMap(ContractType.init))
    }
}

/// The body of another attempt to pay an order.
struct RetryFields: Decodable {
    let platform: String
    let currency: String?
    let provider: String?
    let accept: [String]?
    let return_url: String?
    let app_id: String?
    let payer: PayerFields?

    func request(_ call: Call) throws(GatewayError) -> RetryRequest {
        var request = RetryRequest(
            platform: try CheckoutFields.platform(platform), currency: try currency.map(CheckoutFields.currency),
            provider: provider, accept: try CheckoutFields.accept(accept), returnURL: return_url,
            payerAddress: call.payerAddress)
        request.wallet = try PayerFields.wallet(payer, app: app_id)
        return request
    }
}

/// The payer of a checkout as a wallet knows them.
struct PayerFields: Decodable {
    let wechat_openid: String?

    /// - Throws: `invalidRequest` naming `payer.wechat_openid` or `app_id`.
    static func wallet(_ payer: PayerFields?, app: String?) throws(GatewayError) -> WalletPayer? {
        guard app.map({ $0.isWord(1...64, or: "-") }) ?? true else {
            throw .invalidRequest(field: "app_id", reason: "is not an app id of the account for this contract")
        }
        let openID = payer?.wechat_openid
        guard openID.map(WalletPayer.isOpenID) ?? true else {
            throw .invalidRequest(
                field: "payer.wechat_openid", reason: "must be 1 to 128 letters, digits, hyphens and underscores")
        }
        return app == nil && openID == nil ? nil : WalletPayer(appID: app, openID: openID)
    }
}
