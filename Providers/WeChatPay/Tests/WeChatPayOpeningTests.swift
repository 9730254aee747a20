import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing
import WeChatPayProvider

struct WeChatPayOpeningTests {
    private let fixture = WeChatPayFixture()

    @Test func `an order says what WeChat Pay has to know, and no more`() async throws {
        let attempt = fixture.attempt(title: "会员 “月卡” / VIP")
        let opened = try await fixture.provider().open(attempt)
        guard case .qr(let text) = opened.instruction else { throw RehearsalGap("gave \(opened.instruction)") }
        #expect(text == "weixin://wxpay/bizpayurl?pr=p4lpSuKzz1" && opened.outcome == .accepted)
        let request = try #require(fixture.transport.requests.last)
        let call = FakeWeChatPayServerCall(request)
        #expect(request.url == "https://api.mch.weixin.qq.com/v3/pay/transactions/native")
        #expect(
            call.object as NSDictionary == [
                "mchid": FakeWeChatPayServer.mchid, "appid": FakeWeChatPayServer.appid, "description": attempt.title,
                "out_trade_no": attempt.payment.rawValue, "notify_url": fixture.context.notifyURL,
                "time_expire": "2025-01-14T21:36:40+08:00", "amount": ["total": 3990, "currency": "CNY"],
            ])
        #expect(call.header("wechatpay-serial") == nil)
        #expect(
            fixture.transport.requests.allSatisfy { $0.timeoutMilliseconds <= 15_000 && $0.maxReplyBytes <= 1 << 20 })
    }

    @Test func `in public key mode every call names the key`() async throws {
        fixture.standIn.state.withLock { $0.seal = .publicKey }
        _ = try await fixture.provider(WeChatPayFixture.publicKey).open(fixture.attempt())
        #expect(fixture.calls == ["POST /v3/pay/transactions/native"])
        let header = fixture.transport.requests.first.map { FakeWeChatPayServerCall($0).header("wechatpay-serial") }
        #expect(header == WeChatPayTestCertificates.publicKeyID)
    }

    @Test func `h5 gives a page with the way back, and says where the payer is`() async throws {
        let opened = try await fixture.provider(WeChatPayFixture.h5).open(fixture.attempt())
        guard case .url(let page) = opened.instruction else { throw RehearsalGap("gave \(opened.instruction)") }
        #expect(page.hasPrefix("https://wx.tenpay.com/cgi-bin/mmpayweb-bin/checkmweb?prepay_id="))
        #expect(page.hasSuffix("&redirect_url=https%3A%2F%2Fapp.example%2Fdone%3Fa%3D1%26b%3D2"))
        let scene = fixture.transport.requests.last.flatMap {
            FakeWeChatPayServerCall($0).object["scene_info"] as? NSDictionary
        }
        #expect(scene == ["payer_client_ip": "203.0.113.9", "h5_info": ["type": "Wap"]])
        let plain = try await fixture.provider(WeChatPayFixture.h5).open(fixture.attempt(returnURL: nil))
        guard case .url(let page) = plain.instruction else { throw RehearsalGap("gave \(plain.instruction)") }
        #expect(!page.contains("redirect_url"))
    }

    @Test(
        arguments: [
            ("8.8.8.8", "203.0.113.9", "8.8.8.8"), ("8.8.8.8", nil, "8.8.8.8"),
            ("2400:3200:0:0:0:0:0:1", nil, "2400:3200:0:0:0:0:0:1"), (nil, "203.0.113.9", "203.0.113.9"),
            ("10.0.0.2", "203.0.113.9", "203.0.113.9"), ("127.0.0.1", nil, "127.0.0.1"),
        ] as [(String?, String?, String)])
    func `h5 tells the payer's own address, or else the setting`(
        own: String?, setting: String?, told: String
    ) async throws {
        let settings = ["mode": "h5", "h5_payer_address": setting ?? ""].mapValues(SettingValue.text)
        _ = try await fixture.provider(settings).open(fixture.attempt(payerAddress: own))
        let scene = fixture.transport.requests.last.flatMap {
            FakeWeChatPayServerCall($0).object["scene_info"] as? NSDictionary
        }
        #expect(scene?["payer_client_ip"] as? String == told)
    }

    @Test func `h5 is refused where nobody knows the payer's address`() async throws {
        await #expect(throws: ProviderError.unfit(reason: "payer_address_unknown")) {
            try await fixture.provider(["mode": .text("h5")]).open(fixture.attempt())
        }
        #expect(fixture.calls.isEmpty)
    }

    @Test func `a repetition gives the same code until that is too old`() async throws {
        let attempt = fixture.attempt()
        let first = try await fixture.provider().open(attempt).instruction
        fixture.clock.advance(seconds: 6_599)
        #expect(try await fixture.provider().open(attempt).instruction == first)
        fixture.clock.advance(seconds: 1)
        let later = try await fixture.provider().open(attempt).instruction
        #expect(later != first)
        #expect(fixture.standIn.state.withLock { $0.orders.count } == 1)
    }

    @Test(arguments: [
        (String(repeating: "x", count: 200), 127), (String(repeating: "月", count: 100), 126),
        (String(repeating: "👨‍👩‍👧‍👦", count: 20), 125), ("", 30),
    ])
    func `a long title is cut between characters`(title: String, bytes: Int) async throws {
        let attempt = fixture.attempt(title: title)
        _ = try await fixture.provider().open(attempt)
        let sent = fixture.transport.requests.last.flatMap {
            FakeWeChatPayServerCall($0).object["description"] as? String
        }
        #expect(sent?.utf8.count == bytes && (title.isEmpty || title.hasPrefix(sent ?? "-")))
    }

    @Test func `only positive amounts of yuan are opened`() async throws {
        for amount in [cny(0), cny(-1), Money(value: 1, currency: Currency("USD")!)] {
            let error = await #expect(throws: ProviderError.self) {
                try await fixture.provider().open(fixture.attempt(amount))
            }
            guard case .unfit? = error else { throw RehearsalGap("threw \(String(describing: error))") }
        }
        #expect(fixture.calls.isEmpty)
    }

    @Test(arguments: [
        "", "weixin://", "http://wxpay.example/x", "javascript:alert(1)", "//x", "weixin://wxpay/\" onload=x",
        "weixin://wxpay/" + String(repeating: "x", count: 4_096),
    ])
    func `a code that cannot be paid leaves the payment unknown`(code: String) async throws {
        let now = fixture.clock.now.rawValue
        fixture.standIn.script("/native", fixture.standIn.signed(200, ["code_url": code], now: now))
        fixture.standIn.script("/h5", fixture.standIn.signed(200, ["h5_url": code], now: now))
        for settings in [[:], WeChatPayFixture.h5] {
            await #expect(throws: ProviderError.outcomeUnknown) {
                try await fixture.provider(settings).open(fixture.attempt())
            }
        }
    }

    @Test func `an order number in use is looked at before anybody says no`() async throws {
        let attempt = fixture.attempt()
        _ = try await fixture.provider().open(attempt)
        // The same payment with another title: the settings or the catalogue changed meanwhile.
        let changed = PaymentAttempt(
            payment: attempt.payment, order: attempt.order, amount: attempt.amount, title: "another",
            platform: .web, returnURL: nil, expiresAt: attempt.expiresAt, accepts: attempt.accepts)
        await #expect(throws: ProviderError.outcomeUnknown) { try await fixture.provider().open(changed) }
        _ = fixture.standIn.act(succeed: true, on: attempt.payment.rawValue)
        await #expect(throws: ProviderError.outcomeUnknown) { try await fixture.provider().open(attempt) }
        let (status, object) = FakeWeChatPayServer.no(400, "INVALID_REQUEST")
        fixture.standIn.script("/native", fixture.standIn.signed(status, object, now: fixture.clock.now.rawValue))
        await #expect(throws: ProviderError.rejected(reason: "INVALID_REQUEST")) {
            try await fixture.provider().open(fixture.attempt())
        }
    }

    @Test(arguments: [
        (400, "PARAM_ERROR", ProviderError.rejected(reason: "PARAM_ERROR")), (401, "SIGN_ERROR", .unavailable),
        (400, "ORDER_CLOSED", .rejected(reason: "ORDER_CLOSED")),
        (403, "NO_AUTH", .unavailable), (403, "RULE_LIMIT", .rejected(reason: "RULE_LIMIT")),
        (429, "FREQUENCY_LIMITED", .unavailable), (500, "SYSTEM_ERROR", .outcomeUnknown),
        (400, "SYSTEM_ERROR", .outcomeUnknown), (502, "x", .outcomeUnknown), (302, "x", .outcomeUnknown),
        (400, "a code with spaces", .outcomeUnknown), (408, "TIMEOUT", .outcomeUnknown),
    ])
    func `each of WeChat Pay's words has its meaning`(status: Int, code: String, error: ProviderError) async throws {
        let (_, object) = FakeWeChatPayServer.no(status, code)
        fixture.standIn.script("/native", fixture.standIn.signed(status, object, now: fixture.clock.now.rawValue))
        await #expect(throws: error) { try await fixture.provider().open(fixture.attempt()) }
    }

    @Test func `an order that is too young to be closed is reported as it is`() async throws {
        let attempt = fixture.attempt()
        _ = try await fixture.provider().open(attempt)
        let (status, object) = FakeWeChatPayServer.no(400, "ORDER_TOO_YOUNG")
        fixture.standIn.script("/close", fixture.standIn.signed(status, object, now: fixture.clock.now.rawValue))
        #expect(try await fixture.provider().cancel(fixture.reference(attempt)).outcome == .accepted)
        fixture.standIn.state.withLock { $0.orders[0].state = "USERPAYING" }
        #expect(try await fixture.provider().cancel(fixture.reference(attempt)).outcome == .processing)
        fixture.standIn.state.withLock { $0.orders[0].state = "NOTPAY" }
        #expect(try await fixture.provider().cancel(fixture.reference(attempt)).outcome == .cancelled)
        #expect(try await fixture.provider().cancel(fixture.reference(attempt)).outcome == .cancelled)
        let stranger = fixture.reference(fixture.attempt())
        #expect(try await fixture.provider().cancel(stranger).outcome == .pending(status: "not_found"))
    }

    @Test func `another payment's answer is refused`() async throws {
        let (mine, theirs) = (fixture.attempt(), fixture.attempt())
        for more in [["out_trade_no": theirs.payment.rawValue], ["mchid": "1900000009"], ["appid": "wx9"]] {
            let order = FakeWeChatPayServer.Order(
                number: mine.payment.rawValue, total: 3990, body: Data(), mode: "native", state: "SUCCESS")
            let object = order.json.merging(more) { $1 }
            fixture.standIn.script(
                "/out-trade-no/", fixture.standIn.signed(200, object, now: fixture.clock.now.rawValue))
            await #expect {
                try await fixture.provider().query(fixture.reference(mine))
            } throws: { ($0 as? ProviderError)?.isUnproven ?? false }
        }
    }

    @Test func `a refund says nothing of its reason, and its number makes it one`() async throws {
        let provider = try fixture.provider()
        let refund = fixture.refund(try await fixture.paid(provider), cny(990))
        let first = try await provider.refund(refund)
        #expect(first.outcome == .pending && first.amount == cny(990) && first.reference?.hasPrefix("5030") == true)
        #expect(try await provider.refund(refund) == first)
        let call = try #require(fixture.transport.requests.last.map(FakeWeChatPayServerCall.init))
        #expect(
            call.object as NSDictionary == [
                "out_trade_no": refund.payment.payment.rawValue, "out_refund_no": refund.refund.rawValue,
                "notify_url": fixture.context.notifyURL, "amount": ["refund": 990, "total": 3990, "currency": "CNY"],
            ])
        fixture.standIn.state.withLock { $0.refunds[0].status = "SUCCESS" }
        #expect(try await provider.query(refund: refund).outcome == .succeeded)
        fixture.standIn.state.withLock { $0.refunds[0].status = "ABNORMAL" }
        #expect(try await provider.query(refund: refund).outcome == .pending)
        #expect(fixture.logged.contains { $0.hasPrefix("warning wechat pay: a refund found no card") })
    }

    @Test func `a refund that never arrived is over after a day`() async throws {
        let provider = try fixture.provider()
        let refund = fixture.refund(try await fixture.paid(provider), cny(990))
        #expect(try await provider.query(refund: refund).outcome == .pending)
        fixture.clock.advance(seconds: 86_401)
        #expect(try await provider.query(refund: refund).outcome == .failed(reason: "never_arrived"))
        // A refund that WeChat Pay reported by its own number was made there, under a number that is not ours.
        let theirs = RefundAttempt(
            refund: refund.refund, payment: refund.payment, amount: refund.amount, reason: "", reference: "5030")
        #expect(try await provider.query(refund: theirs).outcome == .pending)
    }
}
