import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Trying out the catalogue")
struct CatalogueTrialTests {
    private static func sku(_ id: String, _ product: String) -> String {
        """
        {"id":"\(id)","name":"New","kind":"non_renewing","tier":"VIP","rank":20,"duration_days":30,
         "prices":[{"currency":"CNY","value":100}],"apple_product_ids":["\(product)"]}
        """
    }

    @Test(arguments: TestEngine.allCases)
    func `a dry run writes nothing and says what would be granted`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let sale = apple.sale("com.example.dry")
            _ = try await apple.refusal(sale)
            let path = "/v1/admin/skus?dry_run=true"
            let named = ["Idempotency-Key": "sku-1"]
            let before = try await counter.traces()
            let tried = try await counter.post(
                path, counter.adminKey, Self.sku("dry", "com.example.dry"), headers: named)
            #expect(tried.status == 200, "\(tried)")
            #expect(try tried.data["sku"].text("id") == "dry" && tried.data.int("would_grant_total") == 1)
            let wanted: [String: JSONValue] = [
                "user_id": .string("alice"), "product_id": .string("com.example.dry"),
                "transaction_id": .string(sale.id),
            ]
            #expect(try tried.data["would_grant"] == .array([.object(wanted)]))
            #expect(try await counter.traces() == before)
            #expect(try await counter.desk.count("idempotency_keys") == 0)
            for (body, status, field) in [
                (Self.sku("bad id!", "x"), 400, "id"), (Self.sku("vip_month", "x"), 409, nil),
                (Self.sku("dry", "com.example.vip.month"), 409, nil),
            ] as [(String, Int, String?)] {
                let reply = try await counter.post(path, counter.adminKey, body)
                #expect(reply.status == status && reply.field == field, "\(reply)")
            }
            let change = "/v1/admin/skus/vip_month?dry_run="
            let current = try await counter.get("/v1/admin/skus/vip_month", counter.adminKey).data
            let patch = #"{"apple_product_ids":["com.example.dry"]}"#
            let changed = try await counter.send(.patch, change + "true", counter.adminKey, body: patch)
            #expect(try changed.data.int("would_grant_total") == 1)
            #expect(try await counter.get("/v1/admin/skus/vip_month", counter.adminKey).data == current)
            let odd = try await counter.send(.patch, change + "maybe", counter.adminKey, body: patch)
            #expect(odd.status == 400 && odd.field == "dry_run")
            let reader = try await counter.key("admin:read").key
            #expect(try await counter.post(path, reader, Self.sku("dry", "x")).status == 403)

            let made = try await counter.post(
                "/v1/admin/skus", counter.adminKey, Self.sku("dry", "com.example.dry"), headers: named)
            #expect(made.status == 200 && made.header("Idempotency-Replayed") == nil)
            #expect(
                try await counter.get("/v1/admin/users/alice/entitlements", counter.adminKey).data["active"]
                    == .bool(true))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what was bought and is unknown is counted, and a pattern is previewed`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            for (product, user) in [
                ("com.example.x.day7", "alice"), ("com.example.x.day7", "bob"), ("com.example.x.day30", "bob"),
            ] {
                _ = try await apple.refusal(apple.sale(product), user: user)
                apple.desk.clock.advance(seconds: 1)
            }
            func waiting(_ query: String = "") async throws -> JSONValue {
                try await counter.get("/v1/admin/products/waiting\(query)", counter.adminKey).data
            }
            let all = try await waiting()["items"].elements
            #expect(all.map { $0.text("product_id") } == ["com.example.x.day30", "com.example.x.day7"])
            #expect(all.map { [$0.int("count"), $0.int("users")] } == [[1, 1], [2, 2]])
            #expect(all[1].int("last_at") == all[1].int("first_at") + 1)
            let page = try await waiting("?limit=1")
            #expect(page["items"] == .array([all[0]]))
            #expect(try await waiting("?cursor=\(page.text("next_cursor"))")["items"] == .array([all[1]]))
            func preview(_ pattern: String) async throws -> Reply {
                try await counter.get(
                    "/v1/admin/patterns/preview?pattern=\(pattern)", try await counter.key("admin:read").key)
            }
            let shown = try await preview("com.example.x.day$%7Bdays%7D").data
            #expect(shown["clashes"] == .array([]))
            #expect(shown["matches"].elements.map { [$0.int("days"), $0.int("seen")] } == [[30, 1], [7, 2]])
            let clash = try await preview("merchant.example.day$%7Bquantity%7D").data
            #expect(clash["clashes"] == .array([.string("basic_days")]))
            for pattern in ["plain", "a$%7Bdays%7Db$%7Bdays%7D", ""] {
                let reply = try await preview(pattern)
                #expect(reply.status == 400 && reply.field == "pattern", "\(pattern)")
            }
        }
    }
}
