import Domain
import Foundation
import Gateway
import HTTPTypes

/// The cashier (`api.md` section 3).
struct CheckoutRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/public/products", .user, handle: products),
            Endpoint(.get, "/v1/partner/products", .key([.checkoutWrite]), handle: partnerProducts),
            Endpoint(.get, "/v1/public/payment-methods", .user, handle: paymentMethods),
            Endpoint(.post, "/v1/public/checkout", .user, handle: checkout),
            Endpoint(.post, "/v1/public/orders/{id}/checkout", .user, handle: retry),
            Endpoint(.get, "/v1/public/orders/{id}/contract", .user, handle: contract),
            Endpoint(.get, "/v1/public/payments/{id}/qr.svg", .anyone, handle: qrImage),
        ]
    }

    private func products(_ call: Call) async throws(GatewayError) -> Answer {
        try await products(call, of: call.user)
    }

    private func partnerProducts(_ call: Call) async throws(GatewayError) -> Answer {
        try await products(call, of: nil)
    }

    private func products(_ call: Call, of user: ExternalUserID?) async throws(GatewayError) -> Answer {
        let languages = (call.query["locale"].map { [$0] } ?? []) + call.languages
        let products = try await gateway.catalogue.products(
            user: user, platform: call.choice("platform"), currency: call.currency("currency"),
            languages: languages)
        return try .json(Listing(items: products.map(ProductItem.init)))
    }

    private func paymentMethods(_ call: Call) async throws(GatewayError) -> Answer {
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
        var request = try call.decode(CheckoutFields.self).request(gateway)
        request.payerAddress = call.payerAddress
        return try .json(try await gateway.cashier.open(request, user: call.user, context: call.context))
    }

    private func retry(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(RetryFields.self)
        let request = RetryRequest(
            platform: try CheckoutFields.platform(fields.platform),
            currency: try fields.currency.map(CheckoutFields.currency), provider: fields.provider,
            accept: try CheckoutFields.accept(fields.accept), returnURL: fields.return_url,
            payerAddress: call.payerAddress)
        let contract = try await gateway.cashier.retry(
            call.parameter("id"), request, user: call.user, context: call.context)
        return try .json(contract)
    }

    private func contract(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.contracts.find(call.parameter("id"), user: call.user))
    }

    private func qrImage(_ call: Call) async throws(GatewayError) -> Answer {
        let text = try await gateway.contracts.qrText(call.parameter("id"))
        guard let image = QRImage.svg(text) else { throw .internalError }
        return .raw(
            status: .ok, contentType: "image/svg+xml", body: Data(image.utf8),
            headers: [HTTPField(name: .cacheControl, value: "private, max-age=300")])
    }
}

/// A list that has no further pages.
struct Listing<Item: Encodable & Sendable>: Encodable {
    let items: [Item]
    @Nullable private(set) var next_cursor: String?

    init(items: [Item]) {
        self.items = items
        next_cursor = nil
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

    /// Bytes of UTF-8, of all keys and values together.
    private static let metadataBytes = 16 << 10

    private static func check(_ metadata: [String: String]) throws(GatewayError) {
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
        return CheckoutRequest(
            sku: sku, quantity: quantity, days: days, platform: try Self.platform(platform),
            currency: try gateway.cashier.currency(currency.map(Self.currency)), provider: provider,
            accept: try Self.accept(accept), returnURL: return_url, locale: try locale.map(Self.locale),
            metadata: metadata)
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

    /// A language tag (RFC 5646 section 2.1), by its letters alone.
    static func locale(_ text: String) throws(GatewayError) -> String {
        guard text.isWord(2...35, or: "-") else {
            throw .invalidRequest(field: "locale", reason: "must be a language tag")
        }
        return text.replacing("_", with: "-")
    }

    /// The contract types that the client takes; words that are not known are left out, so that new clients work.
    static func accept(_ types: [String]?) throws(GatewayError) -> Set<ContractType> {
        guard let types else { return ContractType.base }
        guard types.count <= 20 else { throw .invalidRequest(field: "accept", reason: "at most 20") }
        return Set(types.compactMap(ContractType.init))
    }
}

private struct RetryFields: Decodable {
    let platform: String
    let currency: String?
    let provider: String?
    let accept: [String]?
    let return_url: String?
}

/// One item of the product list.
private struct ProductItem: Encodable {
    struct Option: Encodable {
        let days: Int64
        let prices: [Money]
        @Nullable private(set) var apple_product_id: String?
    }

    let sku: String
    let name: String
    let description: String
    let kind: SKU.Kind
    let tier: String
    @Nullable private(set) var duration_days: Int64?
    let prices: [Money]
    let options: [Option]
    let apple_product_ids: [String]
    let attributes: [String: JSONValue]
    let owned: Bool

    init(_ product: ProductView) {
        let sku = product.sku
        self.sku = sku.id
        name = product.localization.name
        description = product.localization.description ?? ""
        kind = sku.kind
        tier = sku.tier
        duration_days = sku.durationDays
        prices = sku.prices
        options = sku.options.map {
            Option(days: $0.days, prices: $0.prices, apple_product_id: sku.pattern?.productID(days: $0.days))
        }
        apple_product_ids = sku.appleOffer(days: nil)
        attributes = sku.attributes
        owned = product.owned
    }
}

extension Call {
    /// A query parameter that must be an integer.
    func integer(_ name: String) throws(GatewayError) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let number = Int64(text) else { throw .invalidRequest(field: name, reason: "must be an integer") }
        return number
    }
}
