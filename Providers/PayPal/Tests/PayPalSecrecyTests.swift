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

    private func run(_ bench: PayPalFixture, _ provider: PayPalProvider) async -> [String] {
        var shown: [String] = []
        func show<Value>(_ call: () async throws -> Value) async {
            do { shown.append("\(try await call())") } catch { shown += ["\(error)", String(reflecting: error)] }
        }
        let attempt = bench.attempt()
        let reference = bench.reference(attempt, "5O19")
        let refund = bench.refund(reference, usd(1), reference: "1JU0")
        await show { try await provider.open(attempt) }
        await show { try await provider.query(reference) }
        await show { try await provider.cancel(reference) }
        await show { try await provider.refund(refund) }
        await show { try await provider.query(refund: refund) }
        await show { await provider.diagnose() }
        var dumped = ""
        dump(provider, to: &dumped)
        return shown + [dumped, "\(provider)", String(reflecting: provider)]
    }

    @Test(arguments: [200, 201, 400, 401, 403, 404, 409, 422, 429, 500])
    func `no answer's words reach a log or an error`(status: Int) async throws {
        let body = Data(
            """
            {"name":"planted code","message":"planted message","details":[{"issue":"planted code",\
            "description":"payer@example.com"}],"payer":{"email_address":"payer@example.com"},"id":"planted code"}
            """.utf8)
        let (box, now) = (FakePayPalServer(), ManualClock().now.rawValue)
        let headers = [(name: "Paypal-Debug-Id", value: "f9a8b7c6d5e4f")]
        let bench = PayPalFixture { request in
            request.url.hasSuffix("/token")
                ? box.answer(request, now: now) : IncomingReply(status: status, headers: headers, body: body)
        }
        let shown = await run(bench, try bench.provider())
        #expect(bench.lines.contains { $0.contains("debug_id=f9a8b7c6d5e4f") })
        for text in shown + bench.lines {
            for secret in Self.secrets { #expect(!text.contains(secret), "\(secret) is in \(text)") }
        }
    }

    @Test func `a notification's contents are in no error and no log`() async throws {
        let bench = PayPalFixture()
        let body = PayPalTestCertificates.event("PAYMENT.CAPTURE.COMPLETED", ["id": "../payer@example.com"])
        let now = bench.clock.now.rawValue
        for headers in [
            PayPalTestCertificates.headers(body, at: now),
            PayPalTestCertificates.headers(body, at: now, by: PayPalTestCertificates.stranger),
        ] {
            var shown = ""
            do {
                shown =
                    "\(try await bench.provider().receive(PayPalTestCertificates.notification(body, headers)).facts)"
            } catch {
                shown = String(reflecting: error)
            }
            for text in bench.lines + [shown] { #expect(!text.contains("payer@")) }
        }
    }
}
