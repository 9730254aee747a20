import Domain
import Foundation
import Gateway
import Store
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Lists, pages and operations")
struct PageTests {
    @Test(arguments: TestEngine.allCases)
    func `a list is walked without gaps, newest first`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let (alice, bob) = (try await counter.token("alice"), try await counter.token("bob"))
            var made: [String] = []
            for _ in 0..<7 {
                made.append(try await counter.checkout(alice).text("order_id"))
                _ = try await counter.checkout(bob)
            }
            for (path, bearer) in [
                ("/v1/public/orders?limit=3", alice), ("/v1/admin/orders?user_id=alice&limit=3", counter.adminKey),
            ] {
                var walked: [String] = []
                var cursor = ""
                repeat {
                    let page = try await counter.get(path + cursor, bearer).data
                    walked += page["items"].elements.map { $0.text("id") }
                    cursor = page["next_cursor"] == .null ? "" : "&cursor=\(page.text("next_cursor"))"
                } while !cursor.isEmpty
                #expect(walked == made.reversed())
            }
            let all = try await counter.get("/v1/admin/orders?limit=200&status=open&provider=box-url", counter.adminKey)
            #expect(try all.data["items"].elements.count == 14)
            #expect(
                try await counter.get("/v1/admin/orders?status=paid", counter.adminKey).data["items"].elements.isEmpty)
        }
    }

    @Test
    func `a qr contract has its image`() async throws {
        try await withCounter { counter in
            let contract = try await counter.checkout(try await counter.token(), #","provider":"box-qr""#)
            let path = contract.text("qr_image_url").replacing(GatewayFixture.publicURL, with: "")
            let image = try await counter.get(path)
            #expect(image.status == 200)
            #expect(image.header("Content-Type") == "image/svg+xml")
            let size = try #require(image.text.firstMatch(of: /viewBox="0 0 (\d+) \1"/)).1
            // A QR code has 17 + 4 × version modules, and a quiet zone of four around it.
            let modules = try #require(Int(size)) - 8
            #expect((modules - 17) % 4 == 0 && modules >= 21)
            let dark = Set(image.text.matches(of: /M(\d+),(\d+)h1v1h-1z/).map { "\($0.1),\($0.2)" })
            func isFinder(_ x: Int, _ y: Int) -> Bool {
                (0..<7).allSatisfy { row in
                    (0..<7).allSatisfy { column in
                        let ring = max(abs(row - 3), abs(column - 3))
                        return dark.contains("\(x + column),\(y + row)") == (ring != 2)
                    }
                }
            }
            #expect(isFinder(4, 4) && isFinder(modules - 3, 4) && isFinder(4, modules - 3))
            let url = try await counter.checkout(try await counter.token(), #","provider":"box-url""#)
            let none = try await counter.get("/v1/public/payments/\(url.text("payment_id"))/qr.svg")
            #expect(none.status == 404)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the pay page is closed to everything else and pays`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            let contract = try await counter.checkout(token, #","return_url":"https://app.example/done""#)
            let path = contract.text("checkout_url").replacing(GatewayFixture.publicURL, with: "")
            let page = try await counter.get(path)
            #expect(page.status == 200 && page.text.contains("¥39.90"))
            #expect(try await counter.get(path + "?lang=zh-Hans").text.contains("支付 ¥39.90"))
            #expect(page.header("Content-Security-Policy")?.contains("default-src 'none'") == true)
            #expect(page.header("Content-Security-Policy")?.contains("frame-ancestors 'none'") == true)
            #expect(page.header("X-Content-Type-Options") == "nosniff")
            #expect(page.header("Referrer-Policy") == "no-referrer")
            #expect(page.header("Cache-Control") == "no-store")
            let form = ["Content-Type": "application/x-www-form-urlencoded"]
            let odd = try await counter.post(path, nil, "outcome=steal", headers: form)
            #expect(odd.status == 400)
            let huge = try await counter.post(path, nil, String(repeating: "x", count: 8_193), headers: form)
            #expect(huge.status == 413)
            let paid = try await counter.post(path, nil, "outcome=succeed", headers: form)
            #expect(paid.status == 303 && paid.header("Location") == "https://app.example/done")
            let order = try await counter.get("/v1/public/orders/\(contract.text("order_id"))", token)
            #expect(try order.data.text("status") == "paid")
            #expect(
                try order.data.names.isSuperset(of: [
                    "id", "status", "origin", "sku", "quantity", "amount", "charged", "refunded", "provider",
                    "platform",
                    "environment", "subscription_id", "created_at", "paid_at", "closed_at", "anomalies", "payments",
                    "timeline",
                ]))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a node is ready when its database answers and their clocks agree`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let now = try await counter.desk.store.engine.databaseTime()
            counter.desk.clock.set(now)
            let ready = try await counter.get("/readyz")
            #expect(ready.status == 200)
            #expect(try ready.json.text("status") == "ready")
            for seconds in [120, -240] as [Int64] {
                counter.desk.clock.advance(seconds: seconds)
                let reply = try await counter.get("/readyz")
                #expect(reply.status == 503)
                #expect(try reply.json["checks"].text("clock").contains("differs"))
            }
            #expect(try await counter.get("/healthz").status == 200)
            #expect(try await counter.get("/version").json.text("version") == "0.0.0-test")
            #expect(try await counter.get("/metrics").text == "# TYPE test counter\ntest 1\n")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `products are those that the platform can buy`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine) { counter in
            let token = try await counter.token()
            func products(_ query: String) async throws -> [JSONValue] {
                try await counter.get("/v1/public/products\(query)", token).data["items"].elements
            }
            let ids: ([JSONValue]) -> Set<String> = { Set($0.map { $0.text("sku") }) }
            #expect(try await ids(products("")).count == 9)
            #expect(try await ids(products("?platform=ios")).isSuperset(of: ["trial", "vip_month", "apple_auto"]))
            #expect(try await !ids(products("?platform=ios")).contains("coins"))
            #expect(try await !ids(products("?platform=web")).contains("apple_auto"))
            #expect(try await ids(products("?currency=USD")) == ["vip_month", "walkie"])
            let chinese = try await products("?locale=zh-Hans").first { $0.text("sku") == "vip_month" }
            #expect(chinese?.text("name") == "月度会员")
            let pass = try #require(try await products("").first { $0.text("sku") == "basic_days" })
            #expect(
                pass["options"].elements.map { $0.text("apple_product_id") } == [
                    "merchant.example.day7", "merchant.example.day30",
                ])
            #expect(!"\(pass)".contains("${days}"))
        }
    }
}
