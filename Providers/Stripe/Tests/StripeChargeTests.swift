import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

@testable import StripeProvider

struct StripeChargeTests {
    private static let paymentData = Array(#"{ "version":"EC_v1", "data":"AA+/==", "é":1}"#.utf8)

    private static func charge(_ fixture: StripeFixture, _ amount: Money = usd(3990)) -> InstrumentCharge {
        InstrumentCharge(
            payment: fixture.ids.make(), order: fixture.ids.make(), amount: amount, title: "VIP",
            instrument: .applePayEncrypted(
                EncryptedToken(
                    paymentData: paymentData, transactionID: "ab12", displayName: "Visa 1111", network: "Visa")))
    }

    private static func reference(_ charge: InstrumentCharge) -> ProviderReference {
        ProviderReference(payment: charge.payment, reference: nil, amount: charge.amount)
    }

    @Test func `the token goes to Stripe as it was received, and one payment is made with it`() async throws {
        let fixture = StripeFixture()
        let provider = try fixture.provider()
        let charge = Self.charge(fixture)
        let report = try await provider.charge(charge)
        #expect(report.outcome == .succeeded(usd(3990)) && report.reference?.hasPrefix("pi_") == true)
        #expect(fixture.calls == ["POST tokens", "POST payment_intents"])
        let token = FakeStripeServerCall(fixture.transport.requests[0])
        #expect(token.values["pk_token"] == String(decoding: Self.paymentData, as: UTF8.self))
        #expect(token.values["pk_token_instrument_name"] == "Visa 1111")
        #expect(token.values["pk_token_payment_network"] == "Visa")
        #expect(token.values["pk_token_transaction_id"] == "AB12")
        let intent = FakeStripeServerCall(fixture.transport.requests[1])
        #expect(intent.values["confirm"] == "true" && intent.values["error_on_requires_action"] == "true")
        #expect(intent.header("idempotency-key") == "\(charge.payment)-open")
        #expect(token.header("idempotency-key") == "\(charge.payment)-token")
        #expect(try await provider.charge(charge) == report)
        #expect(fixture.standIn.state.withLock { $0.intents.count } == 1)
        #expect(try await provider.query(Self.reference(charge)).outcome == .succeeded(usd(3990)))
    }

    @Test(arguments: [429, 401, 403])
    func `what an earlier turn may have charged is not denied by a later one`(_ status: Int) async throws {
        for first in [500, 409] {
            let fixture = StripeFixture()
            fixture.standIn.script(
                .json(["id": "tok_1"]), .stripe(first, "api_error"), .stripe(status, "rate_limit_error"),
                .stripe(status, "rate_limit_error"))
            let provider = try fixture.provider()
            await #expect(throws: ProviderError.outcomeUnknown) { try await provider.charge(Self.charge(fixture)) }
        }
        // If the first turn began nothing either, nothing was charged.
        let fixture = StripeFixture()
        let again = [(name: "stripe-should-retry", value: "true")]
        fixture.standIn.script(
            .json(["id": "tok_1"]), .stripe(429, "rate_limit_error", headers: again),
            .stripe(status, "rate_limit_error"))
        let provider = try fixture.provider()
        await #expect(throws: ProviderError.unavailable) { try await provider.charge(Self.charge(fixture)) }
    }

    @Test func `a declined token is a refusal with its reason`() async throws {
        let fixture = StripeFixture()
        fixture.standIn.state.withLock { $0.declines = true }
        let provider = try fixture.provider()
        let charge = Self.charge(fixture)
        await #expect(throws: ProviderError.rejected(reason: "insufficient_funds")) {
            try await provider.charge(charge)
        }
        // There is one attempt with a token, so the failure that Stripe stored is final.
        let report = try await provider.query(Self.reference(charge))
        #expect(report.outcome == .failed(reason: "insufficient_funds"))
    }

    @Test(arguments: ["payment_intent", "checkout_session"])
    func `a lost reply is found again whatever the account's mode`(_ mode: String) async throws {
        let fixture = StripeFixture()
        let provider = try fixture.provider(["mode": .text(mode)])
        let charge = Self.charge(fixture)
        fixture.standIn.state.withLock { $0.losesIntents = true }
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.charge(charge) }
        fixture.standIn.state.withLock { $0.losesIntents = false }
        #expect(try await provider.query(Self.reference(charge)).outcome == .succeeded(usd(3990)))
    }

    @Test func `a token that Stripe did not make charges nothing`() async throws {
        for status in [429, 500] {
            let fixture = StripeFixture()
            let refusal = IncomingReply.stripe(
                status, "api_error", nil, headers: [(name: "stripe-should-retry", value: "false")])
            fixture.standIn.script(refusal)
            let provider = try fixture.provider()
            await #expect(throws: ProviderError.unavailable) { try await provider.charge(Self.charge(fixture)) }
            #expect(fixture.calls == ["POST tokens"])
        }
        let fixture = StripeFixture()
        fixture.standIn.script(.json(["id": "pm_1"]))
        let provider = try fixture.provider()
        await #expect(throws: ProviderError.unavailable) { try await provider.charge(Self.charge(fixture)) }
    }

    @Test func `closing a payment whose charge never arrived keeps it from arriving`() async throws {
        let fixture = StripeFixture()
        let provider = try fixture.provider()
        let charge = Self.charge(fixture)
        #expect(try await provider.cancel(Self.reference(charge)).outcome == .cancelled)
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.charge(charge) }
        #expect(try await provider.query(Self.reference(charge)).outcome == .cancelled)
    }

    @Test func `what is decrypted is not Stripe's to charge`() async throws {
        let fixture = StripeFixture()
        let card = NetworkToken(
            accountNumber: SecretBytes(Array("4111111111111111".utf8)), expiryMonth: 12, expiryYear: 2031,
            cryptogram: nil,
            electronicCommerceIndicator: nil)
        let charge = InstrumentCharge(
            payment: fixture.ids.make(), order: fixture.ids.make(), amount: usd(1), title: "",
            instrument: .networkToken(card))
        let provider = try fixture.provider()
        await #expect(throws: ProviderError.unsupported) { try await provider.charge(charge) }
        #expect(fixture.calls.isEmpty && StripeProvider.manifest.instruments == [.encrypted])
    }

    @Test func `the token is in no log and no error`() async throws {
        let fixture = StripeFixture()
        fixture.standIn.state.withLock { $0.declines = true }
        let charge = Self.charge(fixture)
        var shown = ["\(charge)", String(reflecting: charge)]
        dump(charge, to: &shown[0])
        do { _ = try await fixture.provider().charge(charge) } catch { shown.append("\(error)") }
        shown += fixture.logged
        #expect(shown.count >= 3 && !shown.contains { $0.contains("EC_v1") || $0.contains("AA+/") })
    }
}
