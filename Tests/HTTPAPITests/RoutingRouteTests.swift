import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@Suite("Several accounts over HTTP")
struct RoutingRouteTests {
    @Test(arguments: TestEngine.allCases)
    func `health decides with priorities, limits, platforms and SKUs, and admins see it`(
        _ engine: TestEngine
    ) async throws {
        try await withCounter(on: engine) { counter in
            let (token, admin) = (try await counter.token(), counter.adminKey)
            func methods(_ sku: String = "vip_month", _ more: String = "") async throws -> [String] {
                let path = "/v1/public/payment-methods?sku=\(sku)&platform=web&currency=CNY\(more)"
                return try await counter.get(path, token).data["items"].elements.map { $0.text("account") }
            }
            func health() async throws -> [String: String] {
                let items = try await counter.get("/v1/admin/accounts", admin).data["items"].elements
                return Dictionary(uniqueKeysWithValues: items.map { ($0.text("id"), $0.text("health")) })
            }
            func patch(_ account: String, _ body: String) async throws {
                let reply = try await counter.send(.patch, "/v1/admin/accounts/\(account)", admin, body: body)
                #expect(reply.status == 200, "\(reply)")
            }
            #expect(try await methods() == ["box-url", "box-qr", "box-stripe", "scripted"])
            #expect(try await Set(health().values) == ["closed"])
            counter.desk.line.set(.open, .unavailable, at: "box-url")
            for user in 0..<5 {
                let contract = try await counter.checkout(try await counter.token("user-\(user)"))
                #expect(contract.text("provider") == "box-qr")
            }
            let doubted = try await health()
            #expect(doubted["box-url"] == "open" && doubted["box-qr"] == "closed")
            #expect(try await methods() == ["box-qr", "box-stripe", "scripted"])
            #expect(try await methods("vip_month", "&provider=box-url") == ["box-url"])
            #expect(try await methods("vip_month", "&accept=qr") == ["box-qr"])
            try await patch("box-qr", #"{"routing":{"max":2000}}"#)
            try await patch("box-stripe", #"{"routing":{"skus":["coins"],"priority":60}}"#)
            #expect(try await methods() == ["scripted"])
            #expect(try await methods("coins") == ["box-stripe", "box-qr", "scripted"])
            #expect(try await counter.checkout(token).text("provider") == "scripted")
            #expect(try await counter.checkout(token, sku: "coins").text("provider") == "box-stripe")
            try await patch("scripted", #"{"enabled":false}"#)
            // Nobody else is able: the account that is doubted is tried all the same.
            #expect(try await methods() == ["box-url"])
            let reply = try await counter.post("/v1/public/checkout", token, Counter.ask())
            #expect(reply.status == 502 && reply.error == "provider_unavailable")
            counter.desk.line.set(.open, nil, at: "box-url")
            #expect(try await counter.checkout(token).text("provider") == "box-url")
            #expect(try await health()["box-url"] == "closed")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `one request with one key has one contract, whichever account makes it`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let (token, key) = (try await counter.token(), ["Idempotency-Key": "buy-1"])
            counter.desk.line.set(.open, .unavailable)
            counter.desk.line.set(.open, .lostReply, at: "box-stripe")
            let first = try await counter.post("/v1/public/checkout", token, Counter.ask(), headers: key)
            #expect(first.status == 502)
            counter.desk.line.set(.open, nil)
            counter.desk.line.set(.open, nil, at: "box-stripe")
            let second = try await counter.post("/v1/public/checkout", token, Counter.ask(), headers: key)
            #expect(second.status == 200)
            #expect(try second.data.text("provider") == "box-stripe")
            let third = try await counter.post("/v1/public/checkout", token, Counter.ask(), headers: key)
            #expect(try third.data == second.data)
            #expect(try await counter.desk.count("orders") == 1)
            #expect(try await counter.desk.count("payments") == 3)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a sync names the apps that the store refuses`(_ engine: TestEngine) async throws {
        let store = FakeAppStore()
        let setup = AppStoreGatewayFixtureSetup {
            $0.appStore = store
            $0.bundles = ["com.example.new", "com.example.app"]
        }
        try await withPurchaseCounter(on: engine, setup) { counter, _ in
            func sync() async throws -> JSONValue {
                let reply = try await counter.post("/v1/admin/accounts/apple-iap/sync", counter.adminKey)
                #expect(reply.status == 200, "\(reply)")
                return try reply.data
            }
            #expect(try await sync() == .object(["checked": .integer(0), "changed": .integer(0)]))
            store.refusedApps = ["com.example.new"]
            let refused = try await sync()["refused"].elements
            #expect(refused.count == 2 && refused.allSatisfy { "\($0)".contains("com.example.new (") }, "\(refused)")
        }
    }
}
