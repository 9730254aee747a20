import Domain
import Foundation
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

/// Tests that planted secrets appear in no log and no answer.
struct PayPalSecrecyTests {
    private static let secrets = [
        "planted message", "payer@example.com", "planted code", FakePayPalServer.clientSecret, "A21AA-planted-token",
        Data("\(FakePayPalServer.clientID):\(FakePayPalServer.clientSecret)".utf8).base64EncodedString(),
    ]

    @Test(arguments: [200, 201, 400, 401, 403, 404, 409, 422, 429, 500])
    func `no answer's words reach a log or an error`(status: Int) async throws {
        let body = Data(
            """
            {"name":"planted code","message":"planted message","details":[{"issue":"planted code",\
            "description":"payer@example.com"}],"payer":{"email_address":"payer@example.com"},"id":"planted code"}
            """.utf8)
        let (box, now) = (FakePayPalServer(), ManualClock().now.rawValue)
        let headers = [(name: "Paypal-Debug-Id", value: "f9a8b7c6d5e4f")]
        let fixture = PayPalFixture { request in
            request.url.hasSuffix("/token")
                ? box.answer(request, now: now) : IncomingReply(status: status, headers: headers, body: body)
        }
        let shown = await fixture.shown(by: try fixture.provider(), "5O19")
        #expect(fixture.logged.contains { $0.contains("debug_id=f9a8b7c6d5e4f") })
        for text in shown {
            for secret in Self.secrets { #expect(!text.contains(secret), "\(secret) is in \(text)") }
        }
    }

    @Test func `a notification's contents are in no error and no log`() async throws {
        let fixture = PayPalFixture()
        let body = PayPalTestCertificates.event("PAYMENT.CAPTURE.COMPLETED", ["id": "../payer@example.com"])
        let now = fixture.clock.now.rawValue
        for headers in [
            PayPalTestCertificates.headers(body, at: now),
            PayPalTestCertificates.headers(body, at: now, by: PayPalTestCertificates.stranger),
        ] {
            var shown = ""
            do {
                shown =
                    "\(try await fixture.provider().receive(PayPalTestCertificates.notification(body, headers)).facts)"
            } catch {
                shown = String(reflecting: error)
            }
            for text in fixture.logged + [shown] { #expect(!text.contains("payer@")) }
        }
    }
}
