import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Sessions that sell managed subscriptions")
struct ManagedSessionTests {
    /// Adds a managed SKU of the group `club`.
    private static func add(_ id: String, trialDays: Int64 = 0, to counter: Counter) async throws {
        let body = """
            {"id":"\(id)","name":"Club","kind":"subscription","tier":"Club","rank":40,"stack_group":"club",
             "renewal":"managed","period":{"unit":"month","count":1},"trial_days":\(trialDays),
             "prices":[{"currency":"CNY","value":3990}]}
            """
        let made = try await counter.post("/v1/admin/skus", counter.adminKey, body)
        try #require(made.status == 200, "\(made)")
    }

    /// Agrees and succeeds on the sandbox's page of a contract.
    private static func play(_ contract: JSONValue, at counter: Counter) async throws {
        let subject = contract.text(contract["setup"] == .bool(true) ? "setup_id" : "payment_id")
        _ = try await counter.desk.gateway.payPages.act(
            kind: "sandbox", payment: subject, form: ["outcome": "succeed", "terms": "accepted"])
    }

    /// Pays a contract, and has the order's provider asked.
    private static func pay(_ contract: JSONValue, at counter: Counter) async throws {
        try await play(contract, at: counter)
        let path = "/v1/admin/orders/\(contract.text("order_id"))/refresh"
        let refreshed = try await counter.post(path, counter.adminKey, "{}")
        try #require(refreshed.status == 200, "\(refreshed)")
    }

    @Test(arguments: TestEngine.allCases)
    func `its sentence is that of the contract, and a running one is shown as owned`(
        _ engine: TestEngine
    ) async throws {
        try await withCounter(on: engine, .cny) { counter in
            try await Self.add("club", to: counter)
            let user = try await counter.token()
            let made = try await counter.session(user, "club")
            let shown = try await counter.shown(made)
            let sentence = shown["terms"].text("club")
            #expect(sentence.contains("every month") && shown["manage"] == .null && shown.text("state") == "methods")
            let contract = try await counter.buy(made)
            #expect(contract.text("terms") == sentence && contract["recurring"] == .bool(true))
            try await Self.pay(contract, at: counter)
            #expect(try await counter.shown(made).text("state") == "paid")
            let owned = try await counter.shown(try await counter.session(user, "club"))
            #expect(owned.text("state") == "owned" && owned.text("manage") == "paydesk", "\(owned)")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a trial's order has one set-up at a time, and the payer may change the method`(
        _ engine: TestEngine
    ) async throws {
        try await withCounter(on: engine, .cny) { counter in
            try await Self.add("club", trialDays: 7, to: counter)
            let made = try await counter.session(try await counter.token(), "club")
            #expect(try await counter.shown(made)["terms"].text("club").hasPrefix("Free for 7 days."))
            let first = try await counter.buy(made, #"{"provider":"box-url"}"#)
            #expect(first["setup"] == .bool(true) && first["amount"].int("value") == 0)
            #expect(try await counter.buy(made) == first)
            let waiting = try await counter.shown(made)
            #expect(waiting.text("state") == "redirect" && waiting["order"].text("next_action") == "pay")
            let other = try await counter.buy(made, #"{"provider":"box-qr"}"#)
            #expect(other.text("order_id") == first.text("order_id") && other.text("type") == "qr")
            #expect(other.text("setup_id") != first.text("setup_id"))
            let image = other.text("qr_image_url").replacing(GatewayFixture.publicURL, with: "")
            #expect(try await counter.get(image, nil).status == 200)
            // The first one's page was closed with it.
            try await Self.play(first, at: counter)
            #expect(try await counter.shown(made).text("state") == "qr")
            try await Self.pay(other, at: counter)
            let paid = try await counter.shown(made)
            #expect(paid.text("state") == "paid" && paid["order"]["payments"] == .array([]))
            #expect(try await counter.desk.count("payments") == 0)
            #expect(try await counter.desk.count("mandates WHERE state = 'active'") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a trial that was given up does not begin`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            try await Self.add("club", trialDays: 7, to: counter)
            let user = try await counter.token()
            let made = try await counter.session(user, "club")
            let contract = try await counter.buy(made)
            let order = "/v1/public/orders/" + contract.text("order_id")
            #expect(try await counter.post(order + "/cancel", user, "{}").status == 200)
            try await Self.pay(contract, at: counter)
            #expect(try await counter.get(order, user).data.text("status") == "closed")
            #expect(try await counter.shown(made)["state"] == .string("closed"))
            #expect(try await counter.desk.count("mandates WHERE state = 'active'") == 0)
            #expect(try await counter.desk.count("managed_subscriptions WHERE state = 'running'") == 0)
        }
    }
}
