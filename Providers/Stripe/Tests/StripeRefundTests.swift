import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

struct StripeRefundTests {
    private let fixture = StripeFixture()

    @Test(arguments: [[:], StripeFixture.sessions])
    func `a refund names its PaymentIntent, its part and our ids`(settings: [String: SettingValue]) async throws {
        let provider = try fixture.provider(settings)
        let payment = try await fixture.paid(provider)
        let refund = fixture.refund(payment, usd(1_000))
        let report = try await provider.refund(refund)
        #expect(
            report.outcome == .succeeded && report.amount == usd(1_000) && report.reference?.hasPrefix("re_") == true)
        let request = try #require(fixture.transport.requests.last)
        let intent = fixture.standIn.state.withLock { $0.intents[0].id }
        #expect(
            FakeStripeServerCall(request).values == [
                "payment_intent": intent, "amount": "1000", "metadata[refund_id]": refund.refund.rawValue,
                "metadata[payment_id]": payment.payment.rawValue,
            ])
        #expect(FakeStripeServerCall(request).header("idempotency-key") == "\(refund.refund.rawValue)-refund")
    }

    @Test func `a refund that fails after its success is asked about and told of`() async throws {
        let provider = try fixture.provider()
        let payment = try await fixture.paid(provider)
        let refund = fixture.refund(payment, usd(3990))
        let reference = try await provider.refund(refund).reference
        fixture.standIn.state.withLock { $0.refunds[0].status = "failed" }
        let known = RefundAttempt(
            refund: refund.refund, payment: payment, amount: refund.amount, reason: "", reference: reference)
        #expect(try await provider.query(refund: known).outcome == .failed(reason: "refund_failed"))
        let object = fixture.standIn.state.withLock { $0.refunds[0].json }
        let facts = try await provider.receive(fixture.notification("refund.failed", object)).facts
        #expect(
            facts == [
                .refund(
                    RefundReport(
                        payment: payment.payment, refund: refund.refund, outcome: .failed(reason: "refund_failed"),
                        amount: usd(3990), reference: reference, paymentReference: payment.reference))
            ])
    }

    @Test func `a refund whose answer was lost is found by our id`() async throws {
        let provider = try fixture.provider()
        let payment = try await fixture.paid(provider)
        let lost = fixture.refund(payment, usd(1_000))
        _ = try await provider.refund(fixture.refund(payment, usd(500)))
        _ = try await provider.refund(lost)
        let report = try await provider.query(refund: lost)
        #expect(report.outcome == .succeeded && report.amount == usd(1_000))
    }

    @Test func `a refund that never arrived is pending for a day and then failed`() async throws {
        let provider = try fixture.provider()
        let refund = fixture.refund(try await fixture.paid(provider), usd(1_000))
        #expect(try await provider.query(refund: refund).outcome == .pending)
        fixture.clock.advance(seconds: 23 * 3_600 + 1)
        #expect(try await provider.query(refund: refund).outcome == .failed(reason: "never_arrived"))
    }

    @Test func `after a day it asks before it refunds`() async throws {
        let provider = try fixture.provider()
        let refund = fixture.refund(try await fixture.paid(provider), usd(1_000))
        let first = try await provider.refund(refund)
        fixture.standIn.state.withLock { $0.keys = [:] }
        fixture.clock.advance(seconds: 23 * 3_600 + 1)
        #expect(try await provider.refund(refund) == first)
        let other = fixture.refund(refund.payment, usd(1))
        fixture.clock.advance(seconds: 23 * 3_600 + 1)
        #expect(try await provider.refund(other).outcome == .succeeded)
        #expect(fixture.standIn.state.withLock { $0.refunds.map(\.amount) } == [1_000, 1])
    }

    @Test func `another currency and another payment's refund are refused`() async throws {
        let provider = try fixture.provider()
        let payment = try await fixture.paid(provider)
        await #expect(throws: ProviderError.rejected(reason: "refund_currency_differs")) {
            try await provider.refund(fixture.refund(payment, money(1, "EUR")))
        }
        let made = try await provider.refund(fixture.refund(payment, usd(1)))
        let others = fixture.refund(payment, usd(1), reference: made.reference)
        await #expect(throws: ProviderError.unproven(.otherPayment)) { try await provider.query(refund: others) }
    }

    @Test func `what was never paid has nothing to give back`() async throws {
        let provider = try fixture.provider(StripeFixture.sessions)
        let attempt = fixture.attempt()
        let opened = try await provider.open(attempt)
        await #expect(throws: ProviderError.rejected(reason: "payment_not_paid")) {
            try await provider.refund(fixture.refund(fixture.reference(attempt, opened.reference), usd(1)))
        }
    }

    @Test func `a refund of three decimals and of the króna is exact`() async throws {
        for (whole, part, sent) in [
            (money(10_000, "KWD"), money(5_120, "KWD"), "5120"), (money(500, "ISK"), money(5, "ISK"), "500"),
        ] {
            let provider = try fixture.provider()
            let report = try await provider.refund(fixture.refund(try await fixture.paid(provider, whole), part))
            #expect(report.amount == part)
            #expect(FakeStripeServerCall(try #require(fixture.transport.requests.last)).values["amount"] == sent)
        }
    }
}
