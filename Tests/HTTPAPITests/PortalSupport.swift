import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

/// A user with a subscription that Paydesk renews, at the counter of a development server.
struct Subscriber: Sendable {
    let counter: Counter
    let user: String
    let visitor: Visitor
    /// The subscription's id.
    let id: String

    var place: String { "/subscriptions/\(id)" }
    var card: String { place + "/card" }

    func found() async throws -> JSONValue {
        try await counter.get("/v1/public/subscriptions/\(id)", user).data
    }

    func advance(_ seconds: Int64) async throws {
        counter.desk.clock.tick()
        let moved = try await counter.post("/v1/admin/clock", counter.adminKey, #"{"advance_seconds":\#(seconds)}"#)
        try #require(moved.status == 200, "\(moved)")
    }

    /// Decides the outcome of later charges of the sandbox's mandate.
    func play(renewals: String) async throws {
        try await counter.desk.gateway.payPages.playOn(
            kind: "sandbox", subscription: id, form: ["renewals": renewals])
    }

    /// Does on the sandbox's page what the portal's page leads to.
    func play(_ outcome: String = "succeed") async throws {
        let page = try await visitor.get(card)
        let subject = try page.main("payment") ?? page.main("setup") ?? ""
        _ = try await counter.desk.gateway.payPages.act(
            kind: "sandbox", payment: subject, form: ["outcome": outcome, "terms": "accepted"])
    }

    /// The state of the page of the payment method.
    func cardState(_ more: String = "") async throws -> String {
        let text = try await visitor.get(card + more).text
        let tag = try #require(text.firstMatch(of: /<section[^>]*data-state="([a-z_]+)"/), "\(text.prefix(2_000))")
        return String(tag.output.1)
    }
}

extension Counter {
    /// Adds a managed SKU of the group `club`.
    func addClub(_ id: String = "club", price: Int64 = 3_990, period: String = "month") async throws {
        let body = """
            {"id":"\(id)","name":"Club \(id)","kind":"subscription","tier":"Club","rank":40,"stack_group":"club",
             "renewal":"managed","period":{"unit":"\(period)","count":1},
             "prices":[{"currency":"CNY","value":\(price)}]}
            """
        let made = try await post("/v1/admin/skus", adminKey, body)
        try #require(made.status == 200, "\(made)")
    }

    /// Subscribes a new user to `club`, and opens the portal for them.
    func subscriber(_ name: String = "alice") async throws -> Subscriber {
        let user = try await token(name)
        let contract = try await buy(try await session(user, "club", more: #","provider":"box-url""#))
        _ = try await desk.gateway.payPages.act(
            kind: "sandbox", payment: contract.text("payment_id"), form: ["outcome": "succeed", "terms": "accepted"])
        let refreshed = try await post("/v1/admin/orders/\(contract.text("order_id"))/refresh", adminKey, "{}")
        try #require(refreshed.status == 200, "\(refreshed)")
        let found = try await get("/v1/public/subscriptions", user).data["items"].elements
        let id = try #require(found.first).text("id")
        return Subscriber(
            counter: self, user: user, visitor: try await portal(of: user), id: id)
    }

    /// Opens the portal of a user.
    func portal(of user: String, more: String = "") async throws -> Visitor {
        Visitor(counter: self, session: try await session(user, purpose: "portal", more: more))
    }
}

/// Runs a body at a counter of a development server that sells a club, whose clock can be moved.
func withClub(on engine: TestEngine, _ body: @escaping @Sendable (Counter) async throws -> Void) async throws {
    var setup = CounterSetup.cny
    setup.desk.isDevelopment = true
    // Only the portal's own page is an address to return to.
    setup.desk.returnURLs = ReturnURLRules([])
    try await withCounter(on: engine, setup) { counter in
        try await counter.addClub()
        try await body(counter)
    }
}
