import Domain
import Foundation
import Gateway
import ProviderKit
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("What admins look up and add up")
struct ReportTests {
    /// The sums of each other step, in their order: key, currency, opened, paid, charged, refunded, lost.
    private static let sums: [(query: String, rows: [String])] = [
        (
            "by=sku",
            [
                "trial CNY 1 1 0 0 0", "vip_month CNY 4 3 11970 4990 3990", "vip_month USD 1 1 599 299 0",
                "vip_year CNY 1 1 16900 0 0",
            ]
        ),
        ("by=platform&currency=USD", ["ios USD 1 1 599 299 0"]),
        (
            "by=account",
            ["apple-iap USD 1 1 599 299 0", "none CNY 1 1 0 0 0", "scripted CNY 5 4 28870 4990 3990"]
        ),
        ("by=method", ["apple_iap USD 1 1 599 299 0", "none CNY 1 1 0 0 0", "url CNY 5 4 28870 4990 3990"]),
        ("by=sku&environment=Sandbox&currency=CNY&limit=1", ["coins CNY 1 1 600 600 600"]),
    ]

    private static func expectSums(by stats: (String) async throws -> Reply) async throws {
        for (query, rows) in sums {
            let found = try await stats(query).data["items"].elements.map { item in
                let numbers = [item.int("orders_opened"), item.int("orders_paid")]
                let money = ["charged", "refunded", "lost"].map { item[$0].int("value") }
                return "\(item.text("key")) \(item.text("currency")) "
                    + (numbers + money).map(String.init).joined(separator: " ")
            }
            #expect(found == rows, "\(query)")
        }
        let first = try await stats("by=sku&limit=2").data
        let second = try await stats("by=sku&limit=2&cursor=\(first.text("next_cursor"))").data
        #expect(first["items"].elements.count == 2 && second["next_cursor"] == .null)
        #expect(second["items"].elements.map { $0.text("key") } == ["vip_month", "vip_year"])
        for (query, field) in [("by=moon", "by"), ("environment=Moon", "environment"), ("currency=YEN", "currency")] {
            let reply = try await stats(query)
            #expect(reply.status == 400 && reply.field == field, "\(query): \(reply)")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `purchases that wait are listed, newest first`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let reader = try await counter.key("admin:read").key
            for number in 0..<3 {
                _ = try await apple.refusal(apple.sale("com.example.new\(number)"))
                apple.desk.clock.advance(seconds: 1)
            }
            let sale = apple.sale()
            try await apple.attach(sale, user: "bob")
            try await apple.store.write { tx in
                try tx.execute("UPDATE purchases SET user_id = NULL WHERE transaction_id = ?", sale.id)
            }
            func list(_ query: String) async throws -> JSONValue {
                let reply = try await counter.get("/v1/admin/purchases?\(query)", reader)
                try #require(reply.status == 200, "\(reply)")
                return try reply.data
            }
            let unmapped = try await list("state=unmapped")["items"].elements
            #expect(unmapped.map { $0.text("product_id") } == (0..<3).reversed().map { "com.example.new\($0)" })
            #expect(unmapped.allSatisfy { $0.text("user_id") == "alice" && $0["sku"] == .null })
            #expect(unmapped.allSatisfy { $0.text("environment") == "Production" && $0.text("account") == "apple-iap" })
            let unclaimed = try await list("state=unclaimed")["items"].elements
            #expect(unclaimed.map { $0.text("transaction_id") } == [sale.id] && unclaimed[0]["user_id"] == .null)
            #expect(unclaimed[0].text("sku") == "vip_month")
            let both = try await list("")["items"].elements
            #expect(both == unclaimed + unmapped && both.allSatisfy { $0["box"] == .bool(false) })
            var (walked, cursor) = ([JSONValue](), "")
            repeat {
                let page = try await list("limit=1" + (cursor.isEmpty ? "" : "&cursor=\(cursor)"))
                walked += page["items"].elements
                cursor = page.text("next_cursor")
            } while !cursor.isEmpty && walked.count < 10
            #expect(walked == both)
            for query in ["state=x", "state=", "cursor=x", "cursor=1~Moon~x", "cursor=x~Production~y", "limit=0"] {
                let reply = try await counter.get("/v1/admin/purchases?\(query)", reader)
                #expect(reply.status == 400 && reply.error == "invalid_request", "\(query): \(reply)")
            }
            try await apple.store.write { tx in
                try tx.execute(
                    """
                    UPDATE purchases SET user_id = (SELECT w.user_id FROM purchase_owners w
                        WHERE w.original_transaction_id = purchases.original_transaction_id)
                    """)
            }
            #expect(try await list("state=unclaimed")["items"].elements.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a day's orders and money, by currency, without test money`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            let desk = apple.desk
            // Noon, so that the acts of one day are in it.
            desk.clock.set((desk.clock.now.rawValue / 86_400) * 86_400 + 43_200)
            let first = desk.clock.now
            let month = try await desk.buyForReal()
            try await desk.buyForReal("vip_year", user: "bob")
            _ = try await desk.checkout(user: "carol", provider: "scripted")
            _ = try await desk.checkout("trial", user: "dora", provider: nil)
            try await apple.attach(apple.sale { $0.environment = "Sandbox" }, user: "eve")
            // Sales, attempts and refunds at an account in a provider's test mode do not count either.
            let played = try await desk.buy(user: "ivan")
            try await desk.refund(played.order, 1_000)
            _ = try await desk.checkout(user: "ivan")
            try await desk.notify("dispute.lost", try await desk.buy("coins", user: "ivan"))
            // Money that was paid twice and returned once counts once.
            let twice = try await desk.checkout(user: "hank", provider: "scripted")
            try await desk.succeed(try await desk.retry(twice.order, user: "hank", provider: "scripted"))
            try await desk.succeed(twice)
            #expect(try await desk.refunds(twice.order).map(\.state) == [.succeeded])
            desk.clock.advance(days: 1)
            try await desk.refund(month.order, 1_000)
            let lost = try await desk.buyForReal(user: "fred")
            for outcome in [DisputeOutcome.opened, .lost] { try await desk.dispute(lost, outcome) }
            let sale = apple.sale {
                $0.price = 5_990
                $0.currency = "USD"
            }
            try await apple.attach(sale, user: "gina")
            _ = try await apple.refusal(
                sale.signedAgain(after: 5) {
                    $0.revoked = $0.signed
                    $0.percentage = 50_000
                }, user: "gina")
            desk.clock.advance(seconds: 10)
            func stats(_ query: String) async throws -> Reply {
                try await counter.get("/v1/admin/stats?\(query)", counter.adminKey)
            }
            let items = try await stats("by=day").data["items"].elements
            let days = [first.adding(days: 1), first].map { time in
                Date(timeIntervalSince1970: Double(time.rawValue)).formatted(.iso8601.year().month().day())
            }
            func row(_ item: JSONValue) -> String {
                let orders = "\(item.int("orders_opened")) \(item.int("orders_paid"))"
                let money = "\(item["charged"].int("value")) \(item["refunded"].int("value"))"
                return "\(item.text("day")) \(item.text("currency")) \(orders) \(money)"
            }
            let rows: [String] = [
                "\(days[0]) CNY 1 1 3990 4990", "\(days[0]) USD 1 1 599 299", "\(days[1]) CNY 5 4 24880 0",
            ]
            #expect(items.map(row) == rows)
            let whole = "from=\(first.rawValue / 86_400 * 86_400)"
            #expect(try await stats(whole).data["items"].elements == items)
            #expect(items.allSatisfy { $0["key"] == $0["day"] })
            #expect(items.map { $0["lost"].int("value") } == [3_990, 0, 0])
            try await Self.expectSums(by: stats)
            let day = try await stats("\(whole)&to=\(first.rawValue / 86_400 * 86_400 + 86_400)")
            #expect(try day.data["items"].elements == Array(items.suffix(1)))
            #expect(try await stats("from=0&to=\(400 * 86_400)").data["items"].elements.isEmpty)
            for (query, field) in [
                ("by=week", "by"), ("from=x", "from"), ("to=x", "to"), ("from=0&to=\(36_525 * 86_400 + 1)", "from"),
                ("from=0&by=sku&to=\(400 * 86_400 + 1)", "from"),
                ("from=0&environment=Sandbox&to=\(400 * 86_400 + 1)", "from"),
                ("from=10&to=9", "from"), ("from=-1&to=9", "from"), ("to=-1", "to"), ("to=9223372036854775807", "to"),
                ("from=-9223372036854775808", "from"), ("from=0&by=sku", "from"),
            ] {
                let reply = try await stats(query)
                #expect(reply.status == 400 && reply.field == field, "\(query): \(reply)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `orders are exported as CSV that no spreadsheet runs`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let reader = try await counter.key("admin:read").key
            let desk = counter.desk
            let empty = try await counter.get("/v1/admin/export/orders.csv", reader)
            let header =
                "id,user_id,status,sku,quantity,amount,currency,charged,refunded,provider,platform,environment,"
                + "created_at,paid_at,amount_major,payment_reference,refund_references,created_at_iso,paid_at_iso,"
                + "origin,subscription_id"
            #expect(empty.status == 200 && empty.text == header + "\r\n")
            #expect(empty.header("Content-Type") == "text/csv; charset=utf-8; header=present")
            let at = desk.clock.now.rawValue
            let iso = desk.clock.now.iso8601
            let names = [
                ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"),
                (#"a,"b""#, #""a,""b""""#), (#"=HYPERLINK("x","y")"#, #""'=HYPERLINK(""x"",""y"")""#), ("爱丽丝", "爱丽丝"),
            ]
            var lines = [header]
            for (name, cell) in names {
                let order = try await desk.checkout(user: name).order
                lines.append(
                    "\(order),\(cell),open,vip_month,1,3990,CNY,,0,box-url,web,Sandbox,\(at),,39.90,,,\(iso),,checkout,"
                )
            }
            let paid = try await desk.buy("coins", user: "bob", quantity: 2)
            try await desk.refund(paid.order, 200)
            lines.append(
                "\(paid.order),bob,partially_refunded,coins,2,1200,CNY,1200,200,box-url,web,Sandbox,\(at),\(at),12.00,,,\(iso),"
                    + "\(iso),checkout,")
            let free = try await desk.checkout("trial", user: "carl", provider: nil)
            lines.append(
                "\(free.order),carl,paid,trial,1,0,CNY,0,0,,web,Production,\(at),\(at),0.00,,,\(iso),\(iso),checkout,")
            func export(_ query: String) async throws -> Reply {
                try await counter.get("/v1/admin/export/orders.csv\(query)", reader)
            }
            let reply = try await export("")
            #expect(reply.text.components(separatedBy: "\r\n") == lines + [""])
            #expect(try await export("?from=\(at)&to=\(at + 1)").text == reply.text)
            #expect(try await export("?to=\(at)").text == header + "\r\n")
            #expect(try await export("?from=\(at + 1)").text == header + "\r\n")
            for (query, field) in [("?from=x", "from"), ("?to=", "to"), ("?from=2&to=1", "from"), ("?from=-1", "from")]
            {
                let bad = try await export(query)
                #expect(bad.status == 400 && bad.field == field, "\(query): \(bad)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an export of several pages has every order once`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            for number in 0..<10 { _ = try await counter.desk.checkout(user: "user\(number % 3)") }
            // Copies with ids of their own: two whole pages of 500. At this position real ids have an e or an f, so
            // that a g makes a new id.
            try await counter.desk.store.write { tx in
                for copy in 0..<99 {
                    let digits = String(100 + copy)
                    try tx.execute(
                        """
                        INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, state, platform,
                            environment, metadata, created_at, expires_at)
                        SELECT SUBSTR(id, 1, 14) || 'g' || SUBSTR(id, 16, 12) || ?, user_id, origin, sku, quantity, terms, amount, currency, state,
                            platform, environment, metadata, created_at, expires_at
                        FROM orders WHERE id IN (SELECT order_id FROM payments)
                        """, digits)
                }
            }
            let expected = try await counter.desk.count("orders")
            try #require(expected == 1_000)
            var ids: [String: [Substring]] = [:]
            for query in [
                "", "status=open", "sku=vip_month&platform=web", "environment=Sandbox", "user_id=user0",
                "user_id=user1",
                "user_id=user2", "user_id=nobody", "status=paid", "platform=ios",
            ] {
                let reply = try await counter.get("/v1/admin/export/orders.csv?\(query)", counter.adminKey)
                ids[query] = reply.text.components(separatedBy: "\r\n").dropFirst().dropLast().map { $0.prefix(30) }
            }
            let all = try #require(ids[""])
            #expect(all.count == Int(expected) && Set(all).count == all.count && all == all.sorted())
            for query in ["status=open", "sku=vip_month&platform=web", "environment=Sandbox"] {
                #expect(ids[query] == all, "\(query)")
            }
            #expect((0..<3).flatMap { ids["user_id=user\($0)"] ?? [] }.sorted() == all)
            for query in ["user_id=nobody", "status=paid", "platform=ios"] { #expect(ids[query] == [], "\(query)") }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an explanation is a user's own, or an admin's to read`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let alice = try await counter.token()
            _ = try await counter.post(
                "/v1/admin/users/alice/grants", counter.adminKey,
                #"{"sku":"vip_month","duration_days":3,"reason":"a secret of ours"}"#)
            let path = "/v1/public/entitlements/explain"
            let hers = try await counter.get(path, alice).data
            #expect(hers.names == ["user_id", "sku", "active", "facts", "conclusion"])
            #expect(hers.text("user_id") == "alice" && hers["sku"] == .null && hers["active"] == .bool(true))
            let fact = hers["facts"][0]
            #expect(fact.names == ["at", "type", "text", "order_id", "grant_id"] && fact["order_id"] == .null)
            #expect(fact.text("grant_id").hasPrefix("grt_") && !fact.text("text").contains("secret"))
            let staff = try await counter.get(
                "/v1/admin/users/alice/entitlements/explain?sku=vip_month", counter.adminKey,
                headers: ["Accept-Language": "zh-Hans"]
            ).data
            #expect(staff.text("sku") == "vip_month" && staff["facts"][0].text("text").contains("a secret of ours"))
            #expect(staff.text("conclusion").hasPrefix("截至"))
            let bob = try await counter.get(path, counter.token("bob")).data
            #expect(bob["facts"].elements.isEmpty && bob["active"] == .bool(false))
            for sku in ["nothing", "%20", "VIP"] {
                let reply = try await counter.get("\(path)?sku=\(sku)", alice)
                #expect(reply.status == 404 && reply.error == "sku_not_found", "\(sku): \(reply)")
            }
        }
    }
}
