import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

struct StripeEventTests {
    private let fixture = StripeFixture()

    private func facts(_ type: String, _ object: Any) async throws -> [ProviderFact] {
        try await fixture.provider().receive(fixture.notification(type, object)).facts
    }

    @Test func `a succeeded PaymentIntent states its amount and its id`() async throws {
        let attempt = fixture.attempt()
        _ = try await fixture.provider().open(attempt)
        _ = fixture.standIn.act(succeed: true, on: attempt.payment.rawValue)
        let intent = try #require(fixture.standIn.state.withLock { $0.intents.first })
        #expect(
            try await facts("payment_intent.succeeded", intent.json) == [
                .payment(
                    PaymentReport(payment: attempt.payment, outcome: .succeeded(usd(3990)), reference: intent.id))
            ])
    }

    @Test func `a session's PaymentIntent tells of success and failed tries only`() async throws {
        let attempt = fixture.attempt()
        _ = try await fixture.provider(StripeFixture.sessions).open(attempt)
        _ = fixture.standIn.act(succeed: false, on: attempt.payment.rawValue)
        var intent = try #require(fixture.standIn.state.withLock { $0.intents.first })
        #expect(
            try await facts("payment_intent.payment_failed", intent.json) == [
                .payment(
                    PaymentReport(payment: attempt.payment, outcome: .tryFailed(reason: "insufficient_funds")))
            ])
        intent.status = "canceled"
        #expect(try await facts("payment_intent.canceled", intent.json).isEmpty)
        (intent.status, intent.received) = ("succeeded", 3990)
        #expect(
            try await facts("payment_intent.succeeded", intent.json) == [
                .payment(PaymentReport(payment: attempt.payment, outcome: .succeeded(usd(3990))))
            ])
    }

    @Test(arguments: [
        "customer.created", "invoice.paid", "payment_method.attached", "charge.succeeded", "refunds.created",
        "checkout.sessions.completed", "ping", "v2.core.event",
    ])
    func `an event of another type states nothing and is acknowledged`(type: String) async throws {
        let received = try await fixture.provider().receive(fixture.notification(type, ["id": "x", "status": 7]))
        #expect(received.facts.isEmpty && received.type == type && received.acknowledgement.status == 200)
        #expect(fixture.calls.isEmpty)
    }

    @Test(arguments: ["payment_intent.succeeded", "checkout.session.completed", "refund.created", "charge.refunded"])
    func `an object of another system is none of ours`(type: String) async throws {
        let object: [String: Any] = [
            "id": "pi_9", "status": "succeeded", "payment_status": "paid", "amount": 1, "amount_total": 1,
            "currency": "usd", "metadata": ["payment_id": "theirs", "order_id": "7"],
        ]
        #expect(try await facts(type, object).isEmpty)
    }

    @Test func `a refund that was made in the Dashboard is told with Stripe's id`() async throws {
        let provider = try fixture.provider()
        let payment = try await fixture.paid(provider)
        let intent = fixture.standIn.state.withLock { $0.intents[0].id }
        let refund = FakeStripeServer.Refund(
            id: "re_dashboard", intent: intent, amount: 990, currency: "usd", metadata: [:], created: 0)
        let expected = ProviderFact.refund(
            RefundReport(
                payment: payment.payment, refund: nil, outcome: .succeeded, amount: usd(990), reference: "re_dashboard",
                paymentReference: intent))
        #expect(try await facts("refund.created", refund.json) == [expected])
        #expect(try await facts("charge.refund.updated", refund.json) == [expected])
        fixture.standIn.state.withLock { $0.refunds.append(refund) }
        // The charge's event has no refunds in it, so they are asked for.
        let charge: [String: Any] = ["id": "ch_1", "payment_intent": intent, "refunded": false, "amount_refunded": 990]
        #expect(try await facts("charge.refunded", charge) == [expected])
    }

    @Test(
        arguments: [
            ("created", "needs_response", .opened), ("updated", "under_review", .opened), ("closed", "won", .won),
            ("closed", "lost", .lost), ("funds_withdrawn", "needs_response", .opened),
            ("funds_reinstated", "won", .won), ("created", "warning_needs_response", nil),
            ("closed", "warning_closed", nil), ("updated", "teleported", nil),
        ] as [(String, String, DisputeOutcome?)])
    func `a dispute is traced by its PaymentIntent`(type: String, status: String, outcome: DisputeOutcome?) async throws
    {
        let payment = try await fixture.paid(try fixture.provider())
        let intent = fixture.standIn.state.withLock { $0.intents[0].id }
        let dispute: [String: Any] = [
            "id": "du_1", "amount": 3990, "currency": "usd", "status": status, "payment_intent": intent,
        ]
        let expected = outcome.map {
            ProviderFact.dispute(
                DisputeReport(
                    payment: payment.payment, reference: "du_1", outcome: $0, amount: usd(3990),
                    at: FakeStripeServer.eventTime, paymentReference: intent))
        }
        #expect(try await facts("charge.dispute.\(type)", dispute) == [expected].compactMap(\.self))
    }

    @Test func `while Stripe cannot say whose it is the notification is not taken`() async throws {
        let provider = try fixture.provider()
        let dispute: [String: Any] = [
            "id": "du_1", "amount": 1, "currency": "usd", "status": "lost", "payment_intent": "pi_1",
        ]
        let raw = fixture.notification("charge.dispute.closed", dispute)
        fixture.standIn.script(.stripe(429, "rate_limit_error"))
        await #expect(throws: ProviderError.unavailable) { try await provider.receive(raw) }
        // A PaymentIntent that is not found belongs to another account.
        #expect(try await provider.receive(raw).facts.isEmpty)
    }

    @Test func `the other mode is refused and a connected account's events mean nothing`() async throws {
        let provider = try fixture.provider()
        let payment = try await fixture.paid(provider)
        let intent = fixture.standIn.state.withLock { $0.intents[0].json }
        func raw(_ body: Data) -> RawNotification {
            FakeStripeServer.notification(
                body, [FakeStripeServer.signature(body, at: fixture.clock.now.rawValue, secret: StripeFixture.secret)])
        }
        let live = FakeStripeServer.event("payment_intent.succeeded", intent, livemode: true)
        await #expect(throws: ProviderError.unproven(.otherMode)) { try await provider.receive(raw(live)) }
        let connected = FakeStripeServer.event("payment_intent.succeeded", intent, account: "acct_1")
        #expect(try await provider.receive(raw(connected)).facts.isEmpty)
        let own = FakeStripeServer.event("payment_intent.succeeded", intent)
        #expect(try await provider.receive(raw(own)).facts.first?.payment == payment.payment)
    }

    @Test(arguments: [
        (#"{"#, "malformed_body"), ("[]", "malformed_body"), ("null", "malformed_body"), ("", "malformed_body"),
        (#"{"id":"evt_1","type":"ping"}"#, "malformed_body"),
        (#"{"id":1,"type":"ping","livemode":false}"#, "malformed_body"),
        (#"{"id":"","type":"ping","livemode":false}"#, "bad_event_id"),
        (#"{"id":"evt_1","type":"","livemode":false}"#, "bad_type"),
        (#"{"id":"evt_1","type":"payment_intent.succeeded","livemode":false}"#, "malformed_object"),
        (#"{"id":"evt_1","type":"payment_intent.x","livemode":false,"data":{"object":{}}}"#, "malformed_object"),
        (#"{"id":"evt_1","type":"refund.x","livemode":false,"data":{"object":[1]}}"#, "malformed_object"),
        (
            #"{"id":"evt_1","type":"payment_intent.succeeded","livemode":false,"data":{"object":{"id":"pi_1","#
                + #""status":"succeeded","amount_received":1.5,"metadata":{}}}}"#, "malformed_object"
        ),
        (String(repeating: "[", count: 100_000), "malformed_body"),
    ])
    func `a genuine body that cannot be understood is rejected`(text: String, reason: String) async throws {
        let body = Data(text.utf8)
        let raw = FakeStripeServer.notification(
            body, [FakeStripeServer.signature(body, at: fixture.clock.now.rawValue, secret: StripeFixture.secret)])
        await #expect(throws: ProviderError.rejected(reason: reason)) { try await fixture.provider().receive(raw) }
    }
}
