import Domain
import ProviderKit
import ProviderTesting
import Testing

@testable import SandboxProvider

struct SandboxChargeTests {
    private static let instrument = Instrument.applePayEncrypted(
        EncryptedToken(paymentData: Array("{}".utf8), transactionID: "ab", displayName: nil, network: nil))

    private static func charge(_ fixture: SandboxFixture, _ value: Int64) -> InstrumentCharge {
        InstrumentCharge(
            payment: fixture.ids.make(), order: fixture.ids.make(), amount: cny(value), title: "VIP",
            instrument: instrument
        )
    }

    @Test(
        arguments: [
            (3990, PaymentOutcome.succeeded(cny(3990))), (13, .failed(reason: "payer_failed")), (17, .accepted),
            (1_013, .failed(reason: "payer_failed")), (1_017, .accepted), (1_300, .succeeded(cny(1_300))),
        ] as [(Int64, PaymentOutcome)])
    func `the amount decides how a charge ends`(_ value: Int64, _ outcome: PaymentOutcome) async throws {
        let fixture = SandboxFixture()
        let provider = try fixture.provider()
        let charge = Self.charge(fixture, value)
        #expect(try await provider.charge(charge).outcome == outcome)
        let reference = ProviderReference(payment: charge.payment, reference: nil, amount: charge.amount)
        #expect(try await provider.query(reference).outcome == outcome)
    }

    @Test func `a repeated charge has one effect, and another amount under its id is refused`() async throws {
        let fixture = SandboxFixture()
        let provider = try fixture.provider()
        let charge = Self.charge(fixture, 3990)
        for _ in 0..<3 { #expect(try await provider.charge(charge).outcome == .succeeded(cny(3990))) }
        let other = InstrumentCharge(
            payment: charge.payment, order: charge.order, amount: cny(1), title: "VIP", instrument: Self.instrument)
        await #expect(throws: ProviderError.rejected(reason: "payment_id_reused")) { try await provider.charge(other) }
        let reference = ProviderReference(payment: charge.payment, reference: nil, amount: charge.amount)
        let refund = RefundAttempt(refund: fixture.ids.make(), payment: reference, amount: cny(990), reason: "")
        #expect(try await provider.refund(refund).outcome == .succeeded)
    }

    @Test func `a charge of a payment that was closed first is refused`() async throws {
        let fixture = SandboxFixture()
        let provider = try fixture.provider()
        let charge = Self.charge(fixture, 3990)
        let reference = ProviderReference(payment: charge.payment, reference: nil, amount: charge.amount)
        #expect(try await provider.cancel(reference).outcome == .cancelled)
        await #expect(throws: ProviderError.rejected(reason: "payment_closed")) { try await provider.charge(charge) }
    }

    @Test func `a lost reply leaves the effect`() async throws {
        let fixture = SandboxFixture()
        let charge = Self.charge(fixture, 3990)
        let lossy = try fixture.provider(["reply": .text("lost")])
        await #expect(throws: ProviderError.outcomeUnknown) { try await lossy.charge(charge) }
        let reference = ProviderReference(payment: charge.payment, reference: nil, amount: charge.amount)
        #expect(try await fixture.provider().query(reference).outcome == .succeeded(cny(3990)))
    }
}
