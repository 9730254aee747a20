import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Orders, disputes and sessions for admins")
struct AdminOrderListTests {
    /// The ids of an export's lines.
    private static func exported(_ query: String, _ counter: Counter) async throws -> [String] {
        let reply = try await counter.get("/v1/admin/export/orders.csv?\(query)", counter.adminKey)
        try #require(reply.status == 200, "\(query): \(reply)")
        return reply.text.components(separatedBy: "\r\n").dropFirst().dropLast().map { String($0.prefix(30)) }
    }

    @Test(arguments: TestEngine.allCases)
    func `orders are found by what is special about them`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            let disputed = try await counter.checkout(token)
            _ = try await counter.notify("payment.succeeded", disputed)
            _ = try await counter.notify("dispute.opened", disputed)
            let odd = try await counter.checkout(token)
            _ = try await counter.notify("payment.succeeded", odd, value: 1)
            let real = try await counter.checkout(token, #","provider":"scripted""#, sku: "vip_year")
            counter.desk.clock.tick()
            let phone = try await counter.post(
                "/v1/public/checkout", token, #"{"sku":"vip_month","platform":"android","currency":"CNY"}"#)
            let names = [
                disputed.text("order_id"): "disputed", odd.text("order_id"): "odd", real.text("order_id"): "real",
                try phone.data.text("order_id"): "phone",
            ]
            for (query, wanted) in [
                ("sku=vip_month", ["phone", "odd", "disputed"]), ("sku=vip_year", ["real"]), ("sku=nothing", []),
                ("sku=No", []), ("anomaly=amount_mismatch", ["odd"]), ("anomaly=late_payment", []),
                ("dispute=open", ["disputed"]), ("dispute=won", []), ("platform=android", ["phone"]),
                ("environment=Production", ["real"]), ("environment=Xcode", []),
                ("environment=Sandbox&platform=web", ["odd", "disputed"]),
                ("sku=vip_month&environment=Sandbox&platform=web&status=paid", ["disputed"]),
                ("sku=vip_month&provider=box-url&dispute=open", ["disputed"]),
                ("user_id=alice&sku=vip_month&platform=android", ["phone"]),
                ("status=open&platform=web", ["real", "odd"]),
                ("platform=web&from=2999-01-01", []),
            ] as [(String, [String])] {
                let found = try await counter.get("/v1/admin/orders?\(query)", counter.adminKey)
                #expect(found.status == 200, "\(found)")
                #expect(try found.data["items"].elements.map { names[$0.text("id")] } == wanted, "\(query)")
                #expect(try await Self.exported(query, counter).map { names[$0] } == wanted.reversed(), "\(query)")
            }
            let page = try await counter.get("/v1/admin/orders?sku=vip_month&limit=2", counter.adminKey).data
            let rest = try await counter.get(
                "/v1/admin/orders?sku=vip_month&limit=2&cursor=\(page.text("next_cursor"))", counter.adminKey)
            #expect(try rest.data["items"].elements.map { names[$0.text("id")] } == ["disputed"])
            for (path, name) in ["orders", "export/orders.csv"].flatMap({ path in
                ["anomaly", "dispute", "environment", "platform", "status"].map { (path, $0) }
            }) {
                let reply = try await counter.get("/v1/admin/\(path)?\(name)=moon", counter.adminKey)
                #expect(reply.status == 400 && reply.field == name, "\(path): \(reply)")
            }
            let disputes = try await counter.get("/v1/admin/disputes?status=open", counter.adminKey).data
            let one = disputes["items"][0]
            #expect(disputes["items"].elements.count == 1 && one.text("order_id") == disputed.text("order_id"))
            #expect(one.text("user_id") == "alice" && one["amount"] == disputed["amount"])
            #expect(try await counter.get("/v1/admin/disputes", counter.adminKey).data["items"] == disputes["items"])
            let lost = try await counter.get("/v1/admin/disputes?status=lost", counter.adminKey).data
            #expect(lost["items"].elements.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order shows what it gave, and is refreshed once in five seconds`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let paid = try await counter.checkout(try await counter.token())
            _ = try await counter.notify("payment.succeeded", paid)
            let path = "/v1/admin/orders/\(paid.text("order_id"))"
            let shown = try await counter.get(path, counter.adminKey).data
            let owned = try await counter.get("/v1/admin/users/alice/entitlements", counter.adminKey).data
            #expect(shown["grants"] == owned["entitlements"] && shown["grants"].elements.count == 1)
            #expect(shown["mismatches"] == .array([]))
            let asked = try await counter.post("\(path)/refresh", counter.adminKey)
            #expect(asked.status == 200)
            #expect(try asked.data["id"] == paid["order_id"])
            #expect(try await counter.post("\(path)/refresh", counter.adminKey).status == 429)
            let none = try await counter.post("/v1/admin/orders/ord_nothing/refresh", counter.adminKey)
            #expect(none.error == "order_not_found")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a user's sessions are listed without their tokens`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let own = try await counter.session(try await counter.token(), "vip_month")
            counter.desk.clock.tick()
            let made = try await counter.post(
                "/v1/admin/sessions", counter.adminKey, #"{"user_id":"alice","purpose":"portal"}"#)
            let list = "/v1/admin/sessions?user_id=alice"
            let reply = try await counter.get(list, try await counter.key("admin:read").key)
            let items = try reply.data["items"].elements
            #expect(items.map { $0.text("id") } == [try made.data.text("id"), own.text("id")])
            #expect(items.map { $0.text("maker") } == ["admin", "user"])
            #expect(items.allSatisfy { $0.text("user_id") == "alice" && $0["ended_at"] == .null })
            #expect(!reply.text.contains("pds_"))
            let page = try await counter.get("\(list)&limit=1", counter.adminKey).data
            let rest = try await counter.get("\(list)&cursor=\(page.text("next_cursor"))", counter.adminKey).data
            #expect(rest["items"].elements.map { $0.text("id") } == [own.text("id")])
            let none = try await counter.get("/v1/admin/sessions?user_id=nobody", counter.adminKey)
            #expect(try none.data["items"].elements.isEmpty)
            #expect(try await counter.get("/v1/admin/sessions", counter.adminKey).field == "user_id")
        }
    }
}
