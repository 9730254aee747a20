import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Searching and people")
struct SearchRouteTests {
    private static func results(_ counter: Counter, _ text: String) async throws -> [String] {
        let query = text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let reply = try await counter.get("/v1/admin/search?q=\(query)", try await counter.key("admin:read").key)
        try #require(reply.status == 200, "\(reply)")
        return try reply.data["items"].elements.map { "\($0.text("type")) \($0.text("id"))" }
    }

    @Test(arguments: TestEngine.allCases)
    func `an exact id finds its subject, and the beginning of an id its users`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let token = try await counter.token("shop-7")
            let contract = try await counter.checkout(token)
            _ = try await counter.notify("payment.succeeded", contract)
            let order = contract.text("order_id")
            let refund = try await counter.post(
                "/v1/admin/orders/\(order)/refunds", counter.adminKey,
                #"{"amount":{"value":10,"currency":"CNY"},"reason":"x"}"#)
            for id in [order, contract.text("payment_id"), try refund.data.text("id")] {
                #expect(try await Self.results(counter, id) == ["order \(order)"], "\(id)")
            }
            let shown = try await counter.get("/v1/admin/orders/\(order)", counter.adminKey).data
            let reference = shown["payments"][0].text("reference")
            if !reference.isEmpty { #expect(try await Self.results(counter, reference).first == "order \(order)") }
            #expect(try await Self.results(counter, "vip_month") == ["sku vip_month"])
            let first = apple.sale()
            try await apple.attach(first, user: "shop-8")
            #expect(try await Self.results(counter, first.id) == ["purchase \(first.id)"])
            #expect(try await Self.results(counter, "shop-7") == ["user shop-7"])
            #expect(try await Self.results(counter, "shop-") == ["user shop-7", "user shop-8"])
            for text in ["shop_", "shop%", "'; DROP TABLE users;--", String(repeating: "x", count: 128)] {
                #expect(try await Self.results(counter, text).isEmpty, "\(text)")
            }
            for query in ["", "?q=", "?q=" + String(repeating: "x", count: 129)] {
                let reply = try await counter.get("/v1/admin/search\(query)", counter.adminKey)
                #expect(reply.status == 400 && reply.field == "q")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `at most twenty are found, the exact one first`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            for number in 0..<22 { _ = try await counter.checkout(try await counter.token("many-\(number + 10)")) }
            _ = try await counter.checkout(try await counter.token("many"))
            let found = try await Self.results(counter, "many")
            #expect(found.count == 20 && found.first == "user many" && Set(found).count == 20)
            let page = try await counter.get("/v1/admin/users?prefix=many&limit=22", counter.adminKey).data
            #expect(page["items"].elements.map { $0.text("user_id") }.prefix(2) == ["many", "many-10"])
            let cursor = page.text("next_cursor")
            let rest = try await counter.get("/v1/admin/users?prefix=many&cursor=\(cursor)", counter.adminKey).data
            #expect(rest["items"].elements.map { $0.text("user_id") } == ["many-31"] && rest["next_cursor"] == .null)
            #expect(
                page["items"][0]
                    == .object([
                        "user_id": .string("many"), "created_at": .integer(counter.desk.clock.now.rawValue),
                        "tier": .string(""), "active": .bool(false), "orders": .integer(1),
                    ]))
            for prefix in ["man%25", "man_", "many_"] {
                let none = try await counter.get("/v1/admin/users?prefix=\(prefix)", counter.adminKey).data
                #expect(none["items"].elements.isEmpty, "\(prefix)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a person is shown with everything that is theirs`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let path = "/v1/admin/users/person%2F1%20%C3%BC"
            let name = "person/1 ü"
            #expect(try await counter.get(path, counter.adminKey).error == "not_found")
            _ = try await counter.checkout(try await counter.token(name))
            let sale = apple.sale()
            try await apple.attach(sale, user: name)
            _ = try await counter.post(
                "/v1/public/usage/messages/consume", try await counter.token(name), #"{"amount":3}"#)
            _ = try await counter.post(
                "\(path)/balances/coins/credit", counter.adminKey, #"{"amount":5,"reason":"sorry"}"#)
            let shown = try await counter.get(path, counter.adminKey).data
            #expect(shown.text("user_id") == name && shown["balances"] == .object(["coins": .integer(5)]))
            #expect(shown["entitlements"] == (try await counter.get("\(path)/entitlements", counter.adminKey).data))
            #expect(shown["usage"][0].int("used") == 3 && shown["usage"][0]["limit"] == .null)
            let purchase = shown["purchases"][0]
            #expect(purchase.text("transaction_id") == sale.id && purchase.text("user_id") == name)
            #expect(purchase["grant_id"] == shown["entitlements"]["entitlements"][0]["id"])
            #expect(shown["orders"].elements.count == 2)
            #expect(shown["orders"].elements.allSatisfy { $0.text("user_id") == name })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `staff take units with a reason, all or nothing`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let path = "/v1/admin/users/alice/balances/coins"
            func act(_ verb: String, _ body: String) async throws -> Reply {
                try await counter.post("\(path)/\(verb)", counter.adminKey, body)
            }
            #expect(try await act("credit", #"{"amount":30,"reason":"sorry"}"#).status == 200)
            let left = try await act("debit", #"{"amount":10,"reason":"too much"}"#)
            #expect(try left.data == .object(["unit": .string("coins"), "balance": .integer(20)]))
            #expect(try await act("debit", #"{"amount":21,"reason":"x"}"#).error == "insufficient_balance")
            for (body, field) in [
                (#"{"amount":0,"reason":"x"}"#, "amount"), (#"{"amount":1}"#, "reason"),
                (#"{"amount":1,"reason":""}"#, "reason"),
            ] {
                #expect(try await act("debit", body).field == field, "\(body)")
            }
            let history = try await counter.get("\(path)/history", counter.adminKey).data["items"].elements
            #expect(history.map { $0.int("amount") } == [-10, 30])
            #expect(history.map { $0["source"].text("type") } == ["admin", "admin"])
            let why = try await counter.get("/v1/admin/users/alice/entitlements/explain", counter.adminKey)
            #expect(why.text.contains("balance.debited"))
        }
    }
}
