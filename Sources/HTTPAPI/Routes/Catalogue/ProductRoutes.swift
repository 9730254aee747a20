import Domain
import Gateway
import HTTPTypes

/// Routes of the products that users and partners can buy.
struct ProductRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listProducts", .get, "/v1/public/products", .user, sessions: [.checkout], .cashier,
                "What is sold here",
                note: "To a session its own SKUs.",
                query: [
                    .query("platform", .words(Platform.self), "Hides what nobody could sell there."),
                    .query("currency", .knownCurrency, "Only SKUs with a price in it."),
                    .query("locale", .string, "The language of names, before `Accept-Language`."),
                ], answers: .page(.product), handle: products),
            Route(
                "listPartnerProducts", .get, "/v1/partner/products", .key([.checkoutWrite]), .partner,
                "What is sold here", note: "The same list as a user's; nothing in it is `owned`.",
                query: [
                    .query("platform", .words(Platform.self), "Hides what nobody could sell there."),
                    .query("currency", .knownCurrency, "Only SKUs with a price in it."),
                    .query("locale", .string, "The language of names, before `Accept-Language`."),
                ], answers: .page(.product), handle: partnerProducts),
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
        guard let session = call.session else { return try .json(Listing(items: products.map(ProductItem.init))) }
        let own = Set(try await gateway.sessionCheckout.skus(of: session))
        return try .json(Listing(items: products.filter { own.contains($0.sku.id) }.map(ProductItem.init)))
    }
}

struct ProductItem: Encodable {
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
    let renewal: SKU.Renewal
    @Nullable private(set) var period: BillingPeriod?
    let trial_days: Int64

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
        renewal = sku.renewal
        period = sku.period
        trial_days = product.trialDays
    }
}

extension Shape {
    /// A product with its texts in one language; a pattern of Apple product ids is resolved to those of the options.
    static let product = named(
        "Product",
        .object(
            [
                "sku": .string, "name": .string, "description": .string, "kind": .words(SKU.Kind.self), "tier": .string,
                "duration_days": .integer.orNull, "prices": .list(.money),
                "options": .list(
                    .object(["days": .integer, "prices": .list(.money), "apple_product_id": .string.orNull])),
                "apple_product_ids": .list(.string), "attributes": .map(.any), "owned": .boolean,
                "renewal": .words(SKU.Renewal.self),
                "period": .billingPeriod.orNull,
                "trial_days": .integer.noted("Of the trial that this user would have; 0 for none."),
            ]))
}
