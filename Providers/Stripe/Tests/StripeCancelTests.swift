import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

struct StripeCancelTests {
    private let bench = StripeFixture()

    @Test(arguments: [[:], StripeFixture.sessions])
    func `a cancel names the state that it saw in its key`(settings: [String: SettingValue]) async throws {
        let provider = try bench.provider(settings)
        let attempt = bench.attempt()
        let opened = try await provider.open(attempt)
        #expect(try await provider.cancel(bench.reference(attempt, opened.reference)).outcome == .cancelled)
        let key = bench.transport.requests.last.flatMap { FakeStripeServerCall($0).header("idempotency-key") }
        let state = settings.isEmpty ? "requires_payment_method" : "open"
        #expect(key == "\(attempt.payment.rawValue)-cancel-\(state)")
    }

    @Test func `what cannot be cancelled now is reported as it is, and cancelled later`() async throws {
        let provider = try bench.provider()
        let attempt = bench.attempt()
        let opened = try await provider.open(attempt)
        let reference = bench.reference(attempt, opened.reference)
        bench.standIn.state.withLock { $0.intents[0].status = "processing" }
        #expect(try await provider.cancel(reference).outcome == .processing)
        bench.standIn.state.withLock { $0.intents[0].status = "requires_payment_method" }
        #expect(try await provider.cancel(reference).outcome == .cancelled)
    }

    @Test(arguments: [[:], StripeFixture.sessions])
    func `a declined try does not keep a payment open`(settings: [String: SettingValue]) async throws {
        let provider = try bench.provider(settings)
        let attempt = bench.attempt()
        let opened = try await provider.open(attempt)
        _ = bench.standIn.act(succeed: false, on: attempt.payment.rawValue)
        let reference = bench.reference(attempt, opened.reference)
        #expect(try await provider.query(reference).outcome == .tryFailed(reason: "insufficient_funds"))
        #expect(try await provider.cancel(reference).outcome == .cancelled)
    }

    @Test func `a payment that is paid while it is cancelled is paid`() async throws {
        let provider = try bench.provider()
        let attempt = bench.attempt()
        let opened = try await provider.open(attempt)
        let reference = bench.reference(attempt, opened.reference)
        let intent = try #require(bench.standIn.state.withLock { $0.intents.first })
        // It is read as unpaid, and the cancel comes too late.
        bench.standIn.script(
            .json(intent.json), .stripe(400, "invalid_request_error", "payment_intent_unexpected_state"))
        _ = bench.standIn.act(succeed: true, on: attempt.payment.rawValue)
        #expect(try await provider.cancel(reference).outcome == .succeeded(usd(3990)))
    }

    @Test(arguments: [[:], StripeFixture.sessions])
    func `an opening that comes after the cancel opens nothing`(settings: [String: SettingValue]) async throws {
        let provider = try bench.provider(settings)
        let attempt = bench.attempt()
        let report = try await provider.cancel(bench.reference(attempt))
        #expect(report.outcome == .cancelled && report.reference != nil)
        await #expect(throws: ProviderError.rejected(reason: "payment_closed")) { try await provider.open(attempt) }
        #expect(!bench.standIn.act(succeed: true, on: attempt.payment.rawValue))
        #expect(try await provider.query(bench.reference(attempt)).outcome == .cancelled)
    }

    @Test func `an opening that ended in Stripe's own error is closed when it cannot run any more`() async throws {
        let provider = try bench.provider()
        let attempt = bench.attempt()
        let reply = IncomingReply.stripe(500, "api_error", headers: [(name: "Stripe-Should-Retry", value: "false")])
        bench.standIn.state.withLock {
            $0.keys["\(attempt.payment.rawValue)-open"] = FakeStripeServer.Stored(
                call: "POST payment_intents", form: "what the opening sent", reply: reply)
        }
        #expect(try await provider.cancel(bench.reference(attempt)).outcome == .pending(status: "not_found"))
        bench.clock.advance(seconds: 601)
        #expect(try await provider.cancel(bench.reference(attempt)).outcome == .cancelled)
    }

    @Test func `what could never be charged is closed without asking`() async throws {
        let attempt = bench.attempt(money(5_001, "KWD"))
        #expect(try await bench.provider().cancel(bench.reference(attempt)).outcome == .cancelled)
        #expect(bench.calls.count == 1 && bench.calls[0] == "GET payment_intents")
    }
}
