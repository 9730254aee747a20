import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

struct StripeCancelTests {
    private let fixture = StripeFixture()

    @Test(arguments: [[:], StripeFixture.sessions])
    func `a cancel has no idempotency key`(settings: [String: SettingValue]) async throws {
        let provider = try fixture.provider(settings)
        let attempt = fixture.attempt()
        let opened = try await provider.open(attempt)
        #expect(try await provider.cancel(fixture.reference(attempt, opened.reference)).outcome == .cancelled)
        let last = try #require(fixture.transport.requests.last.map { FakeStripeServerCall($0) })
        #expect(last.path.last == (settings.isEmpty ? "cancel" : "expire"))
        #expect(last.header("idempotency-key") == nil)
    }

    /// Stripe keeps its own error under an idempotency key for a day, so that a repetition would never work.
    @Test(arguments: [[:], StripeFixture.sessions])
    func `a cancel that met Stripe's own error succeeds the second time`(
        settings: [String: SettingValue]
    ) async throws {
        let provider = try fixture.provider(settings)
        let attempt = fixture.attempt()
        let reference = fixture.reference(attempt, try await provider.open(attempt).reference)
        fixture.standIn.state.withLock { $0.failing = ["cancel": 1, "expire": 1] }
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.cancel(reference) }
        #expect(try await provider.cancel(reference).outcome == .cancelled)
        #expect(!fixture.standIn.act(succeed: true, on: attempt.payment.rawValue))
    }

    @Test func `what cannot be cancelled now is reported as it is, and cancelled later`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let opened = try await provider.open(attempt)
        let reference = fixture.reference(attempt, opened.reference)
        fixture.standIn.state.withLock { $0.intents[0].status = "processing" }
        #expect(try await provider.cancel(reference).outcome == .processing)
        fixture.standIn.state.withLock { $0.intents[0].status = "requires_payment_method" }
        #expect(try await provider.cancel(reference).outcome == .cancelled)
    }

    @Test(arguments: [[:], StripeFixture.sessions])
    func `a declined try does not keep a payment open`(settings: [String: SettingValue]) async throws {
        let provider = try fixture.provider(settings)
        let attempt = fixture.attempt()
        let opened = try await provider.open(attempt)
        _ = fixture.standIn.act(succeed: false, on: attempt.payment.rawValue)
        let reference = fixture.reference(attempt, opened.reference)
        #expect(try await provider.query(reference).outcome == .tryFailed(reason: "insufficient_funds"))
        #expect(try await provider.cancel(reference).outcome == .cancelled)
    }

    @Test func `a payment that is paid while it is cancelled is paid`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let opened = try await provider.open(attempt)
        let reference = fixture.reference(attempt, opened.reference)
        let intent = try #require(fixture.standIn.state.withLock { $0.intents.first })
        // It is read as unpaid, and the cancel comes too late.
        fixture.standIn.script(
            .json(intent.json), .stripe(400, "invalid_request_error", "payment_intent_unexpected_state"))
        _ = fixture.standIn.act(succeed: true, on: attempt.payment.rawValue)
        #expect(try await provider.cancel(reference).outcome == .succeeded(usd(3990)))
    }

    @Test(arguments: [[:], StripeFixture.sessions])
    func `an opening that comes after the cancel opens nothing`(settings: [String: SettingValue]) async throws {
        let provider = try fixture.provider(settings)
        let attempt = fixture.attempt()
        let report = try await provider.cancel(fixture.reference(attempt))
        #expect(report.outcome == .cancelled && report.reference != nil)
        await #expect(throws: ProviderError.rejected(reason: "payment_closed")) { try await provider.open(attempt) }
        #expect(!fixture.standIn.act(succeed: true, on: attempt.payment.rawValue))
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .cancelled)
    }

    @Test func `an opening that ended in Stripe's own error is closed when it cannot run any more`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        let reply = IncomingReply.stripe(500, "api_error", headers: [(name: "Stripe-Should-Retry", value: "false")])
        fixture.standIn.state.withLock {
            $0.keys["\(attempt.payment.rawValue)-open"] = FakeStripeServer.Stored(
                call: "POST payment_intents", form: "what the opening sent", reply: reply)
        }
        #expect(try await provider.cancel(fixture.reference(attempt)).outcome == .pending(status: "not_found"))
        fixture.clock.advance(seconds: 601)
        #expect(try await provider.cancel(fixture.reference(attempt)).outcome == .cancelled)
    }

    @Test func `what could never be charged is closed without asking`() async throws {
        let attempt = fixture.attempt(money(5_001, "KWD"))
        #expect(try await fixture.provider().cancel(fixture.reference(attempt)).outcome == .cancelled)
        #expect(fixture.calls.count == 1 && fixture.calls[0] == "GET payment_intents")
    }
}
