import AlipayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

struct AlipayPaymentTests {
    private let fixture = AlipayFixture()

    @Test func `a code is the text that Alipay gave`() async throws {
        let attempt = fixture.attempt()
        let opened = try await fixture.provider().open(attempt)
        #expect(opened.instruction == .qr(text: "https://qr.alipay.com/bax\(attempt.payment.rawValue.suffix(8))"))
        #expect(opened.outcome == .accepted && opened.reference == nil)
    }

    @Test(arguments: ["", "javascript:alert(1)", "weixin://x", "https://a@b/"])
    func `a code that leads elsewhere is none`(code: String) async throws {
        let attempt = fixture.attempt()
        let node = #"{"code":"10000","out_trade_no":"\#(attempt.payment)","qr_code":"\#(code)"}"#
        let other = AlipayFixture { _ in FakeAlipayServer.reply("alipay.trade.precreate", Data(node.utf8)) }
        await #expect(throws: ProviderError.outcomeUnknown) { try await other.provider().open(attempt) }
    }

    @Test(
        arguments: [
            ("WAIT_BUYER_PAY", "", .accepted), ("TRADE_SUCCESS", "", .succeeded(cny(3990))),
            ("TRADE_FINISHED", "", .succeeded(cny(3990))), ("TRADE_CLOSED", "", .cancelled),
            ("TRADE_CLOSED", "2026-11-21 10:00:00", .succeeded(cny(3990))),
            ("trade_success", "", .pending(status: "trade_success")), ("", "", .pending(status: "unknown_status")),
            ("a\u{7}b", "", .pending(status: "unknown_status")),
        ] as [(String, String, PaymentOutcome)])
    func `a trade's status is said in our words`(status: String, paidAt: String, outcome: PaymentOutcome) async throws {
        let attempt = fixture.attempt()
        let object = [
            "code": "10000", "out_trade_no": attempt.payment.rawValue, "trade_no": "2026112122", "trade_status": status,
            "total_amount": "39.90", "send_pay_date": paidAt,
        ]
        let node = try JSONSerialization.data(withJSONObject: object)
        let other = AlipayFixture { _ in FakeAlipayServer.reply("alipay.trade.query", node) }
        let report = try await other.provider().query(fixture.reference(attempt))
        #expect(report == PaymentReport(payment: attempt.payment, outcome: outcome, reference: "2026112122"))
    }

    @Test(arguments: ["", "-1.00", "39.905", "a"])
    func `a success without an exact amount is none`(amount: String) async throws {
        let attempt = fixture.attempt()
        let node = Data(
            """
            {"code":"10000","out_trade_no":"\(attempt.payment)","trade_status":"TRADE_SUCCESS","total_amount":"\(amount)"}
            """.utf8)
        let other = AlipayFixture { _ in FakeAlipayServer.reply("alipay.trade.query", node) }
        await #expect(throws: ProviderError.unproven(.badMoney)) {
            try await other.provider().query(fixture.reference(attempt))
        }
    }

    @Test func `a code that nobody has scanned cannot be closed, and is not said to be`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        #expect(try await provider.cancel(fixture.reference(attempt)).outcome == .pending(status: "not_found"))
        #expect(fixture.standIn.act("WAIT_BUYER_PAY", attempt.payment.rawValue))
        #expect(try await provider.cancel(fixture.reference(attempt)).outcome == .cancelled)
        // Once more, and it stays so.
        #expect(try await provider.cancel(fixture.reference(attempt)).outcome == .cancelled)
        #expect(!fixture.standIn.act("TRADE_SUCCESS", attempt.payment.rawValue))
    }

    @Test func `opening what has ended says so`() async throws {
        let provider = try fixture.provider()
        let closed = fixture.attempt()
        _ = try await provider.open(closed)
        _ = fixture.standIn.act("TRADE_CLOSED", closed.payment.rawValue)
        await #expect(throws: ProviderError.rejected(reason: "ACQ.TRADE_HAS_CLOSE")) {
            try await provider.open(closed)
        }
        // A paid attempt is asked for.
        let paid = fixture.attempt()
        _ = try await provider.open(paid)
        _ = fixture.standIn.act("TRADE_SUCCESS", paid.payment.rawValue)
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.open(paid) }
        #expect(try await provider.query(fixture.reference(paid)).outcome == .succeeded(cny(3990)))
    }

    @Test func `a refund names the request, and a repetition asks`() async throws {
        let provider = try fixture.provider()
        let payment = try await fixture.paid(provider)
        let refund = fixture.refund(payment, cny(990))
        let made = try await provider.refund(refund)
        #expect(made.outcome == .succeeded && made.amount == cny(990))
        #expect(try await provider.refund(refund).outcome == .succeeded)
        #expect(
            fixture.standIn.state.withLock { Array($0.calls.suffix(3)) } == [
                "alipay.trade.refund", "alipay.trade.refund", "alipay.trade.fastpay.refund.query",
            ])
        #expect(
            fixture.standIn.state.withLock { $0.forms.allSatisfy { !$0.values.contains { $0.contains("secret") } } })
        // Another amount under the same number: what is true has to be asked.
        let other = RefundAttempt(refund: refund.refund, payment: payment, amount: cny(1), reason: "")
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.refund(other) }
        #expect(try await provider.query(refund: other).amount == cny(990))
    }

    @Test func `a refund that never arrived fails after a day and not before`() async throws {
        let provider = try fixture.provider()
        let refund = fixture.refund(try await fixture.paid(provider), cny(990))
        #expect(try await provider.query(refund: refund).outcome == .pending)
        fixture.clock.advance(seconds: 86_400)
        #expect(try await provider.query(refund: refund).outcome == .pending)
        fixture.clock.advance(seconds: 1)
        #expect(try await provider.query(refund: refund).outcome == .failed(reason: "never_arrived"))
    }

    /// Alipay leaves out the status of a refund that it has not received, or that failed.
    @Test(arguments: [nil, "", "REFUND_PROCESSING", "REFUND_FAIL", "refund_success"] as [String?])
    func `a refund is made where Alipay says so, and not where it leaves that out`(status: String?) async throws {
        let provider = try fixture.provider()
        let refund = fixture.refund(try await fixture.paid(provider), cny(990))
        let (payment, number) = (refund.payment.payment.rawValue, refund.refund.rawValue)
        fixture.standIn.state.withLock { state in
            state.trades[payment]?.refunds = [(number, 990)]
            state.refundStatus = status
        }
        #expect(try await provider.query(refund: refund).outcome == .pending)
        // A repetition moves no money, and the outcome is queried.
        #expect(try await provider.refund(refund).outcome == .pending)
        fixture.clock.advance(seconds: 86_401)
        #expect(try await provider.query(refund: refund).outcome == .failed(reason: "never_arrived"))
        fixture.standIn.state.withLock { $0.refundStatus = "REFUND_SUCCESS" }
        #expect(try await provider.query(refund: refund).outcome == .succeeded)
    }

    @Test(arguments: [("CNY", 0, "amount_not_positive"), ("USD", 1, "refund_currency_differs")])
    func `a refund that cannot be is refused without a call`(code: String, value: Int64, reason: String) async throws {
        let payment = fixture.reference(fixture.attempt())
        let refund = fixture.refund(payment, Money(value: value, currency: Currency(code)!))
        await #expect(throws: ProviderError.rejected(reason: reason)) { try await fixture.provider().refund(refund) }
        #expect(fixture.transport.requests.isEmpty)
    }
}
