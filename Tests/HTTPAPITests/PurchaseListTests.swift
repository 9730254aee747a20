import Domain
import Gateway
import TestSupport
import Testing

@Suite("Purchases in lists")
struct PurchaseListTests {
    private func walk(_ counter: Counter, _ path: String, _ bearer: String) async throws -> [JSONValue] {
        var items: [JSONValue] = []
        var cursor = ""
        repeat {
            let page = try await counter.get(path + cursor, bearer).data
            items += page["items"].elements
            cursor = page["next_cursor"] == .null ? "" : "&cursor=\(page.text("next_cursor"))"
        } while !cursor.isEmpty
        return items
    }

    @Test(arguments: TestEngine.allCases)
    func `a subscription that no SKU knows does not end the list`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            for original in ["first", "second"] { try await apple.attach(apple.period(original, from: 0)) }
            let strange = apple.period("third", from: 0, "com.example.unknown")
            #expect(try await apple.refusal(strange) == .unknownProduct("com.example.unknown"))
            _ = try await apple.notify(
                AppleNotice(
                    "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", strange, AppleRenewal(strange), at: apple.now))
            #expect(try await apple.desk.count("subscriptions") == 3)
            let alice = try await counter.token()
            for limit in [1, 2, 3] {
                for (path, bearer) in [
                    ("/v1/public/subscriptions", alice),
                    ("/v1/partner/users/alice/subscriptions", try await counter.key("entitlements:read").key),
                ] {
                    let found = try await walk(counter, "\(path)?limit=\(limit)", bearer)
                    #expect(found.count == 2 && Set(found.map { $0.text("id") }).count == 2, "\(path) \(limit)")
                }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that a purchase made has its provider, and is found by it and by the transaction`(
        _ engine: TestEngine
    ) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let sale = apple.sale { $0.original = "2000000000000777" }
            let attached = try await apple.attach(sale)
            let asked = try await apple.ask(user: "bob")
            try await apple.attach(apple.sale(), user: "bob")
            try await apple.desk.buy(user: "carol")
            func found(_ query: String) async throws -> [String] {
                try await counter.get("/v1/admin/orders?\(query)", counter.adminKey).data["items"].elements
                    .map { $0.text("id") }
            }
            let order = try await counter.get("/v1/admin/orders/\(attached.order_id)", counter.adminKey).data
            #expect(order.text("provider") == "apple-iap" && order["payments"].elements.isEmpty)
            for query in ["reference=\(sale.id)", "reference=2000000000000777", "provider=apple-iap&user_id=alice"] {
                #expect(try await found(query) == [attached.order_id], "\(query)")
            }
            #expect(
                try await found("provider=apple-iap").sorted() == [attached.order_id, asked.order.rawValue].sorted())
            #expect(try await found("reference=\(sale.id)&provider=box-url") == [])
            let own = try await counter.get("/v1/public/orders", try await counter.token()).data["items"].elements
            #expect(own.map { $0.text("provider") } == ["apple-iap"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what a product and a notification do not have is null`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, _ in
            let products = try await counter.get("/v1/public/products?platform=ios", try await counter.token()).data
            let items = products["items"].elements
            #expect(items.count > 3 && items.allSatisfy { $0.names.contains("duration_days") })
            #expect(items.contains { $0["duration_days"] == .null } && items.contains { $0["duration_days"] != .null })
            #expect(items.flatMap { $0["options"].elements }.allSatisfy { $0.names.contains("apple_product_id") })
            let refused = try await counter.post("/v1/notify/\(GatewayFixture.notifyToken("box-url"))", nil, "{}")
            #expect(refused.status == 400)
            let kept = try await counter.get("/v1/admin/notifications?status=rejected", counter.adminKey).data
            #expect(kept["items"].elements.map { $0["processed_at"] } == [.null])
            #expect(kept["items"][0].names.contains("processed_at"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the events' next_cursor leads on as after and as cursor`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            for _ in 0..<3 { try await apple.attach(apple.sale()) }
            try await apple.work()
            let key = try await counter.key("events:read", "orders:read", "entitlements:read").key
            let all = try await counter.get("/v1/partner/events?limit=200", key).data["items"].elements
            #expect(all.count >= 3)
            for name in ["after", "cursor"] {
                var (walked, next): ([JSONValue], Int64?) = ([], 0)
                while let from = next, walked.count <= all.count {
                    let page = try await counter.get("/v1/partner/events?limit=2&\(name)=\(from)", key).data
                    walked += page["items"].elements
                    next = page["next_cursor"] == .null ? nil : page.int("next_cursor")
                }
                #expect(walked == all, "\(name)")
            }
        }
    }
}
