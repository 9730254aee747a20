import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Signed offers over HTTP")
struct OfferRouteTests {
    private static let offers = "/v1/public/iap/apple/offers"
    private static let introductory = "/v1/public/iap/apple/offers/introductory"
    private static let sku = """
        {"id":"news","name":"News","kind":"subscription","tier":"News","rank":12,"duration_days":30,"stack_group":"news",
         "prices":[{"currency":"CNY","value":499}],"apple_product_ids":["com.example.news.month"],
         "offers":[{"id":"spring","product_id":"com.example.news.month"},
                   {"id":"thanks","product_id":"com.example.news.month","audience":"running","once":true}]}
        """

    private static func withNews(
        on engine: TestEngine, _ body: @Sendable (Counter, AppStoreGatewayFixture) async throws -> Void
    ) async throws {
        try await withPurchaseCounter(on: engine, AppStoreGatewayFixtureSetup { $0.appStore = FakeAppStore() }) {
            counter, apple in
            let made = try await counter.post("/v1/admin/skus", counter.adminKey, Self.sku)
            try #require(made.status == 200, "\(made)")
            try await body(counter, apple)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `both forms and the introductory offer have the fields of the contract`(_ engine: TestEngine) async throws {
        try await Self.withNews(on: engine) { counter, apple in
            let token = try await counter.token()
            let body = #"{"product_id":"com.example.news.month","offer_id":"spring""#
            let new = try await counter.post(Self.offers, token, body + "}").data
            #expect(new.names == ["format", "jws"] && new.text("format") == "v2")
            let old = try await counter.post(Self.offers, token, body + #","format":"v1"}"#).data
            #expect(
                old.names == ["format", "key_id", "nonce", "timestamp", "signature", "application_username"]
                    && old.text("format") == "v1")
            let status = try await counter.get(PurchasePath.status, token).data
            #expect(old.text("application_username") == status.text("app_account_token"))
            let sale = apple.sale()
            _ = try await counter.post(PurchasePath.attach, token, sale.body())
            let introductory = try await counter.post(
                Self.introductory, token,
                #"{"product_id":"com.example.news.month","transaction_id":"\#(sale.id)"}"#
            ).data
            #expect(introductory.names == ["jws", "allow"] && introductory["allow"] == .bool(true))
        }
    }

    static let refusals: [(path: String, body: String, status: Int, error: String, field: String?)] = [
        (offers, #"{"offer_id":"spring"}"#, 400, "invalid_request", "product_id"),
        (offers, #"{"product_id":"com.example.news.month"}"#, 400, "invalid_request", "offer_id"),
        (
            offers, #"{"product_id":"com.example.news.month","offer_id":"spring","format":"v3"}"#, 400,
            "invalid_request", "format"
        ),
        (
            offers, #"{"product_id":"com.example.news.month","offer_id":"spring","transaction_id":7}"#, 400,
            "invalid_request", "transaction_id"
        ),
        (
            offers, #"{"product_id":"com.example.news.month","offer_id":"spring","bundle_id":"x"}"#, 400,
            "invalid_request", "bundle_id"
        ),
        (offers, #"{"product_id":"","offer_id":"spring"}"#, 400, "invalid_request", "product_id"),
        (offers, #"{"product_id":"com.example.none","offer_id":"spring"}"#, 404, "unknown_product", nil),
        (offers, #"{"product_id":"com.example.news.month","offer_id":"other"}"#, 404, "not_found", nil),
        (
            offers, #"{"product_id":"com.example.news.month","offer_id":"spring","transaction_id":"1"}"#, 404,
            "not_found", nil
        ),
        (offers, #"{"product_id":"com.example.news.month","offer_id":"thanks"}"#, 409, "conflict", nil),
        (introductory, #"{"product_id":"com.example.news.month"}"#, 400, "invalid_request", "transaction_id"),
        (introductory, #"{"product_id":"com.example.none","transaction_id":"1"}"#, 404, "unknown_product", nil),
        (
            introductory, #"{"product_id":"com.example.gems","transaction_id":"1"}"#, 400, "invalid_request",
            "product_id"
        ),
        (introductory, #"{"product_id":"com.example.news.month","transaction_id":"1"}"#, 404, "not_found", nil),
    ]

    @Test(arguments: TestEngine.allCases)
    func `every refusal has its error and changes nothing`(_ engine: TestEngine) async throws {
        try await Self.withNews(on: engine) { counter, apple in
            let token = try await counter.token()
            for refusal in Self.refusals {
                let reply = try await counter.post(refusal.path, token, refusal.body)
                #expect(
                    reply.status == refusal.status && reply.error == refusal.error && reply.field == refusal.field,
                    "\(refusal.body): \(reply)")
                if refusal.status == 409 {
                    #expect(try reply.json["details"] == .object(["reason": .string("not_eligible")]))
                }
            }
            #expect(try await apple.desk.count("audit WHERE action LIKE 'offer.%'") == 0)
            #expect(try await apple.desk.count("users") == 0)
            #expect(try await apple.desk.count("offer_signatures") == 0)
            for path in [Self.offers, Self.introductory] {
                #expect(try await counter.post(path, nil).status == 401)
            }
        }
    }

    @Test func `a SKU shows its offers with their defaults, and refuses bad ones`() async throws {
        try await Self.withNews(on: .sqlite) { counter, _ in
            let path = "/v1/admin/skus/news"
            let shown = try await counter.get(path, counter.adminKey).data["offers"]
            #expect(
                shown[0]
                    == .object([
                        "id": .string("spring"), "product_id": .string("com.example.news.month"),
                        "audience": .string("any"), "once": .bool(false),
                    ]))
            for bad in [
                #"{"id":"x","product_id":"com.example.none"}"#, #"{"id":"","product_id":"com.example.news.month"}"#,
                #"{"id":"x","product_id":"com.example.news.month","audience":"friends"}"#,
            ] {
                let reply = try await counter.send(
                    .patch, path, counter.adminKey, body: #"{"offers":[\#(bad)]}"#)
                #expect(reply.status == 400 && reply.error == "invalid_request" && reply.field == "offers", "\(reply)")
            }
            let emptied = try await counter.send(.patch, path, counter.adminKey, body: #"{"offers":null}"#)
            #expect(try emptied.data["offers"] == .array([]))
        }
    }
}
