import Domain
import Foundation
import Testing

@testable import Pages

private let pages = Pages(PageFiles(), accent: "#0a6cff")

@Suite("The portal's pages")
struct PortalPageTests {
    private static func html(_ name: String, _ locale: PageLocale = .english) throws -> String {
        pages.render(try PortalSamples.frame(name, locale))
    }

    @Test(arguments: PortalSamples.names, PageLocale.allCases)
    func `every page has its words`(_ name: String, _ locale: PageLocale) throws {
        let frame = try PortalSamples.frame(name, locale)
        let html = pages.render(frame)
        try PageChecks.check(html, frame.page.word, locale, page: "portal")
        // The cookie has the session's token, and no script of this page needs it.
        #expect(!html.contains("paydesk-token"))
    }

    @Test(arguments: [PageState.elsewhere, .expired, .unknown, .busy, .error], PageLocale.allCases)
    func `a page without a session tells nothing of one`(_ state: PageState, _ locale: PageLocale) throws {
        let frame = PortalFrame(
            .message(state), locale: locale, branding: try PageSessions.branding(), now: PortalSamples.now)
        let html = pages.render(frame)
        try PageChecks.check(html, state.word, locale, page: "portal")
        #expect(!html.contains("paydesk-token") && !html.contains("csrf") && !html.contains("<script"))
    }

    @Test(arguments: PageAlert.allCases, PageLocale.allCases)
    func `every alert has its words`(_ alert: PageAlert, _ locale: PageLocale) throws {
        for name in ["overview", "order", "sub active", "plans", "cancel", "card methods"] {
            var frame = try PortalSamples.frame(name, locale)
            frame.alert = alert
            frame.requestID = "req_1"
            let html = pages.render(frame)
            try PageChecks.check(html, frame.page.word, locale, page: "portal")
            #expect(html.contains(#"role="alert" data-field="error" data-reason="\#(alert.rawValue)""#), "\(name)")
            #expect(html.contains("req_1"))
        }
    }

    @Test func `units of tests stand apart`() throws {
        let html = try Self.html("overview")
        #expect(html.matches(of: /data-balance="coins"/).count == 2 && html.split(separator: " · Test<").count == 2)
        #expect(html.contains(">320<") && html.contains(">20<") && !html.contains(">340<"))
    }

    @Test(arguments: PortalSamples.names)
    func `hostile names stay words`(_ name: String) throws {
        let evil = #""><img src=x onerror=alert(1)>{{id}}</title><script>alert(2)</script>"#
        var frame = try PortalSamples.frame(name, .english, words: evil)
        frame.branding = try PageSessions.branding(evil)
        let html = pages.render(frame)
        #expect(html.contains("&lt;script&gt;alert(2)"))
        #expect(html.matches(of: /<script/).count == 1 && !html.contains("<img src=x"))
    }

    /// The acts of each page of a subscription.
    static let acts: [(String, Set<String>)] = [
        ("sub active", ["new-card", "cancel-renewal", "change-plan"]), ("sub ended", []),
        ("sub trial", ["new-card", "cancel-renewal", "change-plan"]),
        ("sub grace", ["pay", "new-card", "cancel-renewal"]),
        ("sub charging", ["new-card", "cancel-renewal", "change-plan"]),
        ("sub confirm", ["pay", "new-card", "cancel-renewal"]), ("sub retry", ["pay", "new-card", "cancel-renewal"]),
        ("sub suspended", ["new-card", "cancel-renewal"]), ("sub cancelled", ["resume"]),
        ("sub changed", ["new-card", "cancel-renewal", "change-plan", "keep-plan"]),
        ("sub store", ["manage-app-store"]),
        ("cancel", ["confirm", "keep"]), ("change", ["confirm", "keep"]), ("plans", ["choose-plan", "keep"]),
    ]

    @Test(arguments: acts) func `a subscription has the acts of its state`(_ name: String, _ acts: Set<String>) throws {
        let always: Set = ["back", "support", "language", "receipt"]
        let shown = try Self.html(name).matches(of: /data-action="([^"]+)"/).map { String($0.output.1) }
        #expect(Set(shown).subtracting(always) == acts)
    }

    @Test func `the overview has its hooks`() throws {
        let html = try Self.html("overview")
        #expect(html.contains(#"<li class="panel own" data-entitlement="grt_100" data-status="active">"#))
        #expect(
            html.contains(
                #"data-subscription="sub_2" data-status="active" data-source="app_store" data-manage="app_store""#))
        #expect(html.contains(#"<li data-order="ord_1" data-status="partially_refunded">"#))
        #expect(html.contains(#"href="https://apps.apple.com/account/subscriptions" data-action="manage-app-store""#))
        #expect(html.contains(#"href="https://app.example/account?a=1" data-action="back""#))
        #expect(html.contains(#"href="/portal/s/ses_1/orders/ord_1" data-action="receipt""#))
        #expect(html.contains(#"href="/portal/s/ses_1?cursor=ord_0""#) && html.contains("Visa ending 4242"))
        #expect(html.contains(#"data-balance="coins""#) && !html.contains(#"data-balance="spent""#))
        #expect(try Self.html("overview", .chinese).contains("Visa，尾号 4242"))
        #expect(html.matches(of: /data-amount="3990" data-currency="CNY">¥39.90</).count == 4)
    }

    @Test func `a receipt has what a payer needs to show`() throws {
        let html = try Self.html("order")
        for part in [
            "Walkie-talkie × 2", "¥39.90", "26 Nov 2026, 07:59", "Alipay", "ord_1", "Aurora Ltd", "From Aurora",
        ] {
            #expect(html.contains(part), "\(part)")
        }
        #expect(html.contains(#"data-order="ord_1" data-order-status="paid""#))
        #expect(html.contains(#"href="https://aurora.example/support?order=ord_1" data-action="support""#))
        #expect(!html.contains(#"data-field="tax""#) && !html.contains(#"data-field="refund""#))
        let back = try Self.html("order refunded")
        #expect(
            back.matches(of: /data-field="refund"/).count == 1 && back.contains("¥10.00") && back.contains("¥29.90"))
        #expect(try Self.html("order open").contains("Not paid yet"))
        #expect(try Self.html("order of a store").contains("Apple sends the invoice"))
    }

    @Test func `a receipt has a tax where the tax is known`() throws {
        let text = PortalSamples.order("").replacing(
            #""charged":null"#, with: #""charged":null,"tax":{"value":459,"currency":"CNY"}"#)
        var frame = PortalFrame(
            .order(try PortalSamples.decode(text)), locale: .english, branding: try PageSessions.branding(),
            now: PortalSamples.now)
        frame.names = ["walkie": "Walkie-talkie"]
        let html = pages.render(frame)
        #expect(html.contains(#"<div data-field="tax"><dt>Tax included</dt>"#) && html.contains("¥4.59"))
    }

    /// Addresses of a shop's support, and those that carry an order.
    static let support = [
        ("https://aurora.example/help", "https://aurora.example/help?order=ord_1"),
        ("https://aurora.example/help?a=1#form", "https://aurora.example/help?a=1&amp;order=ord_1#form"),
        ("mailto:help@aurora.example", "mailto:help@aurora.example?subject=ord_1"),
    ]

    @Test(arguments: support) func `support carries the order`(_ address: String, _ carried: String) throws {
        var frame = try PortalSamples.frame("order", .english)
        frame.branding = try PortalSamples.decode(
            #"{"name":"Aurora","support_url":"\#(address)","merchant_lines":[],"test":false}"#)
        #expect(pages.render(frame).contains(#"href="\#(carried)" data-action="support""#))
    }

    /// The part of each page of a payment method, and whether it is loaded again by itself.
    static let cards = [
        ("card methods", "methods", false), ("card failed", "methods", false), ("card pay", "methods", false),
        ("card redirect", "redirect", true), ("card qr", "qr", true), ("card stripe", "stripe", false),
        ("card checking", "checking", true), ("card paid", "paid", false), ("card replaced", "paid", false),
    ]

    @Test(arguments: cards)
    func `a payment method is shown by the cashier's states`(_ name: String, _ state: String, _ waits: Bool) throws {
        let html = try Self.html(name)
        #expect(html.firstMatch(of: try Regex(#"<section class="[^"]*" data-state="\#(state)""#)) != nil)
        #expect(html.contains("http-equiv") == waits)
        #expect(!html.contains(#"data-action="cancel""#) && !html.contains(#"data-action="other-plan""#))
        let forms = html.matches(of: /action="([^"]+)"/).map { String($0.output.1) }
        #expect(forms.allSatisfy { $0.hasSuffix("/subscriptions/sub_1/card") || !$0.hasPrefix("/") })
    }

    @Test func `a card's form gets its contract, and nothing else does`() throws {
        let html = try Self.html("card stripe")
        #expect(html.contains(#"data-key="pk_test_x" data-secret="seti_secret" data-replaces"#))
        #expect(html.contains(">Save the card</button>"))
        #expect(!(try Self.html("card redirect").contains("data-secret")))
    }

    @Test func `where nothing is paid, the page speaks of a payment method`() throws {
        for name in ["card redirect", "card qr"] {
            let html = try Self.html(name)
            #expect(html.contains("Waiting for your payment method") && html.contains(">I have agreed</button>"))
            #expect(!html.contains("I have paid") && !html.contains("Pay there"))
        }
    }

    @Test func `an act that costs something is asked for once more, with the consequence`() throws {
        let cancel = try Self.html("cancel")
        #expect(cancel.contains("The charge of ¥39.90 on that day will not be made."))
        #expect(cancel.contains(#"<time datetime="2026-12-26T08:00:00Z" data-local="day">26 Dec 2026</time>"#))
        #expect(cancel.contains(#"name="confirmed" value="yes""#) && cancel.contains(#"value="cancel_renewal""#))
        #expect(try Self.html("cancel now").contains("ends at once"))
        let change = try Self.html("change")
        #expect(
            change.contains("¥399.00") && change.contains("every year")
                && change.contains(#"name="sku" value="vip_year""#))
    }
}
