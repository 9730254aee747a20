import Domain
import Foundation
import HTTPTypes
import ProviderKit
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The cashier inside WeChat")
struct WeChatCashierTests {
    private static let sheet = #"value="wechat:wechat_jsapi""#
    private static let note = #"data-note="in_wechat""#

    private static func visitor(
        _ counter: Counter, _ user: String = "alice", agent: String = Visitor.weChat, more: String = ""
    ) async throws -> Visitor {
        let session = try await counter.session(try await counter.token(user), "vip_month", more: more)
        return Visitor(counter: counter, session: session, agent: agent)
    }

    /// Returns the state with which a payer is sent to WeChat.
    private static func sentOff(_ visitor: Visitor) async throws -> String {
        let reply = try await visitor.get()
        try #require(reply.status == 303, "\(reply)")
        let address = try #require(reply.header("Location"))
        let back = "https://pay.example\(visitor.path)/wechat"
        let match = try #require(
            address.wholeMatch(
                of: /https:\/\/open\.weixin\.qq\.com\/connect\/oauth2\/authorize\?redirect=(.+)&state=(\w+)#.+/))
        #expect(match.output.1 == back && (16...128).contains(match.output.2.count))
        return String(match.output.2)
    }

    @Test(arguments: TestEngine.allCases)
    func `a payer is sent to WeChat once, and pays in its sheet`(_ engine: TestEngine) async throws {
        try await withWeChat(on: engine) { counter, wechat in
            let visitor = try await Self.visitor(counter)
            let state = try await Self.sentOff(visitor)
            let back = try await visitor.get("/wechat?code=c1&state=\(state)")
            #expect(back.status == 303 && back.header("Location") == visitor.path, "\(back)")
            #expect(wechat.codes == ["c1"])
            let choice = try await visitor.get()
            #expect(try choice.status == 200 && choice.state == "methods")
            #expect(choice.text.contains(Self.sheet) && !choice.text.contains("wechat:qr"))
            #expect(!choice.text.contains(Self.note))
            #expect(try await counter.desk.count("orders") == 0)
            #expect(try await visitor.act("method", ["method": "wechat:wechat_jsapi"]).status == 303)
            let page = try await visitor.get()
            #expect(try page.state == "wechat_jsapi")
            #expect(page.text.contains(#"data-action="wechat-pay" disabled>"#))
            #expect(wechat.payers == [WalletPayer(appID: ScriptedWeChat.appID, openID: ScriptedWeChat.openID)])
            let shown = try await counter.shown(visitor.session)
            #expect(shown.text("state") == "wechat_jsapi")
            #expect(shown["contract"]["wechat_jsapi"].text("package") == "prepay_id=wx1")
            #expect(!"\(shown)".contains(ScriptedWeChat.openID) && !page.text.contains(ScriptedWeChat.openID))
            #expect(try await counter.desk.places(of: ScriptedWeChat.openID) == [])
            // Another browser, in which the page was opened since, goes on without the sheet.
            let elsewhere = try await Visitor(counter: counter, session: visitor.session).get()
            #expect(try elsewhere.state == "wechat_jsapi")
            #expect(!elsewhere.text.contains("wechat-pay") && elsewhere.text.contains("?view=methods"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an answer that is not the session's is refused, and nothing is exchanged`(
        _ engine: TestEngine
    ) async throws {
        try await withWeChat(on: engine) { counter, wechat in
            let (visitor, other) = (try await Self.visitor(counter), try await Self.visitor(counter, "bob"))
            let (state, foreign) = (try await Self.sentOff(visitor), try await Self.sentOff(other))
            #expect(state != foreign)
            for wrong in [
                "", "?code=c1", "?code=c1&state=", "?code=c1&state=\(foreign)", "?code=c1&state=\(state)0",
                "?code=c1&state=\(state.uppercased())x", "?code=c1&state=\(state)%20",
                "?code=c1&state=" + String(repeating: "a", count: 200),
            ] {
                let refused = try await visitor.get("/wechat" + wrong)
                #expect(refused.status == 403, "\(wrong): \(refused.status)")
                #expect(refused.text.contains(#"role="alert" data-field="error" data-reason="authorisation""#))
                #expect(try refused.state == "methods" && refused.text.contains(#"action="\#(visitor.path)""#))
            }
            // The cookie of another session, and none.
            let path = "\(visitor.path)/wechat?code=c1&state=\(state)"
            for cookie in ["paydesk_session=\(other.session.text("token"))", "theme=dark"] {
                let stranger = try await counter.get(path, headers: ["Cookie": cookie, "User-Agent": Visitor.weChat])
                #expect(try stranger.status == 200 && stranger.state == "elsewhere")
            }
            #expect(wechat.codes == [])
            #expect(try await visitor.get("/wechat?code=c1&state=\(state)").status == 303)
            #expect(try await visitor.get("/wechat?code=c1&state=\(state)").status == 403)
            counter.desk.clock.advance(seconds: 301)
            #expect(try await other.get("/wechat?code=c2&state=\(foreign)").status == 403)
            #expect(wechat.codes == ["c1"])
            #expect(try await counter.desk.count("orders") == 0)
        }
    }

    /// An answer to the authorisation that brings no payer: the query beside the state, and what the exchange says.
    static let failures: [(String, Result<String, ProviderError>)] = [
        ("", .success(ScriptedWeChat.openID)), ("&code=", .success(ScriptedWeChat.openID)),
        ("&code=%20", .success(ScriptedWeChat.openID)), ("&code=c1", .failure(.rejected(reason: "40029"))),
        ("&code=c1", .failure(.unavailable)), ("&code=c1", .success("o p")), ("&code=c1", .success("")),
        ("&code=c1", .success(String(repeating: "o", count: 129))),
    ]

    @Test(arguments: 0..<8)
    func `without the payer's name the page says to open a browser`(_ number: Int) async throws {
        let (query, answer) = Self.failures[number]
        let capture = LogCapture()
        var setup = CounterSetup.cny
        setup.desk.logger = capture.logger()
        try await withWeChat(on: .sqlite, setup) { counter, wechat in
            wechat.say(answer)
            let visitor = try await Self.visitor(counter)
            let state = try await Self.sentOff(visitor)
            #expect(try await visitor.get("/wechat?state=\(state)\(query)").status == 303)
            for _ in 0..<2 {
                let page = try await visitor.get()
                #expect(try page.status == 200 && page.state == "methods")
                #expect(page.text.contains(Self.note) && !page.text.contains("wechat:"))
            }
            let pressed = try await visitor.act("method", ["method": "wechat:wechat_jsapi"])
            #expect(pressed.status == 200 && pressed.text.contains(#"role="alert""#))
            #expect(try await counter.desk.count("payments") == 0)
            #expect(capture.text.contains("/pay/s/{session}/wechat"))
            for secret in [state, "code=c1", ScriptedWeChat.openID] { #expect(!capture.text.contains(secret)) }
        }
    }

    @Test func `where WeChat alone can be paid, a browser is asked for, too`() async throws {
        try await withWeChat(on: .sqlite) { counter, wechat in
            let visitor = try await Self.visitor(
                counter, more: #","provider":"wechat","accept":["wechat_jsapi"]"#)
            let state = try await Self.sentOff(visitor)
            #expect(try await visitor.get("/wechat?state=\(state)").status == 303)
            let page = try await visitor.get()
            #expect(try page.state == "unavailable" && page.main("reason") == "in_wechat")
        }
    }

    @Test(arguments: [
        "Mozilla/5.0 (iPhone) Safari/604.1", "Mozilla/5.0 AlipayClient/10.5", "",
        Visitor.weChat + " miniProgram/wx0000000000000001",
    ])
    func `nobody else is sent off`(_ agent: String) async throws {
        try await withWeChat(on: .sqlite) { counter, _ in
            let visitor = try await Self.visitor(counter, agent: agent)
            let page = try await visitor.get()
            #expect(page.status == 200 && !page.text.contains(Self.sheet))
            #expect(page.text.contains(Self.note) == agent.contains("MicroMessenger"))
            // A look at the headers does not use the step up.
            let inside = Visitor(counter: counter, session: visitor.session, agent: Visitor.weChat)
            let head = try await counter.send(
                .head, inside.path,
                headers: ["Cookie": "paydesk_session=\(inside.session.text("token"))", "User-Agent": Visitor.weChat])
            #expect(head.status == 200)
            _ = try await Self.sentOff(inside)
        }
    }

    @Test(arguments: [
        #","accept":["qr","url"]"#, #","platform":"android""#, #","provider":"box-url""#,
    ])
    func `a session that cannot use the sheet is not sent off`(_ more: String) async throws {
        try await withWeChat(on: .sqlite) { counter, _ in
            let visitor = try await Self.visitor(counter, more: more)
            #expect(try await visitor.get().status == 200)
        }
    }

    @Test func `an account without the step leaves the browser`() async throws {
        try await withWeChat(on: .sqlite, .cny, ScriptedWeChat(takesStep: false)) { counter, _ in
            let page = try await Self.visitor(counter).get()
            #expect(page.status == 200 && page.text.contains(Self.note))
        }
    }
}
