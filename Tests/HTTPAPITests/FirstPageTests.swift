import Domain
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The page at / over HTTP")
struct FirstPageTests {
    private static let form = ["Content-Type": "application/x-www-form-urlencoded"]
    private static let own = form.merging(["Origin": "https://pay.example", "Sec-Fetch-Site": "same-origin"]) { $1 }

    private func withDevelopment(
        _ isDevelopment: Bool = true, _ body: @Sendable (Counter) async throws -> Void
    ) async throws {
        var setup = CounterSetup.cny
        setup.desk.isDevelopment = isDevelopment
        try await withCounter(on: .sqlite, setup, body)
    }

    @Test func `a test purchase leads to the cashier of the user demo`() async throws {
        try await withDevelopment { counter in
            let page = try await counter.get("/", headers: ["Accept-Language": "en"])
            #expect(page.status == 200 && page.header("Cache-Control") == "no-store")
            #expect(page.header("Content-Security-Policy")?.contains("form-action 'self'") == true)
            #expect(page.text.contains(#"<option value="vip_month">"#))
            let chinese = try await counter.get("/?lang=zh-Hans", headers: ["Accept-Language": "en"])
            #expect(chinese.text.contains(#"<html lang="zh-Hans""#) && chinese.text.contains("月度会员"))
            let bought = try await counter.send(.post, "/", body: "sku=vip_month", headers: Self.own)
            let address = try #require(bought.header("Location"))
            #expect(bought.status == 303)
            #expect(address.wholeMatch(of: /https:\/\/pay\.example\/pay\/pds_[A-Za-z0-9_-]{43}/) != nil, "\(address)")
            let token = String(address.split(separator: "/").last ?? "")
            let session = try await counter.get("/v1/public/session", token).data
            #expect(session["chosen"].text("sku") == "vip_month" && session.text("currency") == "CNY")
        }
    }

    @Test func `a SKU without a price in the default currency is bought in its own`() async throws {
        try await withDevelopment { counter in
            let bought = try await counter.send(.post, "/", body: "sku=walkie", headers: Self.own)
            let token = String(try #require(bought.header("Location")).split(separator: "/").last ?? "")
            #expect(try await counter.get("/v1/public/session", token).data.text("currency") == "USD")
        }
    }

    /// Forms that make no session, with the status of the page that is shown again and its alert.
    static let refused: [(body: String, headers: [String: String], status: Int, alert: String)] = [
        ("sku=vip_month", form.merging(["Origin": "https://evil.example"]) { $1 }, 403, "forbidden"),
        ("sku=vip_month", form.merging(["Sec-Fetch-Site": "cross-site"]) { $1 }, 403, "forbidden"),
        ("sku=vip_month", form.merging(["Sec-Fetch-Site": "same-site"]) { $1 }, 403, "forbidden"),
        ("sku=nothing", own, 200, "invalid"), ("", own, 200, "invalid"), ("sku=apple_auto", own, 200, "invalid"),
    ]

    @Test(arguments: refused)
    func `another form makes nothing`(
        _ row: (body: String, headers: [String: String], status: Int, alert: String)
    ) async throws {
        try await withDevelopment { counter in
            let reply = try await counter.send(.post, "/", body: row.body, headers: row.headers)
            #expect(reply.status == row.status && reply.text.contains(#"data-page="home""#))
            #expect(reply.text.contains(#"data-reason="\#(row.alert)""#))
            #expect(try await counter.desk.count("sessions") == 0)
        }
    }

    @Test func `production makes no test purchase and tells nothing of itself`() async throws {
        try await withDevelopment(false) { counter in
            let page = try await counter.get("/")
            #expect(page.status == 200 && page.text.contains(#"data-page="home""#))
            #expect(!page.text.contains("test-purchase") && !page.text.contains("pay.example"))
            #expect(try await counter.send(.post, "/", body: "sku=vip_month", headers: Self.own).status == 405)
        }
    }

    @Test func `robots are turned away, and the icon is there`() async throws {
        try await withDevelopment(false) { counter in
            let robots = try await counter.get("/robots.txt")
            #expect(robots.status == 200 && robots.text == "User-agent: *\nDisallow: /\n")
            let icon = try await counter.get("/favicon.ico")
            #expect(icon.status == 200 && icon.header("Content-Type") == "image/vnd.microsoft.icon")
        }
    }
}
