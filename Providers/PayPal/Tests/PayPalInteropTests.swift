import Domain
import Foundation
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization
import TestSupport
import Testing

/// Compares with PayPal's own library for Python, and with notifications of an independent generator.
@Suite("PayPal's own library agrees", .serialized, .timeLimit(.minutes(30)))
struct PayPalInteropTests {
    private let python = InteropPython(peer: "paypal-server-sdk and cryptography")

    @Test func `that the stand-in is a PayPal`() async throws {
        let standIn = FakePayPalServer()
        let server = try FakeHTTPServer { request in
            if request.url.contains("/approve/"), let payment = request.url.split(separator: "/").last {
                return IncomingReply(status: standIn.approve(String(payment)) ? 200 : 409)
            }
            return standIn.answer(request, now: Int64(Date().timeIntervalSince1970))
        }
        defer { server.stop() }
        let arguments = [server.base, FakePayPalServer.clientID, FakePayPalServer.clientSecret]
        let output = try await python.run("client.py", arguments)
        #expect(output.hasPrefix("accepted "))
        print("interop: the stand-in and PayPal's library:", output.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test func `about the shapes of our requests`() async throws {
        let fixture = PayPalFixture()
        let provider = try fixture.provider(["brand_name": .text("A shop")])
        let payment = try await fixture.paid(provider)
        _ = try await provider.refund(fixture.refund(payment, usd(990)))
        let bodies = fixture.transport.requests.map(FakePayPalServerCall.init).compactMap { call -> [String: Any]? in
            guard ["orders", "refund"].contains(call.path.last ?? ""), call.method == "POST" else { return nil }
            return ["call": call.path.last ?? "", "body": call.object]
        }
        #expect(bodies.count == 2)
        // A body with an unknown field shows that the peer checks.
        let strange: [String: Any] = ["call": "refund", "body": ["invoice_id": "x", "colour": "red"]]
        let lines = try (bodies + [strange]).map { body in
            String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
        }
        let output = try await python.run("shapes.py", input: Data(lines.joined(separator: "\n").utf8))
        #expect(output == "accept\naccept\n.colour\n")
        print("interop: our order and our refund have the shapes of PayPal's library")
    }

    @Test func `about every notification that Python mints`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "paypal-interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = PayPalFixture()
        let payment = fixture.attempt().payment
        let capture = FakePayPalServer.Capture(
            id: "CAP1", order: "O1", custom: payment.rawValue, amount: ["currency_code": "USD", "value": "39.90"])
        try await fixture.standIn.take(capture, into: fixture.context.book)
        let bodies = (0..<8).map { number in
            String(
                decoding: PayPalTestCertificates.event("PAYMENT.CAPTURE.COMPLETED", capture.json, id: "WH-\(number)-é"),
                as: UTF8.self)
        }
        #expect(Set(bodies.map { PayPalTestCertificates.crc(Data($0.utf8)) > UInt32(Int32.max) }) == [true, false])
        let settings: [String: Any] = [
            "folder": folder.path, "webhook_id": PayPalTestCertificates.webhookID, "now": fixture.clock.now.rawValue,
            "certificate_url": PayPalTestCertificates.certificateURL, "bodies": bodies,
        ]
        let argument = String(decoding: try JSONSerialization.data(withJSONObject: settings), as: UTF8.self)
        let output = try await python.run("mint.py", [argument])
        let rows = try output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(rows.count == 22)
        let roots: [String: SettingValue] = [
            "root_certificates": .list([.text(folder.appending(path: "root.pem").path)])
        ]
        for row in rows {
            let name = row["name"] as? String ?? ""
            let pem = try String(
                contentsOf: folder.appending(path: row["chain"] as? String ?? ""), encoding: .utf8)
            fixture.standIn.state.withLock { $0.certificates[PayPalTestCertificates.certificateURL] = pem }
            fixture.context.cache.forget("certificate \(PayPalTestCertificates.certificateURL)")
            fixture.context.cache.forget("certificate_fetches")
            let headers = (row["headers"] as? [String: String] ?? [:]).map {
                (name: $0.key.lowercased(), value: $0.value)
            }
            let raw = PayPalTestCertificates.notification(Data((row["body"] as? String ?? "").utf8), headers)
            guard row["good"] as? Bool == true else {
                let error = await #expect(throws: ProviderError.self, "\(name)") {
                    try await fixture.provider(roots).receive(raw)
                }
                #expect(error?.isUnproven == true, "\(name)")
                continue
            }
            let facts = try await fixture.provider(roots).receive(raw).facts
            #expect(
                facts == [
                    .payment(PaymentReport(payment: payment, outcome: .succeeded(usd(3990)), reference: "O1"))
                ], "\(name)")
        }
        print("interop: \(rows.count) notifications minted by Python, we agree about each")
    }
}
