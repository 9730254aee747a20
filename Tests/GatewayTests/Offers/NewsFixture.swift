import Foundation
import Store
import TestSupport

@testable import Domain
@testable import Gateway

/// A desk that sells news by subscriptions of one group, some of them with offers, with the acts of its readers.
struct NewsFixture: Sendable {
    static let month = "com.example.news.month"
    static let plus = "com.example.news.plus"

    static let skus = """
        [{"id":"news","name":"News","kind":"subscription","tier":"News","rank":12,"duration_days":30,"stack_group":"news",
          "renewal":"one_period","prices":[{"currency":"CNY","value":499}],
          "apple_product_ids":["\(month)","com.example.news.year"],
          "offers":[{"id":"spring","product_id":"\(month)"},{"id":"welcome","product_id":"\(month)","audience":"new"},
            {"id":"back","product_id":"\(month)","audience":"lapsed"},
            {"id":"thanks","product_id":"\(month)","audience":"running"},
            {"id":"single","product_id":"\(month)","once":true},
            {"id":"single","product_id":"com.example.news.year","once":true}]},
         {"id":"news_plus","name":"News plus","kind":"subscription","tier":"News","rank":13,"duration_days":30,
          "stack_group":"news","prices":[{"currency":"CNY","value":899}],"apple_product_ids":["\(plus)"]},
         {"id":"news_here","name":"News here","kind":"subscription","tier":"News","rank":12,"stack_group":"news",
          "renewal":"managed","period":{"unit":"month","count":1},"prices":[{"currency":"CNY","value":3900}]}]
        """

    let apple: AppStoreGatewayFixture

    func sign(
        _ id: String = "spring", _ product: String = month, user: String = "alice", transaction: String? = nil,
        format: OfferFormat = .v2, bundle: String? = nil
    ) async throws -> SignedOffer {
        apple.desk.clock.tick()
        return try await apple.gateway.signedOffers.sign(
            OfferRequest(
                productID: product, offerID: id, transactionID: transaction, bundleID: bundle, format: format),
            user: GatewayFixture.user(user), context: .test)
    }

    /// Asks for an offer, and returns the error of the refusal; nil where it is signed.
    func refusal(
        _ id: String = "spring", _ product: String = month, user: String = "alice", transaction: String? = nil,
        bundle: String? = nil
    ) async throws -> GatewayError? {
        do {
            _ = try await sign(id, product, user: user, transaction: transaction, bundle: bundle)
            return nil
        } catch let error as GatewayError {
            return error
        }
    }

    /// Asks for an introductory offer.
    func mayHaveIntroductory(_ transaction: String, user: String = "alice") async throws -> Bool {
        try await apple.gateway.signedOffers.signIntroductory(
            IntroductoryRequest(productID: Self.month, transactionID: transaction, bundleID: nil),
            user: GatewayFixture.user(user), context: .test
        ).allow
    }

    /// Attaches a subscription of 30 days that began some days ago.
    @discardableResult
    func subscribe(
        _ product: String = month, days: Int64 = 1, user: String = "alice", _ edit: (inout AppleSale) -> Void = { _ in }
    ) async throws -> AppleSale {
        let sale = apple.sale(product, AppleSale.subscription) {
            $0.purchased -= days * 86_400_000
            $0.expires = $0.purchased + 30 * 86_400_000
            $0.more["appTransactionId"] = .string("704\($0.id)")
            edit(&$0)
        }
        try await apple.attach(sale, user: user)
        return sale
    }

    func userID(_ user: String = "alice") async throws -> String {
        try await apple.store.read { db in try db.users.findID(GatewayFixture.user(user))?.rawValue ?? "" }
    }
}

/// Runs a test with news for sale.
///
/// - Parameter hasKey: false for an App Store account without a key.
func withNews(
    on engine: TestEngine, bundles: [String] = ["com.example.app"], hasKey: Bool = true,
    _ body: (NewsFixture) async throws -> Void
) async throws {
    var setup = AppStoreGatewayFixtureSetup()
    setup.appStore = hasKey ? FakeAppStore() : nil
    setup.bundles = bundles
    setup.desk.isDevelopment = true
    try await withAppleDesk(on: engine, setup) { apple in
        let skus = try JSONDecoder().decode([SKU].self, from: Data(NewsFixture.skus.utf8))
        _ = try await apple.gateway.catalogue.merge(skus, context: .test)
        try await body(NewsFixture(apple: apple))
    }
}
