import Domain
import Foundation
import HTTPTypes
import Store
import TestSupport
import Testing

@testable import Gateway
@testable import HTTPAPI

@Suite("The cashier's pages over HTTP")
struct CashierRouteTests {
    @Test func `a token opens the page by a cookie of its own path`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let session = try await counter.session(try await counter.token(), "vip_month")
            let visitor = Visitor(counter: counter, session: session)
            for _ in 0..<2 {
                let entered = try await counter.get("/pay/" + session.text("token"))
                #expect(entered.status == 303 && entered.header("Location") == visitor.path)
                let parts = try #require(entered.header("Set-Cookie")).split(separator: "; ").map(String.init)
                #expect(parts[0] == "paydesk_session=" + session.text("token"))
                #expect(Set(parts.dropFirst()) == ["Path=\(visitor.path)", "HttpOnly", "SameSite=Lax", "Secure"])
                #expect(entered.header("Referrer-Policy") == "no-referrer")
            }
            let page = try await visitor.get()
            #expect(page.status == 200)
            #expect(try page.state == "methods")
            #expect(page.text.contains(#"<meta name="paydesk-token" content="\#(session.text("token"))">"#))
            #expect(try await counter.desk.count("orders") == 0)
            for token in ["pds_" + String(repeating: "A", count: 43), "nothing", "s"] {
                let unknown = try await counter.get("/pay/" + token)
                #expect(unknown.status == 404, "\(token)")
                #expect(try unknown.state == "unknown", "\(token)")
            }
            let odd = try await counter.get("/pay/%00")
            #expect(odd.status == 400)
            #expect(try odd.state == "error")
            let portal = try await counter.session(try await counter.token(), purpose: "portal")
            #expect(try await counter.get("/pay/" + portal.text("token")).status == 404)
            counter.desk.clock.advance(seconds: 1_801)
            let ended = try await counter.get("/pay/" + session.text("token"))
            #expect(ended.status == 410)
            #expect(try ended.state == "expired")
            #expect(try await visitor.get().status == 410)
        }
    }

    @Test func `another browser learns nothing, whether or not the session exists`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let user = try await counter.token()
            let (session, other) = (
                try await counter.session(user, "vip_month"), try await counter.session(user, "vip_year")
            )
            _ = try await counter.buy(session)
            let none = "ses_00000000000000000000000000"
            var bodies: Set<String> = []
            for id in [session.text("id"), none] {
                for cookie in ["", "paydesk_session=\(other.text("token"))", "paydesk_session=x"] {
                    let page = try await counter.get("/pay/s/\(id)", headers: cookie.isEmpty ? [:] : ["Cookie": cookie])
                    #expect(page.status == 200)
                    #expect(try page.state == "elsewhere")
                    bodies.insert(page.text)
                    let form = try await counter.send(
                        .post, "/pay/s/\(id)", body: "act=cancel", headers: cookie.isEmpty ? [:] : ["Cookie": cookie])
                    #expect(try form.state == "elsewhere")
                }
                #expect(try await counter.get("/pay/s/\(id)/qr.svg").status == 404)
            }
            #expect(bodies.count == 1)
            #expect(!(bodies.first ?? "").contains("VIP") && !(bodies.first ?? "").contains("pds_"))
        }
    }

    /// Headers of a form that make it foreign, and its code; nil for the page's own.
    static let foreign: [([String: String], String?)] = [
        ([:], "x"), ([:], ""), (["Sec-Fetch-Site": "cross-site"], nil), (["Sec-Fetch-Site": "same-site"], nil),
        (["Origin": "https://evil.example"], nil), (["Origin": "https://pay.example.evil"], nil),
        (["Origin": "http://pay.example"], nil),
    ]

    @Test func `a form is taken from the session's own page only`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let user = try await counter.token()
            let visitor = Visitor(counter: counter, session: try await counter.session(user, "vip_month"))
            let other = Visitor(counter: counter, session: try await counter.session(user, "vip_month"))
            let choice = ["method": "box-url:url"]
            let theirs = try await other.csrf()
            for (headers, code) in Self.foreign + [([:], theirs)] {
                let refused = try await visitor.act("method", choice, code: code, headers: headers)
                #expect(refused.status == 403, "\(headers)")
                #expect(refused.text.contains(#"role="alert" data-field="error" data-reason="forbidden""#))
            }
            #expect(try await counter.desk.count("orders") == 0)
            let code = try await visitor.csrf()
            for headers in [["Origin": "null"], ["Origin": "", "Sec-Fetch-Site": ""]] {
                let taken = try await visitor.act("language", ["lang": "zh-Hans"], code: code, headers: headers)
                #expect(taken.status == 303 && taken.header("Location") == visitor.path, "\(headers)")
            }
            #expect(try await visitor.get().text.contains(#"<html lang="zh-Hans""#))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a payer goes from the choice to the receipt by forms`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let session = try await counter.session(
                try await counter.token(), "vip_month", "vip_year", more: #","return_url":"https://app.example/done""#)
            let visitor = Visitor(counter: counter, session: session)
            #expect(try await visitor.get().state == "plans")
            #expect(try await visitor.act("plan", ["sku": "vip_month"]).status == 303)
            let choice = try await visitor.get()
            #expect(try choice.state == "methods")
            #expect(choice.text.contains(#"data-amount="3990" data-currency="CNY""#))
            let method = try #require(
                choice.text.matches(of: /name="method" value="([^"]+:qr)"/).first.map { String($0.output.1) })
            let opened = try await visitor.act("method", ["method": method])
            #expect(opened.status == 303 && opened.header("Location") == visitor.path, "\(opened)")
            let code = try await visitor.get()
            #expect(try code.state == "qr")
            #expect(try code.main("next-action") == "pay")
            #expect(code.text.contains(#"<noscript><meta http-equiv="refresh" content="5"></noscript>"#))
            #expect(try await visitor.get("/qr.png").header("Content-Type") == "image/png")
            #expect(try await visitor.get("?view=plans").state == "plans")
            let contract = try await counter.shown(session)["contract"]
            #expect(try await counter.notify("payment.succeeded", contract).status == 200)
            let paid = try await visitor.get()
            #expect(try paid.state == "paid")
            #expect(try paid.main("order") == contract.text("order_id"))
            #expect(
                paid.text.contains("https://app.example/done?order_id=\(contract.text("order_id"))&amp;status=paid"))
            let late = try await visitor.act("method", ["method": method])
            #expect(late.status == 200)
            #expect(try late.state == "paid")
            #expect(late.text.contains(#"data-reason="conflict""#))
            #expect(try await visitor.get("/qr.svg").status == 410)
            #expect(try await counter.desk.count("orders") == 1)
        }
    }

    /// A form that cannot be done, and the alert that says so.
    static let faults: [(String, [String: String], String)] = [
        ("nothing", [:], "invalid"), ("plan", ["sku": "nothing"], "invalid"),
        ("plan", ["sku": "vip_month", "days": "x"], "invalid"), ("method", [:], "invalid"),
        ("method", ["method": "nobody:url"], "no_provider_available"),
        ("method", ["method": "box-url:cash"], "invalid"),
        ("cancel", [:], "invalid"), ("check", [:], "invalid"), ("language", ["lang": "de"], "invalid"),
    ]

    @Test func `a form that cannot be done says why and changes nothing`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let session = try await counter.session(try await counter.token(), "vip_month")
            let visitor = Visitor(counter: counter, session: session)
            let before = try await counter.traces()
            for (act, fields, reason) in Self.faults {
                let reply = try await visitor.act(act, fields)
                #expect(reply.status == 200, "\(act) \(fields): \(reply.status)")
                #expect(reply.text.contains(#"data-reason="\#(reason)""#), "\(act) \(fields)")
            }
            #expect(try await counter.traces() == before)
        }
    }

    @Test func `a look makes nothing`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let session = try await counter.session(try await counter.token(), "vip_month")
            let visitor = Visitor(counter: counter, session: session)
            let before = try await counter.traces()
            for more in [
                "", "?view=plans", "?view=methods", "?act=method&method=box-url:url",
                "?redirect_status=succeeded&payment_intent=pi_x", "/qr.svg",
            ] {
                #expect(try await visitor.get(more).status == 200, "\(more)")
            }
            #expect(try await counter.traces() == before)
        }
    }

    @Test func `a page has the headers of its policy and nothing inline`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let session = try await counter.session(try await counter.token(), "vip_month")
            let page = try await Visitor(counter: counter, session: session).get()
            let policy = try #require(page.header("Content-Security-Policy"))
            #expect(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'"))
            #expect(policy.contains("require-trusted-types-for 'script'") && !policy.contains("unsafe"))
            let expected = [
                "Referrer-Policy": "strict-origin", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
                "X-Robots-Tag": "noindex", "Cache-Control": "no-store",
                "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
                "Permissions-Policy": #"payment=(self "https://js.stripe.com")"#,
                "Strict-Transport-Security": "max-age=31536000", "Content-Type": "text/html; charset=utf-8",
            ]
            for (name, value) in expected { #expect(page.header(name) == value, "\(name)") }
            #expect(page.text.firstMatch(of: /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=/) == nil)
            let zipped = try await Visitor(counter: counter, session: session).get(headers: ["Accept-Encoding": "gzip"])
            #expect(zipped.header("Content-Encoding") == "gzip")
        }
    }

    @Test func `the files of a page are immutable, and no other file is served`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let session = try await counter.session(try await counter.token(), "vip_month")
            let page = try await Visitor(counter: counter, session: session).get()
            let addresses = page.text.matches(of: /"(\/assets\/[^"]+)"/).map { String($0.output.1) }
            #expect(addresses.count == 5, "\(addresses)")
            for address in addresses {
                let asset = try await counter.get(address)
                #expect(asset.status == 200, "\(address)")
                #expect(asset.header("Cache-Control") == "public, max-age=31536000, immutable")
                #expect(asset.header("Vary") == "Accept-Encoding")
            }
            for path in ["/assets/sdk/pay.css", "/assets/theme.css", "/assets/sdk/..%2F..%2Fetc%2Fpasswd", "/sdk/x.js"]
            {
                #expect(try await counter.get(path).status == 404, "\(path)")
            }
            let client = try await counter.get("/sdk/paydesk.js")
            #expect(client.text == "export * from \"./0.0.0-test/paydesk.js\";\n")
            #expect(client.header("Access-Control-Allow-Origin") == "*")
            #expect(try await counter.get("/sdk/0.0.0-test/paydesk.js").status == 200)
            #expect(try await counter.get("/sdk/1.2.3/paydesk.js").status == 404)
        }
    }

    @Test func `too many pages of one address are refused as a page`() async throws {
        var setup = CounterSetup.cny
        setup.limits.pagesPerSecond = 1
        setup.limits.pagesBurst = 3
        try await withCounter(on: .sqlite, setup) { counter in
            var statuses: [Int] = []
            for _ in 0..<4 {
                let page = try await counter.get("/pay/nothing", headers: ["Accept-Language": "zh-CN"])
                statuses.append(page.status)
                if page.status == 429 {
                    #expect(try page.state == "busy")
                    #expect(page.header("Retry-After") == "1" && page.text.contains(#"<html lang="zh-Hans""#))
                }
            }
            #expect(statuses == [404, 404, 404, 429])
        }
    }

    @Test func `the token is in no log`() async throws {
        let capture = LogCapture()
        var setup = CounterSetup.cny
        setup.desk.logger = capture.logger()
        try await withCounter(on: .sqlite, setup) { counter in
            let session = try await counter.session(try await counter.token(), "vip_month")
            let visitor = Visitor(counter: counter, session: session)
            _ = try await counter.get("/pay/" + session.text("token"))
            _ = try await visitor.act("method", ["method": "box-url:url"])
            _ = try await visitor.act("method", ["method": "nobody:url"])
            #expect(capture.text.contains("/pay/{token}"))
            #expect(!capture.text.contains(session.text("token").dropFirst(4)))
        }
    }
}
