import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Partners: balances, grants, checkouts, orders")
struct PartnerTests {
    private static func debit(_ user: String = "alice", _ unit: String = "coins") -> String {
        "/v1/partner/users/\(user)/balances/\(unit)/debit"
    }

    @Test(arguments: TestEngine.allCases)
    func `16 debits at once never take more than there is`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let key = try await counter.key("entitlements:write", "entitlements:read").key
            try await counter.desk.buyForReal("coins")
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<16 {
                    group.addTask { try await counter.post(Self.debit(), key, #"{"amount":10,"reason":"game"}"#) }
                }
                return try await group.reduce(into: [Reply]()) { $0.append($1) }
            }
            let (good, bad) = (replies.filter { $0.status == 200 }, replies.filter { $0.status != 200 })
            #expect(good.count == 10 && bad.count == 6)
            #expect(bad.allSatisfy { $0.status == 409 && $0.error == "insufficient_balance" })
            let left = try good.map { try $0.data.int("balance") }
            #expect(left.sorted() == (0..<10).map { $0 * 10 })
            #expect(
                try good.allSatisfy { try $0.data.names == ["unit", "balance"] && $0.data.text("unit") == "coins" })
            let shown = try await counter.get("/v1/partner/users/alice/entitlements", key).data
            #expect(shown["balances"] == .object(["coins": .integer(0), "stars": .integer(1)]))
            // The purchase touched the user once, each debit once more.
            #expect(shown.int("version") == 11)
            let audit = try await counter.get("/v1/admin/audit?user_id=alice&limit=200", counter.adminKey).data["items"]
            let debits = audit.elements.filter { $0.text("action") == "balance.debited" }
            #expect(debits.count == 10 && debits.allSatisfy { $0.text("reason") == "game" })
            #expect(debits.allSatisfy { $0.text("actor").hasPrefix("partner:test/key_") })
            #expect(try await counter.desk.count("ledger WHERE source_kind = 'debit' AND delta = -10") == 10)
        }
    }

    /// A debit that is refused, and how.
    struct BadDebit: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        var unit = "coins"
        var user = "alice"
        var status = 400
        var field: String?
    }

    static let badDebits = [
        BadDebit(testDescription: "nothing", body: "{}", field: "amount"),
        BadDebit(testDescription: "zero", body: #"{"amount":0}"#, field: "amount"),
        BadDebit(testDescription: "a negative", body: #"{"amount":-5}"#, field: "amount"),
        BadDebit(testDescription: "the least", body: #"{"amount":-9223372036854775808}"#, field: "amount"),
        BadDebit(testDescription: "a fraction", body: #"{"amount":1.5}"#, field: "amount"),
        BadDebit(testDescription: "an overflow", body: #"{"amount":9223372036854775808}"#, field: "amount"),
        BadDebit(testDescription: "10^30", body: #"{"amount":1e30}"#, field: "amount"),
        BadDebit(testDescription: "10^12 and one", body: #"{"amount":1000000000001}"#, field: "amount"),
        BadDebit(testDescription: "a text", body: #"{"amount":"5"}"#, field: "amount"),
        BadDebit(testDescription: "null", body: #"{"amount":null}"#, field: "amount"),
        BadDebit(testDescription: "a reason in numbers", body: #"{"amount":1,"reason":5}"#, field: "reason"),
        BadDebit(
            testDescription: "a long reason",
            body: #"{"amount":1,"reason":"\#(String(repeating: "r", count: 501))"}"#, field: "reason"),
        BadDebit(testDescription: "a unit that is no name", body: #"{"amount":1}"#, unit: "Coins!", field: "unit"),
        BadDebit(testDescription: "an empty unit", body: #"{"amount":1}"#, unit: "%20", field: "unit"),
        BadDebit(testDescription: "a unit with U+0000", body: #"{"amount":1}"#, unit: "a%00", field: "unit"),
        BadDebit(testDescription: "a user with U+0000", body: #"{"amount":1}"#, user: "a%00", field: "user_id"),
        BadDebit(
            testDescription: "a user of 129", body: #"{"amount":1}"#, user: String(repeating: "u", count: 129),
            field: "user_id"),
        BadDebit(testDescription: "more than there is", body: #"{"amount":101}"#, status: 409),
        BadDebit(testDescription: "10^12", body: #"{"amount":1000000000000}"#, status: 409),
        BadDebit(testDescription: "a unit never credited", body: #"{"amount":1}"#, unit: "gold", status: 409),
        BadDebit(testDescription: "a user never seen", body: #"{"amount":1}"#, user: "nobody", status: 409),
    ]

    @Test(arguments: TestEngine.allCases)
    func `a bad debit takes nothing`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let key = try await counter.key("entitlements:write").key
            try await counter.desk.buyForReal("coins")
            let (before, users) = (try await counter.traces(), try await counter.desk.count("users"))
            for bad in Self.badDebits {
                let reply = try await counter.post(Self.debit(bad.user, bad.unit), key, bad.body)
                let error = bad.status == 409 ? "insufficient_balance" : "invalid_request"
                #expect(reply.status == bad.status && reply.error == error, "\(bad.testDescription): \(reply)")
                #expect(reply.field == bad.field, "\(bad.testDescription): \(reply)")
            }
            #expect(try await counter.traces() == before)
            #expect(try await counter.desk.count("users") == users)
            #expect(try await counter.desk.snapshot().balances["coins"] == 100)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `test money cannot be used, and one key is one debit`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let key = try await counter.key("entitlements:write", partner: "acme").key
            let colleague = try await counter.key("entitlements:write", partner: "acme").key
            let stranger = try await counter.key("entitlements:write", partner: "other").key
            try await apple.attach(
                apple.sale("com.example.gems", AppleSale.consumable) { $0.environment = "Sandbox" })
            let path = Self.debit("alice", "gems")
            let refused = try await counter.post(path, key, #"{"amount":1}"#)
            #expect(refused.status == 409 && refused.error == "insufficient_balance")
            try await apple.attach(apple.sale("com.example.gems", AppleSale.consumable))
            let once = ["Idempotency-Key": "once"]
            let first = try await counter.post(path, key, #"{"amount":4}"#, headers: once)
            #expect(try first.data == .object(["unit": .string("gems"), "balance": .integer(6)]))
            for bearer in [key, colleague] {
                let again = try await counter.post(path, bearer, #"{"amount":4}"#, headers: once)
                #expect(try again.data == first.data && again.header("Idempotency-Replayed") == "true")
            }
            let other = try await counter.post(path, key, #"{"amount":5}"#, headers: once)
            #expect(other.status == 422 && other.error == "idempotency_key_reused")
            let his = try await counter.post(path, stranger, #"{"amount":4}"#, headers: once)
            #expect(try his.data.int("balance") == 2)
            let snapshot = try await apple.desk.snapshot()
            #expect(snapshot.balances == ["gems": 2] && snapshot.sandbox_balances == ["gems": 10])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a debit that was cut short is not made twice`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buyForReal("coins")
            func debit() async throws -> BalanceView {
                let context = try await desk.run("cut short")
                return try await desk.gateway.wallets.debit(
                    30, of: "coins", from: GatewayFixture.user("alice"), reason: "", context: context)
            }
            #expect(try await debit().balance == 70)
            try await desk.crash()
            #expect(try await debit().balance == 70)
            #expect(try await desk.count("ledger WHERE source_kind = 'debit'") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a partner grants with a reason, once for each key`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let key = try await counter.key("entitlements:write", "entitlements:read").key
            let nobody = try await counter.get("/v1/partner/users/new%2Fname/entitlements", key)
            let tag = try #require(nobody.header("ETag"))
            #expect(try nobody.data["active"] == .bool(false) && nobody.data.text("user_id") == "new/name")
            let path = "/v1/partner/users/new%2Fname/grants"
            let body = #"{"sku":"vip_month","duration_days":10,"reason":"goodwill"}"#
            let once = ["Idempotency-Key": "once"]
            let first = try await counter.post(path, key, body, headers: once)
            let item = try first.data
            #expect(first.status == 200 && item["source"].text("type") == "partner")
            #expect(item.text("status") == "active" && item["source"]["order_id"] == .null)
            #expect(item.int("expires_at") == counter.desk.clock.now.adding(days: 10).rawValue)
            #expect(try await counter.post(path, key, body, headers: once).data == item)
            let shown = try await counter.get(
                "/v1/partner/users/new%2Fname/entitlements", key, headers: ["If-None-Match": tag])
            #expect(try shown.status == 200 && shown.data["entitlements"].elements == [item])
            let bad = [
                (#"{"sku":"vip_month","duration_days":10}"#, 400, "reason"),
                (#"{"sku":"vip_month","duration_days":10,"reason":""}"#, 400, "reason"),
                (#"{"sku":"vip_month","duration_days":0,"reason":"x"}"#, 400, "duration_days"),
                (#"{"duration_days":1,"reason":"x"}"#, 400, "sku"),
                (#"{"sku":"nothing","duration_days":1,"reason":"x"}"#, 404, nil),
            ]
            for (body, status, field) in bad {
                let reply = try await counter.post(path, key, body)
                #expect(reply.status == status && reply.field == field, "\(body): \(reply)")
            }
            #expect(try await counter.desk.count("grants") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a partner opens checkouts and sees its orders and users', never another partner's`(
        _ engine: TestEngine
    ) async throws {
        try await withCounter(on: engine) { counter in
            let acme = try await counter.key("checkout:write", "orders:read", partner: "acme").key
            let other = try await counter.key("checkout:write", "orders:read", partner: "other").key
            func open(_ key: String, _ more: String = "", headers: [String: String] = [:]) async throws -> Reply {
                counter.desk.clock.tick()
                return try await counter.post("/v1/partner/checkout", key, Counter.ask(more), headers: headers)
            }
            let alice = #","user_id":"alice""#
            let opened = try await open(acme, alice, headers: ["Idempotency-Key": "once"])
            let order = try opened.data.text("order_id")
            #expect(try opened.status == 200 && opened.data.text("type") == "url")
            #expect(try await open(acme, alice, headers: ["Idempotency-Key": "once"]).data == opened.data)
            let own = try await counter.checkout(counter.token("alice")).text("order_id")
            let his = try await open(other, #","user_id":"bob""#).data.text("order_id")
            for (more, field) in [
                ("", "user_id"), (#","user_id":"""#, "user_id"), (#","user_id":7"#, "user_id"),
                (alice + #","quantity":0"#, "quantity"), (alice + #","provider":5"#, "provider"),
            ] {
                let reply = try await open(acme, more)
                #expect(reply.status == 400 && reply.field == field, "\(more): \(reply)")
            }
            func list(_ key: String, _ query: String = "") async throws -> [String] {
                let reply = try await counter.get("/v1/partner/orders\(query)", key)
                return try reply.data["items"].elements.map { $0.text("id") }
            }
            #expect(try await list(acme) == [own, order])
            #expect(try await list(other) == [his, own])
            #expect(try await list(acme, "?user_id=bob").isEmpty)
            #expect(try await list(other, "?user_id=bob") == [his])
            #expect(try await list(acme, "?status=open&provider=box-url") == [own, order])
            for query in ["status=paid", "provider=box-qr", "reference=nothing", "from=0&to=1"] {
                #expect(try await list(acme, "?\(query)").isEmpty, "\(query)")
            }
            let page = try await counter.get("/v1/partner/orders?limit=1", acme).data
            #expect(try await list(acme, "?limit=1&cursor=\(page.text("next_cursor"))") == [order])
            for query in ["cursor=x", "cursor=evt_1", "status=x", "limit=0", "limit=201", "from=x", "user_id="] {
                let reply = try await counter.get("/v1/partner/orders?\(query)", acme)
                #expect(reply.status == 400 && reply.error == "invalid_request", "\(query): \(reply)")
            }
            for (key, id, status) in [
                (acme, order, 200), (acme, own, 200), (other, own, 200), (other, order, 404), (acme, his, 404),
                (acme, "ord_x", 404), (counter.adminKey, order, 404), (counter.adminKey, own, 200),
            ] {
                let reply = try await counter.get("/v1/partner/orders/\(id)", key)
                #expect(reply.status == status && reply.error == (status == 404 ? "order_not_found" : ""))
            }
            let shown = try await counter.get("/v1/partner/orders/\(order)", acme).data
            #expect(shown.text("partner") == "acme" && shown.text("user_id") == "alice")
            #expect(try await counter.get("/v1/public/orders/\(order)", counter.token("alice")).status == 200)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a user whose name looks like an id of ours keeps it`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let name = counter.desk.gateway.ids.make(User.self).rawValue
            let key = try await counter.key("orders:read", partner: "acme").key
            let order = try await counter.checkout(counter.token(name)).text("order_id")
            for (area, bearer) in [("partner", key), ("admin", counter.adminKey)] {
                let listed = try await counter.get("/v1/\(area)/orders", bearer).data["items"]
                #expect(listed[0].text("id") == order && listed[0].text("user_id") == name, "\(area)")
                let shown = try await counter.get("/v1/\(area)/orders/\(order)", bearer).data
                #expect(shown.text("user_id") == name, "\(area)")
            }
        }
    }
}
