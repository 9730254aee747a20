import Domain
import Foundation
import Testing

@testable import Pages

private let pages = Pages(PageFiles(), accent: "#0a6cff")

@Suite("The cashier's pages")
struct CashierPageTests {
    @Test(arguments: PageSessions.states.map(\.name), PageLocale.allCases)
    func `every state has its words`(_ name: String, _ locale: PageLocale) throws {
        let members = try #require(PageSessions.states.first { $0.name == name }).session
        let frame = try PageSessions.frame(members, locale)
        try PageChecks.check(pages.render(frame), frame.state.word, locale, page: "cashier")
    }

    @Test(arguments: [PageState.elsewhere, .expired, .unknown, .busy, .error], PageLocale.allCases)
    func `a page without a session tells nothing of one`(_ state: PageState, _ locale: PageLocale) throws {
        let frame = CashierFrame(
            state, locale: locale, branding: try PageSessions.branding(), now: PageSessions.now)
        let html = pages.render(frame)
        try PageChecks.check(html, state.word, locale, page: "cashier")
        #expect(!html.contains("paydesk-token") && !html.contains("csrf") && !html.contains("<script"))
    }

    @Test(arguments: PageAlert.allCases, PageLocale.allCases)
    func `every alert has its words`(_ alert: PageAlert, _ locale: PageLocale) throws {
        var frame = try PageSessions.frame(#""state":"methods""#, locale)
        frame.alert = alert
        frame.requestID = "req_1"
        let html = pages.render(frame)
        try PageChecks.check(html, "methods", locale, page: "cashier")
        #expect(html.contains(#"role="alert" data-field="error" data-reason="\#(alert.rawValue)""#))
        #expect(html.contains("req_1"))
    }

    @Test(arguments: ["plans", "methods", "qr", "redirect", "paid", "owned", "checking"])
    func `hostile names stay words`(_ name: String) throws {
        let evil = #""><img src=x onerror=alert(1)>{{id}}</title><script>alert(2)</script>"#
        let members = try #require(PageSessions.states.first { $0.name == name }).session
        var frame = try PageSessions.frame(members, .english, name: evil)
        frame.branding = try PageSessions.branding(evil)
        let html = pages.render(frame)
        #expect(html.contains("&lt;script&gt;alert(2)"))
        #expect(html.matches(of: /<script/).count == 1 && !html.contains("<img src=x"))
        #expect(html.contains("{{id}}"))
    }

    @Test func `the amount, the way back and the end are in their hooks`() throws {
        let members = try #require(PageSessions.states.first { $0.name == "paid" }).session
        let html = pages.render(try PageSessions.frame(members, .english))
        #expect(html.contains(#"data-amount="3990" data-currency="CNY">¥39.90<"#))
        #expect(html.contains(#"href="https://app.example/done?a=1&amp;order_id=ord_1&amp;status=paid#f""#))
        #expect(html.contains(#"data-field="valid-until" datetime="2026-12-26T08:00:00Z""#))
        #expect(html.contains("VIP monthly is yours until ") && html.contains(">26 Dec 2026<"))
        let chinese = pages.render(try PageSessions.frame(members, .chinese))
        #expect(chinese.contains("2026年12月26日") && chinese.contains("¥39.90"))
    }

    @Test func `a page that waits refreshes itself until the payment's end`() throws {
        let members = try #require(PageSessions.states.first { $0.name == "qr" }).session
        var frame = try PageSessions.frame(members, .english)
        #expect(pages.render(frame).contains(#"<noscript><meta http-equiv="refresh" content="5"></noscript>"#))
        #expect(pages.render(frame).contains(">14:32</time>"))
        frame.now = Timestamp(1_795_680_872)
        #expect(!pages.render(frame).contains("http-equiv"))
        let choice = try PageSessions.frame(#""state":"methods""#, .english)
        #expect(!pages.render(choice).contains("http-equiv"))
    }

    @Test func `a choice shows the chosen plan while an order for another one is open`() throws {
        let members = #"""
            "state":"methods","skus":["vip_month","day_pass"],"chosen":{"sku":"day_pass","days":90},
            "order":\#(PageSessions.order())
            """#
        #expect(pages.render(try PageSessions.frame(members, .english)).contains(#"data-amount="6900""#))
    }

    @Test(arguments: [
        ("Declined. Try again.", "Declined.", "Try again."), ("付款失败。请重试。", "付款失败。", "请重试。"),
        ("The bank declined.", "The bank declined.", nil), ("Card 1.5 declined", "Card 1.5 declined", nil),
        ("", "", nil),
    ])
    func `a message is a title and the rest`(_ text: String, _ first: String, _ rest: String?) {
        let sentences = PageWords.sentences(text)
        #expect(sentences.first == first && sentences.rest == rest)
    }

    @Test func `two ways to pay of one name are told apart`() {
        func names(_ methods: [(String, ContractType, String)]) -> [String] {
            MethodWords(t: PageTexts(.english, PageFiles())).words(
                methods.map { MethodFacts(account: $0, kind: $2, display_name: "Sandbox", type: $1) }
            ).map(\.name)
        }
        let sandbox = names([("a", .url, "sandbox"), ("b", .qr, "sandbox"), ("c", .stripe, "sandbox")])
        #expect(sandbox == ["Sandbox", "Sandbox · scan a code", "Sandbox · card"])
        #expect(names([("a", .url, "alipay"), ("b", .url, "alipay")]) == ["Alipay · a", "Alipay · b"])
    }

    @Test(arguments: [
        ("Mozilla/5.0 MicroMessenger/8.0", [], true),
        ("Mozilla/5.0", ["wx:qr", "alipay_web:url"], false),
        ("Mozilla/5.0 AlipayClient/10", ["alipay_web:url", "wx:qr"], false),
    ])
    func `the methods fit the app around the page`(_ agent: String, _ order: [String], _ leavesOut: Bool) throws {
        let methods =
            leavesOut
            ? PageSessions.methods + [MethodFacts(account: "wx", kind: "wechat_pay", display_name: "", type: .qr)]
            : [
                MethodFacts(account: "wx", kind: "wechat_pay", display_name: "", type: .qr),
                MethodFacts(account: "alipay_web", kind: "alipay", display_name: "", type: .url),
            ]
        let usable = UsableMethods(methods, agent: agent)
        let names = usable.items.map { "\($0.account):\($0.type.rawValue)" }
        #expect(usable.isPartOf == leavesOut)
        #expect(leavesOut ? !names.contains("wx:qr") : names == order)
    }

    /// WeChat's browser, as it names itself.
    private static let weChat = "Mozilla/5.0 (iPhone) Mobile/15E148 MicroMessenger/8.0.50 NetType/WIFI Language/zh_CN"

    @Test(arguments: [
        (weChat, ["wx:wechat_jsapi", "paypal_main:url"], false),
        (weChat + " miniProgram/wx0000000000000001", ["paypal_main:url"], true),
        ("Mozilla/5.0", ["wx:qr", "paypal_main:url"], false),
    ])
    func `inside WeChat its sheet stands first, and no page offers what only an app can do`(
        _ agent: String, _ order: [String], _ leavesOut: Bool
    ) {
        let types: [(String, String, ContractType)] = [
            ("wx", "wechat_pay", .qr), ("paypal_main", "paypal", .url), ("ali-app", "alipay", .alipayApp),
            ("wx-app", "wechat_pay", .wechatApp), ("wx", "wechat_pay", .wechatJSAPI),
        ]
        let usable = UsableMethods(
            types.map { MethodFacts(account: $0, kind: $1, display_name: "", type: $2) }, agent: agent)
        #expect(usable.items.map { "\($0.account):\($0.type.rawValue)" } == order && usable.isPartOf == leavesOut)
    }

    @Test(arguments: PageLocale.allCases)
    func `WeChat's button stands only inside WeChat`(_ locale: PageLocale) throws {
        let members = try #require(PageSessions.states.first { $0.name == "wechat_jsapi" }).session
        var frame = try PageSessions.frame(members, locale)
        #expect(!pages.render(frame).contains("wechat-pay"))
        frame.agent = Self.weChat
        let html = pages.render(frame)
        try PageChecks.check(html, "wechat_jsapi", locale, page: "cashier")
        #expect(html.contains(#"type="button" data-action="wechat-pay" disabled>"#) && html.contains("¥39.90"))
        frame.agent += " miniProgram/wx0000000000000001"
        #expect(!pages.render(frame).contains("wechat-pay"))
    }
}
