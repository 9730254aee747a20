import Domain
import Foundation
import Gateway
import HTTPTypes
import Store
import Synchronization
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Reads that may take long")
struct ReadTests {
    @Test(arguments: TestEngine.allCases)
    func `a search that hangs delays nothing else`(_ engine: TestEngine) async throws {
        let gate = Gate()
        var setup = CounterSetup()
        setup.desk.watch = StatementWatch { await gate.pass() }
        try await withCounter(on: engine, setup) { counter in
            let alice = try await counter.token("alice")
            _ = try await counter.checkout(alice)
            async let search = counter.get("/v1/admin/orders?status=paid", counter.adminKey)
            await gate.arrivals(1)
            for (path, bearer) in [
                ("/v1/public/iap/apple/status", alice), ("/v1/public/entitlements", alice), ("/healthz", nil),
                ("/readyz", nil),
            ] {
                #expect(try await counter.get(path, bearer).status == 200, "\(path)")
            }
            _ = try await counter.checkout(alice)
            gate.open()
            #expect(try await search.status == 200)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `every list is read by a report`(_ engine: TestEngine) async throws {
        let reports = Reports()
        var setup = CounterSetup()
        setup.desk.watch = StatementWatch { reports.count() }
        try await withCounter(on: engine, setup) { counter in
            let alice = try await counter.token("alice")
            let webhooks = try await counter.key("webhooks:write", "events:read", "orders:read", "entitlements:read")
                .key
            let made = try await counter.post(
                "/v1/partner/webhooks", webhooks, #"{"url":"https://partner.example/hook","types":[]}"#)
            let webhook = try made.data.text("id")
            for (path, bearer) in [
                ("/v1/public/orders", alice), ("/v1/public/subscriptions", alice),
                ("/v1/public/entitlements/explain", alice), ("/v1/partner/orders?status=paid", webhooks),
                ("/v1/partner/events?after=0", webhooks), ("/v1/partner/webhooks", webhooks),
                ("/v1/partner/webhooks/\(webhook)/deliveries", webhooks), ("/v1/admin/orders", counter.adminKey),
                ("/v1/admin/stats", counter.adminKey), ("/v1/admin/export/orders.csv", counter.adminKey),
                ("/v1/admin/audit", counter.adminKey), ("/v1/admin/jobs", counter.adminKey),
                ("/v1/admin/notifications", counter.adminKey), ("/v1/admin/purchases", counter.adminKey),
                ("/v1/admin/skus", counter.adminKey), ("/v1/admin/api-keys", counter.adminKey),
                ("/v1/admin/users/alice/entitlements/explain", counter.adminKey),
                ("/v1/admin/users/alice/subscriptions", counter.adminKey),
            ] {
                let before = reports.value
                #expect(try await counter.get(path, bearer).status == 200, "\(path)")
                #expect(reports.value > before, "\(path)")
            }
        }
    }

    /// Makes orders of two users, of two partners and of none, at two accounts, in every status.
    private static func fill(_ counter: Counter) async throws {
        let desk = counter.desk
        for (user, sku) in [("alice", "vip_month"), ("bob", "vip_year")] {
            _ = try await desk.checkout(sku, user: user)
            try await desk.buy(sku, user: user)
            let part = try await desk.buy(sku, user: user)
            try await desk.refund(part.order, 100)
            desk.clock.advance(seconds: 4_000)
            let lost = try await desk.buy(sku, user: user)
            try await desk.notify("dispute.opened", lost)
            try await desk.notify("dispute.lost", lost)
            let closed = try await desk.checkout(sku, user: user, provider: "box-qr")
            _ = try await desk.gateway.orderClosing.close(closed.order.rawValue, context: .test)
            for partner in ["one", "two"] {
                let key = try await counter.key("checkout:write", partner: partner).key
                desk.clock.advance(seconds: 1)
                let reply = try await counter.post(
                    "/v1/partner/checkout", key,
                    #"{"user_id":"\#(user)","sku":"vip_month","platform":"web","currency":"CNY","provider":"box-stripe"}"#
                )
                try #require(reply.status == 200, "\(reply)")
                if partner == "one" { _ = try await counter.notify("payment.succeeded", try reply.data) }
            }
        }
    }

    /// The ids of an export's lines.
    private static func lines(_ file: String) -> [String] {
        file.components(separatedBy: "\r\n").dropFirst().dropLast().map { String($0.prefix(30)) }
    }

    private static func ids(_ orders: [JSONValue]) -> [String] {
        var ids: [String] = []
        for order in orders { ids.append(order.text("id")) }
        return ids
    }

    @Test(arguments: TestEngine.allCases)
    func `every filter and all of them together find what they name, page by page`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            try await Self.fill(counter)
            let all = try await counter.get("/v1/admin/orders?limit=200", counter.adminKey).data["items"].elements
            try #require(all.count == 14)
            try #require(Set(all.map { $0.text("status") }).count == 5)
            func accounts(_ order: JSONValue) -> Set<String> {
                Set(order["payments"].elements.map { $0.text("provider") })
            }
            let partner = try await counter.key("orders:read", partner: "one").key
            let middle = all[7].int("created_at")
            let bounds: [(String, (JSONValue) -> Bool)] = [
                ("", { _ in true }), ("&from=\(middle)", { $0.int("created_at") >= middle }),
                ("&to=\(middle)", { $0.int("created_at") < middle }),
            ]
            let choices: [[(String, (JSONValue) -> Bool)]] = [
                [("", { _ in true }), ("&user_id=bob", { $0.text("user_id") == "bob" })],
                [("", { _ in true })]
                    + ["open", "paid", "partially_refunded", "refunded", "closed"].map { status in
                        ("&status=\(status)", { $0.text("status") == status })
                    },
                [("", { _ in true })]
                    + ["box-url", "box-stripe", "nobody"].map { name in
                        ("&provider=\(name)", { accounts($0).contains(name) })
                    },
                bounds,
            ]
            var queries: [(String, (JSONValue) -> Bool)] = [("", { _ in true })]
            for choice in choices {
                queries = queries.flatMap { query in
                    choice.map { one in (query.0 + one.0, { query.1($0) && one.1($0) }) }
                }
            }
            for (query, holds) in queries {
                let expected = Self.ids(all.filter(holds))
                let found = try await counter.get("/v1/admin/orders?limit=200\(query)", counter.adminKey)
                #expect(try Self.ids(found.data["items"].elements) == expected, "\(query)")
                let file = try await counter.get("/v1/admin/export/orders.csv?\(query.dropFirst())", counter.adminKey)
                #expect(Self.lines(file.text) == expected.reversed(), "\(query)")
                let seen = try await counter.get("/v1/partner/orders?limit=200\(query)", partner)
                let visible = all.filter { holds($0) && ($0["partner"] == .null || $0.text("partner") == "one") }
                #expect(try Self.ids(seen.data["items"].elements) == Self.ids(visible), "\(query)")
            }
            for query in ["", "&status=paid", "&provider=box-url", "&status=open&provider=box-stripe"] {
                var (walked, cursor) = ([String](), "")
                repeat {
                    let page = try await counter.get("/v1/partner/orders?limit=2\(query)\(cursor)", partner).data
                    walked += Self.ids(page["items"].elements)
                    cursor = page["next_cursor"] == .null ? "" : "&cursor=\(page.text("next_cursor"))"
                } while !cursor.isEmpty && walked.count < 20
                let whole = try await counter.get("/v1/partner/orders?limit=200\(query)", partner).data["items"]
                    .elements
                #expect(walked == Self.ids(whole), "\(query)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a page is read in few statements, however long it is`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let desk = apple.desk
            for _ in 0..<3 { try await Self.fill(counter) }
            for number in 0..<12 {
                let sale =
                    number.isMultiple(of: 2)
                    ? apple.sale() : apple.sale("com.example.apple.auto", AppleSale.subscription)
                try await apple.attach(sale, user: "alice")
            }
            let watch = desk.watch
            let alice = try await counter.token("alice")
            let reader = try await counter.key("events:read", "orders:read", "entitlements:read").key
            for (path, bearer) in [
                ("/v1/admin/orders?limit=200", counter.adminKey), ("/v1/public/orders?limit=200", alice),
                ("/v1/partner/orders?limit=200", reader), ("/v1/public/subscriptions?limit=200", alice),
                ("/v1/admin/users/alice/subscriptions?limit=200", counter.adminKey),
                ("/v1/partner/events?after=0&limit=200", reader), ("/v1/admin/audit?limit=200", counter.adminKey),
                ("/v1/admin/jobs?limit=200", counter.adminKey), ("/v1/admin/notifications?limit=200", counter.adminKey),
                ("/v1/admin/purchases?limit=200", counter.adminKey), ("/v1/public/entitlements", alice),
            ] {
                _ = watch.taken()
                let reply = try await counter.get(path, bearer)
                #expect(reply.status == 200, "\(reply)")
                let statements = watch.taken().map(\.sql)
                #expect(statements.count <= 12, "\(path): \(statements.joined(separator: "\n"))")
            }
        }
    }
}

/// Counts the long reads of the database.
private final class Reports: Sendable {
    private let number = Mutex(0)

    func count() { number.withLock { $0 += 1 } }
    var value: Int { number.withLock { $0 } }
}
