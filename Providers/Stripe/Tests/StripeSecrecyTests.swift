import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import TestSupport
import Testing

/// Tests that planted secrets appear in no log and no answer.
struct StripeSecrecyTests {
    /// The secrets in Stripe's message about a wrong key, and a payer's data in a notification.
    private static let planted = ["sk_test_planted", "payer@example.com", "pi_1_secret_planted", "4242"]

    @Test(arguments: [400, 401, 402, 403, 404, 409, 429, 500, 200])
    func `no answer's words reach a log or an error`(status: Int) async throws {
        let body = Data(
            """
            {"error":{"type":"invalid_request_error","code":"payer@example.com","decline_code":"4242 4242",\
            "message":"Invalid API Key provided: sk_test_planted","payment_intent":{"client_secret":"pi_1_secret_planted"}}}
            """.utf8)
        let headers = [(name: "Request-Id", value: "req_Ab9")]
        let fixture = StripeFixture { _ in IncomingReply(status: status, headers: headers, body: body) }
        let shown = await fixture.shown(by: try fixture.provider(), "pi_1", keepsResults: false)
        let logged = fixture.logged
        #expect(logged.count >= 5 && logged.allSatisfy { $0.contains("request_id=req_Ab9") })
        for text in shown {
            for secret in Self.planted + [FakeStripeServer.key, StripeFixture.secret] {
                #expect(!text.contains(secret), "\(secret) is in \(text)")
            }
        }
    }

    @Test func `a strange request id is not logged`() async throws {
        let fixture = StripeFixture { _ in
            IncomingReply(status: 500, headers: [(name: "request-id", value: "a b\u{1B}[31m")])
        }
        _ = try? await fixture.provider().open(fixture.attempt())
        let logged = fixture.logged
        #expect(logged.count == 3 && !logged.contains { $0.contains("request_id") || $0.contains("\u{1B}") })
    }

    @Test func `a refused key is an error in the log and no answer a warning`() async throws {
        let refused = StripeFixture { _ in .stripe(401, "invalid_request_error") }
        _ = try? await refused.provider().open(refused.attempt())
        #expect(
            refused.logged == [
                "error stripe: the secret key was refused call=POST payment_intents request_id=req_9kQ401 status=401 "
                    + "type=invalid_request_error"
            ])
        let silent = StripeFixture { _ throws(HTTPTransportError) in throw .outcomeUnknown }
        _ = try? await silent.provider().open(silent.attempt())
        #expect(
            silent.logged == [
                "warning stripe: no answer call=POST payment_intents error=outcomeUnknown"
            ])
    }

    @Test func `a notification's body is in no error`() async throws {
        let fixture = StripeFixture()
        let body = Data(#"{"id":"evt_1","payer@example.com":"4242"#.utf8)
        for secret in [StripeFixture.secret, "whsec_other"] {
            let raw = FakeStripeServer.notification(
                body, [FakeStripeServer.signature(body, at: fixture.clock.now.rawValue, secret: secret)])
            let error = await #expect(throws: ProviderError.self) { try await fixture.provider().receive(raw) }
            #expect(!"\(String(reflecting: error))".contains("payer"))
        }
        #expect(fixture.logged.isEmpty)
    }

    @Test(arguments: TestEngine.allCases)
    func `a genuine notification leaves nothing of its words in the log or in clear in the database`(
        _ engine: TestEngine
    ) async throws {
        let capture = LogCapture()
        var setup = GatewayFixtureSetup()
        setup.logger = capture.logger()
        try await withDesk(on: engine, setup) { desk in
            let standIn = FakeStripeServer()
            let clock = desk.clock
            let transport = RecordingTransport(changesSomething: { $0.method == "POST" }) { request in
                standIn.answer(request, now: clock.now.rawValue)
            }
            let stripe = try StripeGatewayFixture(desk, http: transport)
            let contract = try await stripe.checkout()
            #expect(standIn.act(succeed: true, on: try desk.payment(contract).rawValue))
            var intent = standIn.state.withLock { $0.intents[0].json }
            intent["receipt_email"] = "payer@example.com"
            intent["client_secret"] = "pi_1_secret_planted"
            // A forged notification is logged, which shows that the log is checked.
            let forged = FakeStripeServer.event("payment_intent.succeeded", intent, id: "evt_0")
            await #expect(throws: GatewayError.invalidNotification) {
                try await stripe.notify(forged, "t=\(clock.now.rawValue),v1=00")
            }
            #expect(!capture.text.isEmpty)
            try await stripe.notify("payment_intent.succeeded", intent, id: "evt_1")
            #expect(try await stripe.state(contract) == .paid)
            for secret in ["payer@example.com", "pi_1_secret_planted", StripeFixture.secret, FakeStripeServer.key] {
                #expect(!capture.text.contains(secret), "\(secret)")
                #expect(try await desk.places(of: secret) == [], "\(secret)")
            }
        }
    }
}
