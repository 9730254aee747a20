import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Pages
import ProviderKit

/// Routes of the page at `/`, which says what this is and where to go on, and of the files that browsers and robots ask
/// for at the root.
struct FirstPageRoutes {
    let pages: CashierPages
    /// True where the App Store in a box is on.
    let hasBox: Bool

    private static let formLimit = 4 << 10

    private var isDevelopment: Bool { pages.gateway.settings.isDevelopment }

    /// The page itself, which the OpenAPI document has.
    var described: [Route] {
        let page = Route(
            "readFirstPage", .get, "/", .anyone, .operations, "A small page: what this is, and where to go on",
            answers: .other("text/html", "The page.")
        ) { (call) async throws(GatewayError) in
            try pages.charge(call)
            return try await pages.home(call, hasBox: hasBox)
        }
        return [page].map(asPage)
    }

    var routes: [Route] {
        let files = [
            file("readRobots", "/robots.txt", "text/plain; charset=utf-8", Data("User-agent: *\nDisallow: /\n".utf8)),
            file("readIcon", "/favicon.ico", "image/vnd.microsoft.icon", pages.pages.icon),
        ]
        guard isDevelopment else { return files }
        let purchase = Route(
            "makeTestPurchase", .post, "/", .anyone, nil, "A test purchase as the user demo",
            body: .other("The page's form."), bodyLimit: Self.formLimit, answers: .other("text/html", "The page."),
            idempotency: .ignored, handle: buy)
        return files + [asPage(purchase)]
    }

    private func asPage(_ route: Route) -> Route {
        var route = route
        route.refusalPage = { error, languages, requestID in
            pages.refusal(error, languages: languages, requestID: requestID)
        }
        return route
    }

    private func file(_ id: String, _ path: String, _ type: String, _ content: Data) -> Route {
        Route(
            id, .get, path, .anyone, nil, "A file of the pages", answers: .other(type, "The file."),
            isAlwaysServed: true
        ) { (_) async throws(GatewayError) in
            .raw(
                status: .ok, contentType: type, body: content,
                headers: [HTTPField(name: .cacheControl, value: "public, max-age=86400")])
        }
    }

    /// Makes a session for the user `demo` and leads to its cashier.
    private func buy(_ call: Call) async throws(GatewayError) -> Answer {
        try pages.charge(call)
        let form = Dictionary(FormDecoder.decode(String(decoding: call.body, as: UTF8.self))) { first, _ in first }
        let sku = form["sku"] ?? ""
        guard pages.door.isOwnOrigin(call.request) else {
            let notice = CashierPages.Notice(alert: .forbidden, status: .forbidden)
            return try await pages.home(call, hasBox: hasBox, notice: notice, chosen: sku)
        }
        do throws(GatewayError) {
            return CashierPages.redirect(try await address(of: sku, call))
        } catch {
            guard let alert = PageAlert(error), [.invalid, .conflict].contains(alert) else { throw error }
            return try await pages.home(
                call, hasBox: hasBox, notice: CashierPages.Notice(alert: alert), chosen: sku)
        }
    }

    private func address(of sku: String, _ call: Call) async throws(GatewayError) -> String {
        let gateway = pages.gateway
        guard let offer = try await pages.testOffers([]).first(where: { $0.sku == sku }) else {
            throw .skuNotFound(sku)
        }
        let sale = SessionSale(
            skus: [offer.code], currency: offer.price.currency,
            accept: SessionSale.usualAccept)
        let request = SessionRequest(purpose: .checkout, sale: sale, locale: nil, lifetime: nil)
        guard let demo = ExternalUserID("demo") else { throw .internalError }
        let context = CallContext(actor: .system("test purchase"), requestID: call.requestID)
        return try await gateway.sessions.make(request, for: demo, by: .user, context: context).url
    }
}

/// A product that a test purchase can take.
struct TestOffer: Sendable {
    let view: ProductView
    let code: SKUCode
    /// The lowest price in the default currency, else in the SKU's first one.
    let price: Money

    var sku: String { view.sku.id }

    /// - Returns: nil for a SKU without a price.
    init?(_ view: ProductView, _ preferred: Currency?) {
        let prices = view.sku.offeredPrices
        let own = prices.filter { $0.currency == preferred }
        let currency = own.first?.currency ?? prices.first?.currency
        let candidates = prices.filter { $0.currency == currency }
        guard let code = view.sku.code, let price = candidates.min(by: { $0.value < $1.value }) else { return nil }
        self.view = view
        self.code = code
        self.price = price
    }
}

// The page at `/`.
extension CashierPages {
    /// Lists what the web can buy of this server, for a test purchase.
    func testOffers(_ languages: [String]) async throws(GatewayError) -> [TestOffer] {
        try await gateway.catalogue.products(user: nil, platform: .web, currency: nil, languages: languages)
            .compactMap { TestOffer($0, gateway.settings.defaultCurrency) }
    }

    /// Makes the page at `/`; only a development server shows its address and the test purchase.
    func home(
        _ call: Call, hasBox: Bool, notice: Notice? = nil, chosen: String? = nil
    ) async throws(GatewayError) -> Answer {
        let settings = gateway.settings
        let locale = locale(call.query["lang"], call.languages)
        var frame = HomeFrame(locale: locale)
        if settings.isDevelopment {
            let offers = try await testOffers([locale.rawValue])
            var products: [(product: ProductFacts, price: Money)] = []
            for offer in offers {
                products.append((product: try Self.facts(ProductItem(offer.view)), price: offer.price))
            }
            frame.development = HomeFrame.Development(
                address: settings.publicURL, products: products, isNamed: !settings.pages.name.isEmpty,
                isConnected: gateway.registry.accounts.contains { !$0.isTest && $0.manifest.kind != "apple_iap" })
        }
        frame.hasBox = hasBox
        frame.alert = notice?.alert
        frame.chosen = chosen
        return document(pages.render(frame), notice?.status ?? .ok, .other, gzip: call.takesGzip)
    }
}
