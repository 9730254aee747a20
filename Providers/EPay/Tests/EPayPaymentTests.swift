import Domain
import EPayProvider
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

struct EPayPaymentTests {
    private let fixture = EPayFixture()

    @Test func `submit is an address that nobody can change`() async throws {
        let attempt = fixture.attempt(title: "会员 A&B=C/月")
        let opened = try await fixture.provider(["type": .text("alipay")]).open(attempt)
        fixture.clock.advance(seconds: 60)
        #expect(try await fixture.provider(["type": .text("alipay")]).open(attempt).instruction == opened.instruction)
        guard case .url(let address) = opened.instruction else { throw Missing() }
        #expect(fixture.transport.requests.isEmpty && opened.reference == nil)
        #expect(fixture.standIn.visit(address) == attempt.payment.rawValue)
        #expect(fixture.standIn.visit(address.replacing("39.90", with: "00.01")) == nil)
        let form = FakeEPayServer.form(String(address.split(separator: "?", maxSplits: 1)[1]))
        #expect(form["name"] == "会员 A&B=C/月" && form["return_url"] == "https://app.example/done?a=1&b=2")
        #expect(form["type"] == "alipay" && form["sign_type"] == "MD5" && !address.contains(FakeEPayServer.key))
        guard case .url(let open) = try await fixture.provider().open(attempt).instruction else { throw Missing() }
        #expect(!open.contains("type=alipay"))
    }

    private struct Missing: Error {}

    @Test func `a name is cut at 127 bytes between characters`() async throws {
        for (title, name) in [
            (String(repeating: "长", count: 60), String(repeating: "长", count: 42)),
            (String(repeating: "👨‍👩‍👧", count: 9), String(repeating: "👨‍👩‍👧", count: 7)), (" \n", nil),
        ] as [(String, String?)] {
            let attempt = fixture.attempt(title: title)
            _ = try await fixture.provider(EPayFixture.mapi).open(attempt)
            #expect(fixture.standIn.state.withLock { $0.forms.last?["name"] } == name ?? attempt.order.rawValue)
        }
    }

    @Test(
        arguments: [
            (["qrcode": "weixin://wxpay/bizpayurl?pr=AbC"], "mapi_qr", .qr(text: "weixin://wxpay/bizpayurl?pr=AbC")),
            (["payurl": "https://epay.example/p/1"], "mapi_url", .url(checkoutURL: "https://epay.example/p/1")),
            (
                ["urlscheme": "weixin://dl/business/?t=1"], "mapi_url",
                .url(checkoutURL: "weixin://dl/business/?t=1")
            ),
            // A service whose answer has two ways to pay.
            (
                ["payurl": "https://epay.example/p/1", "qrcode": "https://q.example/1"], "mapi_qr",
                .qr(text: "https://q.example/1")
            ),
            (
                ["payurl": "", "qrcode": "https://q.example/1", "urlscheme": ""], "mapi_qr",
                .qr(text: "https://q.example/1")
            ),
        ] as [([String: String], String, PaymentInstruction)])
    func `mapi's answer is the contract`(
        way: [String: String], mode: String, instruction: PaymentInstruction
    ) async throws {
        let fixture = EPayFixture(FakeEPayServer(way: way))
        let attempt = fixture.attempt(platform: .ios)
        let opened = try await fixture.provider(["mode": .text(mode), "type": .text("wxpay")]).open(attempt)
        #expect(opened.instruction == instruction && opened.reference == FakeEPayServer.trade(attempt.payment.rawValue))
        let form = fixture.standIn.state.withLock { $0.forms[0] }
        #expect(form["device"] == "mobile" && form["clientip"] == "127.0.0.1" && form["type"] == "wxpay")
    }

    @Test(
        arguments: [
            ("8.8.8.8", "203.0.113.9", "8.8.8.8"), (nil, "203.0.113.9", "203.0.113.9"), (nil, nil, "127.0.0.1"),
            ("10.0.0.2", "203.0.113.9", "203.0.113.9"), ("10.0.0.2", nil, "10.0.0.2"),
        ] as [(String?, String?, String)])
    func `mapi is told the payer's own address, or else the setting`(
        own: String?, setting: String?, told: String
    ) async throws {
        let fixture = EPayFixture(FakeEPayServer(way: ["payurl": "https://epay.example/p/1"]))
        let settings = ["mode": "mapi_url", "type": "wxpay", "client_ip": setting ?? ""].mapValues(SettingValue.text)
        _ = try await fixture.provider(settings).open(fixture.attempt(payerAddress: own))
        #expect(fixture.standIn.state.withLock { $0.forms[0]["clientip"] } == told)
    }

    @Test(
        arguments: [
            (["payurl": "https://x.example/1"], "mapi_qr", ProviderError.rejected(reason: "answer_is_no_qrcode")),
            (["qrcode": "https://x.example/1"], "mapi_url", .rejected(reason: "answer_is_no_url")),
            ([:], "mapi_qr", .outcomeUnknown), ([:], "mapi_url", .outcomeUnknown),
            (["payurl": "javascript:alert(1)"], "mapi_url", .outcomeUnknown),
            (["payurl": "weixin://x"], "mapi_url", .outcomeUnknown),
            (["urlscheme": "javascript:alert(1)"], "mapi_url", .outcomeUnknown),
            (["qrcode": "two\nlines"], "mapi_qr", .outcomeUnknown),
        ] as [([String: String], String, ProviderError)])
    func `an answer that is another contract is not given to a client`(
        way: [String: String], mode: String, error: ProviderError
    ) async throws {
        let fixture = EPayFixture(FakeEPayServer(way: way))
        await #expect(throws: error) {
            try await fixture.provider(["mode": .text(mode), "type": .text("wxpay")]).open(fixture.attempt())
        }
        if case .rejected = error { #expect(fixture.logged.contains { $0.contains("use_mode=mapi_") }) }
    }

    @Test(
        arguments: [
            (#""status":0,"money":"39.90""#, .accepted), (#""status":"0""#, .accepted),
            (#""status":1,"money":"39.90""#, .succeeded(cny(3990))),
            (#""status":"1","money":"39.9""#, .succeeded(cny(3990))),
            (#""status":1,"money":39.9"#, .succeeded(cny(3990))), (#""status":1,"money":10"#, .succeeded(cny(1_000))),
            (#""status":1,"money":0.29"#, .succeeded(cny(29))), (#""status":1,"money":10.00"#, .succeeded(cny(1_000))),
            (#""status":2,"money":"39.90""#, .succeeded(cny(3990))), (#""status":3"#, .pending(status: "status_3")),
            (#""status":"a b""#, .pending(status: "status_unknown")), (#""x":1"#, .pending(status: "status_unknown")),
        ] as [(String, PaymentOutcome)])
    func `an order's status is said in our words, its money exactly`(json: String, outcome: PaymentOutcome) async throws
    {
        let attempt = fixture.attempt()
        let other = EPayFixture { _ in
            .page(#"{"code":1,"pid":"1001","trade_no":"T1","out_trade_no":"\#(attempt.payment)",\#(json)}"#)
        }
        let report = try await other.provider().query(fixture.reference(attempt))
        // The payment's trade is known when one of them is paid.
        let isPaid = if case .succeeded = outcome { true } else { false }
        #expect(
            report
                == PaymentReport(payment: attempt.payment, outcome: outcome, reference: isPaid ? "T1" : nil))
    }

    @Test(arguments: ["39.905", "-1", "0", "true", "\"\"", "\"a\"", "1e400"])
    func `a paid order without an exact amount is not believed`(money: String) async throws {
        let attempt = fixture.attempt()
        let other = EPayFixture { _ in
            .page(#"{"code":1,"out_trade_no":"\#(attempt.payment)","status":1,"money":\#(money)}"#)
        }
        let error = await #expect(throws: ProviderError.self) {
            try await other.provider().query(fixture.reference(attempt))
        }
        #expect(error == .unavailable || error == .unproven(.badMoney))
    }

    @Test(arguments: [#""out_trade_no":"pay_x""#, #""out_trade_no":"NUMBER","pid":1002"#, #""x":1"#])
    func `an answer about another order or merchant proves nothing of this one`(json: String) async throws {
        let attempt = fixture.attempt()
        let text = json.replacing("NUMBER", with: attempt.payment.rawValue)
        let other = EPayFixture { _ in .page(#"{"code":1,"status":1,"money":"39.90",\#(text)}"#) }
        await #expect {
            try await other.provider().query(fixture.reference(attempt))
        } throws: { ($0 as? ProviderError)?.isUnproven ?? false }
    }

    @Test func `a refund is of the whole, once`() async throws {
        let provider = try fixture.provider(EPayFixture.mapi)
        let payment = try await fixture.paid(provider)
        for part in [cny(1), cny(3_991)] {
            await #expect(throws: ProviderError.rejected(reason: "refund_in_full_only")) {
                try await provider.refund(fixture.refund(payment, part))
            }
        }
        let refund = fixture.refund(payment)
        #expect(try await provider.refund(refund).outcome == .succeeded)
        // The order only states that it was refunded: this refund is ours only where our call was sent.
        let again = RefundAttempt(
            refund: refund.refund, payment: payment, amount: refund.amount, reason: refund.reason, wasSent: true)
        #expect(try await provider.refund(again).outcome == .succeeded)
        await #expect(throws: ProviderError.rejected(reason: "refunded_elsewhere")) {
            try await provider.refund(fixture.refund(payment))
        }
        #expect(try await provider.query(refund: refund).outcome == .succeeded)
        #expect(fixture.standIn.state.withLock { $0.calls.count { $0 == "POST api.php refund" } } == 1)
        let unpaid = fixture.attempt()
        _ = try await provider.open(unpaid)
        await #expect(throws: ProviderError.rejected(reason: "payment_not_paid")) {
            try await provider.refund(fixture.refund(fixture.reference(unpaid)))
        }
    }

    @Test func `a refund that never arrived fails after a day, and a service without refunds has none`() async throws {
        let provider = try fixture.provider(EPayFixture.mapi)
        let refund = fixture.refund(try await fixture.paid(provider))
        #expect(try await provider.query(refund: refund).outcome == .pending)
        fixture.clock.advance(seconds: 86_401)
        #expect(try await provider.query(refund: refund).outcome == .failed(reason: "never_arrived"))
        let without = try fixture.provider(EPayFixture.dialect([:]))
        await #expect(throws: ProviderError.unsupported) { try await without.refund(refund) }
        await #expect(throws: ProviderError.unsupported) { try await without.query(refund: refund) }
    }

    @Test func `the doctor asks for the merchant`() async throws {
        #expect(try await fixture.provider().diagnose().map(\.level) == [.good])
        #expect(
            try await fixture.provider(["key": .text("another0key0of0a0merchant")]).diagnose().map(\.level) == [.fault])
        let closed = EPayFixture { _ in .page(#"{"code":1,"active":"0"}"#) }
        #expect(try await closed.provider().diagnose().map(\.level) == [.fault])
        let silent = EPayFixture { _ throws(HTTPTransportError) in throw .notSent }
        #expect(try await silent.provider().diagnose().map(\.level) == [.notice])
    }

    @Test(arguments: [(0, "CNY", "amount_not_positive"), (100, "USD", "currency_unsupported")])
    func `what cannot be paid is refused without a call`(value: Int64, code: String, reason: String) async throws {
        for settings in [[:], EPayFixture.mapi] {
            await #expect(throws: ProviderError.unfit(reason: reason)) {
                try await fixture.provider(settings).open(
                    fixture.attempt(Money(value: value, currency: Currency(code)!)))
            }
        }
        #expect(fixture.transport.requests.isEmpty)
    }
}
