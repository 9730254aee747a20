import Domain
import Foundation
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The portal's pages over HTTP")
struct PortalRouteTests {
    @Test func `a token opens the portal by a cookie of its own path`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let visitor = try await counter.portal(of: try await counter.token())
            let token = visitor.session.text("token")
            for _ in 0..<2 {
                let entered = try await counter.get("/portal/" + token)
                #expect(entered.status == 303 && entered.header("Location") == visitor.path)
                let parts = try #require(entered.header("Set-Cookie")).split(separator: "; ").map(String.init)
                #expect(parts[0] == "paydesk_session=" + token)
                #expect(Set(parts.dropFirst()) == ["Path=\(visitor.path)", "HttpOnly", "SameSite=Lax", "Secure"])
            }
            let page = try await visitor.get()
            #expect(page.status == 200)
            #expect(try page.state == "overview")
            #expect(try page.main("session") == visitor.session.text("id"))
            let checkout = try await counter.session(try await counter.token(), "vip_month")
            for other in ["pds_" + String(repeating: "A", count: 43), "nothing", "s", checkout.text("token")] {
                let unknown = try await counter.get("/portal/" + other)
                #expect(unknown.status == 404, "\(other)")
                #expect(try unknown.state == "unknown", "\(other)")
            }
            let odd = try await counter.get("/portal/%00")
            #expect(odd.status == 400)
            #expect(try odd.state == "error")
            counter.desk.clock.advance(seconds: 901)
            for path in ["/portal/" + token, visitor.path, visitor.path + "/orders/ord_1"] {
                let ended = try await counter.get(path, headers: ["Cookie": "paydesk_session=\(token)"])
                #expect(ended.status == 410, "\(path)")
                #expect(try ended.state == "expired", "\(path)")
            }
        }
    }

    @Test func `another browser learns nothing, whether or not the session exists`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let user = try await counter.token()
            let (one, two) = (try await counter.portal(of: user), try await counter.portal(of: user))
            let checkout = try await counter.session(user, "vip_month").text("token")
            var bodies: Set<String> = []
            for path in [one.path, "/portal/s/ses_00000000000000000000000000", one.path + "/orders/ord_1"] {
                for cookie in ["", two.session.text("token"), checkout, "x"] {
                    let headers = cookie.isEmpty ? [:] : ["Cookie": "paydesk_session=\(cookie)"]
                    let page = try await counter.get(path, headers: headers)
                    #expect(page.status == 200)
                    #expect(try page.state == "elsewhere")
                    bodies.insert(page.text)
                    let form = try await counter.send(.post, path, body: "act=language&lang=en", headers: headers)
                    #expect(try form.state == "elsewhere")
                }
            }
            #expect(bodies.count == 1 && !(bodies.first ?? "").contains("pds_"))
        }
    }

    @Test func `each page has the headers of its policy and nothing inline`() async throws {
        try await withClub(on: .sqlite) { counter in
            let club = try await counter.subscriber()
            let order = try await counter.get("/v1/public/orders", club.user).data["items"].elements[0].text("id")
            for (below, policy) in [
                ("", "same-origin"), ("/orders/\(order)", "same-origin"), (club.place, "same-origin"),
                (club.place + "?view=cancel", "same-origin"), (club.card, "same-origin-allow-popups"),
                ("/nothing", "same-origin"),
            ] {
                let page = try await club.visitor.get(below)
                let csp = try #require(page.header("Content-Security-Policy"))
                #expect(csp.contains("require-trusted-types-for 'script'") && !csp.contains("unsafe"), "\(below)")
                #expect(page.header("Cross-Origin-Opener-Policy") == policy, "\(below)")
                #expect(page.header("Cache-Control") == "no-store" && page.header("X-Frame-Options") == "DENY")
                #expect(
                    page.text.firstMatch(of: /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=/) == nil, "\(below)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a user sees what is owned and bought, and nobody else's`(_ engine: TestEngine) async throws {
        try await withCounter(on: engine, .cny) { counter in
            let user = try await counter.token()
            let contract = try await counter.checkout(user, #","provider":"box-url""#)
            #expect(try await counter.notify("payment.succeeded", contract).status == 200)
            let order = contract.text("order_id")
            let visitor = try await counter.portal(of: user, more: #","return_url":"https://app.example/account""#)
            let page = try await visitor.get()
            let grants = try await counter.get("/v1/public/entitlements", user).data["entitlements"].elements
            #expect(!grants.isEmpty)
            for grant in grants {
                #expect(page.text.contains(#"data-entitlement="\#(grant.text("id"))" data-status="active""#))
            }
            #expect(page.text.contains(#"data-order="\#(order)" data-status="paid""#))
            #expect(page.text.contains(#"href="https://app.example/account" data-action="back""#))
            let receipt = try await visitor.get("/orders/\(order)")
            #expect(receipt.status == 200)
            #expect(try receipt.state == "order")
            #expect(receipt.text.contains(order) && receipt.text.contains("¥39.90"))
            let other = try await counter.portal(of: try await counter.token("bob"))
            for below in [
                "/orders/\(order)", "/orders/ord_00000000000000000000000000", "/orders", "/subscriptions",
                "/subscriptions/sub_00000000000000000000000000", "/subscriptions/x/card", "/nothing",
            ] {
                let missing = try await other.get(below)
                #expect(missing.status == 404, "\(below)")
                #expect(try missing.state == "unknown", "\(below)")
                #expect(!missing.text.contains("39.90"), "\(below)")
            }
            #expect(!(try await other.get().text.contains("data-order=\"")))
        }
    }

    @Test func `orders beyond the first twenty are on further pages`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let user = try await counter.token()
            for _ in 0..<23 {
                let contract = try await counter.checkout(user, #","provider":"box-url""#, sku: "coins")
                #expect(try await counter.notify("payment.succeeded", contract).status == 200)
            }
            let visitor = try await counter.portal(of: user)
            let first = try await visitor.get()
            func orders(_ page: Reply) -> [String] {
                page.text.matches(of: /<li data-order="([^"]+)"/).map { String($0.output.1) }
            }
            let next = try #require(first.text.firstMatch(of: /href="([^"]+\?cursor=[^"]+)"/)).output.1
            let second = try await visitor.get(String(next.dropFirst(visitor.path.count)))
            #expect(orders(first).count == 20 && orders(second).count == 3)
            #expect(Set(orders(first) + orders(second)).count == 23 && second.text.contains("data-action=\"newest\""))
        }
    }

    /// Forms of the portal that do nothing.
    private static let faults: [(act: String, fields: [String: String])] = [
        ("plan", ["sku": "vip_month"]), ("method", ["method": "box-url:url"]),
        ("cancel_renewal", ["subscription": "sub_00000000000000000000000000"]), ("nothing", [:]),
        ("language", ["lang": "de"]),
    ]

    @Test func `nothing is bought here, and a foreign form is refused`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let user = try await counter.token()
            let visitor = try await counter.portal(of: user)
            let before = try await counter.traces()
            for (act, fields) in Self.faults {
                let reply = try await visitor.act(act, fields)
                #expect(reply.status == 200, "\(act)")
                #expect(reply.text.contains(#"data-reason="invalid""#), "\(act)")
            }
            for (headers, code) in CashierRouteTests.foreign {
                let refused = try await visitor.act("language", ["lang": "zh-Hans"], code: code, headers: headers)
                #expect(refused.status == 403, "\(headers)")
                #expect(refused.text.contains(#"data-reason="forbidden""#))
            }
            let gone = try await visitor.act("cancel_renewal", at: "/subscriptions/sub_00000000000000000000000000")
            #expect(gone.status == 404)
            #expect(try await counter.traces() == before)
            let taken = try await visitor.act("language", ["lang": "zh-Hans"], at: "/orders/x")
            #expect(taken.status == 303 && taken.header("Location") == visitor.path + "/orders/x")
            #expect(try await visitor.get().text.contains(#"<html lang="zh-Hans" data-page="portal">"#))
        }
    }

    @Test func `too many pages of one address are refused as a page`() async throws {
        var setup = CounterSetup.cny
        setup.limits.pagesPerSecond = 1
        setup.limits.pagesBurst = 3
        try await withCounter(on: .sqlite, setup) { counter in
            var states: [String?] = []
            for _ in 0..<4 { states.append(try await counter.get("/portal/nothing").state) }
            #expect(states == ["unknown", "unknown", "unknown", "busy"])
        }
    }
}
