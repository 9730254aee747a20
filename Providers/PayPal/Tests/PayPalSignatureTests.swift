import Domain
import Foundation
import PayPalProvider
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

/// Tests of a notification's signature.
struct PayPalSignatureTests {
    private let fixture = PayPalFixture()
    private let body = PayPalTestCertificates.event("OTHER.EVENT", ["id": "x"])

    private static let faults = [
        "no signature", "two signatures", "no base64", "no id", "no time", "no time at all", "a bar in the id",
        "another id", "another time", "another webhook", "another algorithm", "SHA1", "3.5 days old", "6 minutes ahead",
        "a foreign host", "http", "a lookalike host", "a port", "user information", "a query", "another path",
        "a path up",
        "no certificate there", "another's certificate", "a lookalike's certificate", "an ended certificate",
        "a self-made chain", "the certificate alone", "no certificate in it", "another's key",
    ]

    /// Makes headers with one of the faults.
    private func headers(_ fault: String) -> [(name: String, value: String)] {
        let now = fixture.clock.now.rawValue
        var headers = PayPalTestCertificates.headers(body, at: now)
        let (id, time, signature, url, algorithm) = (0, 1, 2, 3, 4)
        func serve(_ pem: String) {
            fixture.standIn.state.withLock { $0.certificates[PayPalTestCertificates.certificateURL] = pem }
        }
        func leadTo(_ address: String) {
            headers = PayPalTestCertificates.headers(body, at: now, url: address)
            // It is there, and good; only the place is wrong.
            fixture.standIn.state.withLock { $0.certificates[address] = PayPalTestCertificates.paypal.pem }
        }
        let name = "CERT-360caa42-fca2a594-5a29e601"
        switch fault {
        case "no signature": headers.remove(at: signature)
        case "two signatures": headers.append(headers[signature])
        case "no base64": headers[signature].value = "*"
        case "no id": headers.remove(at: id)
        case "no time": headers[time].value = "now"
        case "no time at all": headers.remove(at: time)
        case "a bar in the id": headers = PayPalTestCertificates.headers(body, at: now, id: "a|b")
        case "another id": headers[id].value = "x"
        case "another time": headers[time].value = PayPalTestCertificates.headers(body, at: now + 1)[time].value
        case "another webhook": headers = PayPalTestCertificates.headers(body, at: now, webhookID: "1JE4291016473214C")
        case "another algorithm": headers[algorithm].value = "SHA512withRSA"
        case "SHA1": headers[algorithm].value = "SHA1withRSA"
        case "3.5 days old": headers = PayPalTestCertificates.headers(body, at: now - 84 * 3_600)
        case "6 minutes ahead": headers = PayPalTestCertificates.headers(body, at: now + 360)
        case "a foreign host": leadTo("https://api.paypal.com.evil.example/v1/notifications/certs/\(name)")
        case "http": leadTo("http://api.paypal.com/v1/notifications/certs/\(name)")
        case "a lookalike host": leadTo("https://api.paypa1.com/v1/notifications/certs/\(name)")
        case "a port": leadTo("https://api.paypal.com:8443/v1/notifications/certs/\(name)")
        case "user information": leadTo("https://api.paypal.com@evil.example/v1/notifications/certs/\(name)")
        case "a query": leadTo("https://api.paypal.com/v1/notifications/certs/\(name)?x=1")
        case "another path": leadTo("https://api.paypal.com/uploads/\(name)")
        case "a path up": leadTo("https://api.paypal.com/v1/notifications/certs/../\(name)")
        case "no certificate there": fixture.standIn.state.withLock { $0.certificates = [:] }
        case "another's certificate":
            serve(PayPalTestCertificates.stranger.pem)
            headers = PayPalTestCertificates.headers(body, at: now, by: PayPalTestCertificates.stranger)
        case "a lookalike's certificate":
            serve(PayPalTestCertificates.lookalike.pem)
            headers = PayPalTestCertificates.headers(body, at: now, by: PayPalTestCertificates.lookalike)
        case "an ended certificate":
            serve(PayPalTestCertificates.ended.pem)
            headers = PayPalTestCertificates.headers(body, at: now, by: PayPalTestCertificates.ended)
        case "a self-made chain":
            serve(PayPalTestCertificates.selfMade.pem)
            headers = PayPalTestCertificates.headers(body, at: now, by: PayPalTestCertificates.selfMade)
        case "the certificate alone":
            serve(
                PayPalTestCertificates.paypal.pem.components(separatedBy: "-----END CERTIFICATE-----")[0]
                    + "-----END CERTIFICATE-----\n")
        case "no certificate in it": serve("<html></html>")
        default: headers = PayPalTestCertificates.headers(body, at: now, by: PayPalTestCertificates.stranger)
        }
        _ = url
        return headers
    }

    @Test(arguments: faults)
    func `what is not proven is refused`(fault: String) async throws {
        let raw = PayPalTestCertificates.notification(body, headers(fault))
        await #expect { try await fixture.provider().receive(raw) } throws: {
            ($0 as? ProviderError)?.isUnproven ?? false
        }
    }

    @Test(arguments: [
        "a foreign host", "http", "a lookalike host", "a port", "user information", "a query", "another path",
        "a path up",
    ])
    func `no certificate is fetched from elsewhere`(fault: String) async throws {
        let raw = PayPalTestCertificates.notification(body, headers(fault))
        for settings in [[:], ["api_base": .text("https://evil.example")]] as [[String: SettingValue]] {
            await #expect(throws: ProviderError.unproven(.certificate)) {
                try await fixture.provider(settings).receive(raw)
            }
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test(arguments: [
        "no signature", "no base64", "another id", "another time", "another webhook", "another algorithm",
        "3.5 days old", "6 minutes ahead", "another's key",
    ])
    func `what PayPal does not confirm is refused`(fault: String) async throws {
        let raw = PayPalTestCertificates.notification(body, headers(fault))
        await #expect {
            try await fixture.provider(PayPalFixture.byAPI).receive(raw)
        } throws: { ($0 as? ProviderError)?.isUnproven ?? false }
        let good = PayPalTestCertificates.notification(
            body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue))
        #expect(try await fixture.provider(PayPalFixture.byAPI).receive(good).facts.isEmpty)
    }

    @Test(arguments: ["", "null", "{}x", #"{"a":1},"webhook_id":"mine""#, "[1, 2"])
    func `what is no JSON of its own is not put into a question`(text: String) async throws {
        let body = Data(text.utf8)
        let raw = PayPalTestCertificates.notification(
            body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue))
        await #expect(throws: ProviderError.self) { try await fixture.provider(PayPalFixture.byAPI).receive(raw) }
    }

    @Test func `PayPal's trouble is no refusal`() async throws {
        let raw = PayPalTestCertificates.notification(
            body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue))
        for reply in [
            IncomingReply(status: 500), .paypal(429, "RATE_LIMIT_REACHED"), .paypal(503, "SERVICE_UNAVAILABLE"),
        ] {
            fixture.standIn.script("/verify-webhook-signature", reply)
            await #expect(throws: ProviderError.unavailable) {
                try await fixture.provider(PayPalFixture.byAPI).receive(raw)
            }
            fixture.standIn.script("/certs/", IncomingReply(status: 500))
            await #expect(throws: ProviderError.unavailable) { try await fixture.provider().receive(raw) }
        }
    }

    @Test func `a certificate is fetched once a day, and strangers' names cost little`() async throws {
        let provider = try fixture.provider()
        for _ in 0..<5 {
            _ = try await provider.receive(
                PayPalTestCertificates.notification(
                    body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue)))
        }
        #expect(fixture.transport.requests.count == 1)
        var ends: [ProviderError?] = []
        for number in 0..<50 {
            let url = "https://api.paypal.com/v1/notifications/certs/CERT-\(number)"
            let raw = PayPalTestCertificates.notification(
                body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue, url: url))
            ends.append(await #expect(throws: ProviderError.self) { try await provider.receive(raw) })
        }
        #expect(fixture.transport.requests.count == 6)
        #expect(
            ends.filter { $0 == .unproven(.certificate) }.count == 5 && ends.filter { $0 == .unavailable }.count == 45)
        // A genuine notification is accepted nevertheless.
        _ = try await provider.receive(
            PayPalTestCertificates.notification(
                body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue)))
        fixture.clock.advance(seconds: 86_400)
        _ = try await provider.receive(
            PayPalTestCertificates.notification(
                body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue)))
        #expect(fixture.transport.requests.count == 7)
    }

    /// Bodies whose sums are on both sides of 2^31, because the sum is written without a sign.
    @Test func `the sum of a body has no sign`() async throws {
        let provider = try fixture.provider()
        var seen: Set<Bool> = []
        for number in 0..<16 {
            let body = PayPalTestCertificates.event("OTHER.EVENT", ["id": "\(number)"])
            seen.insert(PayPalTestCertificates.crc(body) > UInt32(Int32.max))
            _ = try await provider.receive(
                PayPalTestCertificates.notification(
                    body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue)))
        }
        #expect(seen == [true, false])
        #expect(PayPalTestCertificates.crc(Data("123456789".utf8)) == 0xCBF4_3926)
    }

    @Test func `a notification of days ago still counts, and a kept one by its arrival`() async throws {
        let raw = PayPalTestCertificates.notification(
            body, PayPalTestCertificates.headers(body, at: fixture.clock.now.rawValue))
        let kept = RawNotification(method: .post, headers: raw.headers, body: raw.body, receivedAt: fixture.clock.now)
        fixture.clock.advance(seconds: 3 * 86_400)
        _ = try await fixture.provider().receive(raw)
        fixture.clock.advance(seconds: 30 * 86_400)
        await #expect(throws: ProviderError.unproven(.time)) { try await fixture.provider().receive(raw) }
        _ = try await fixture.provider().receive(kept)
    }

    /// A CRC32 is no cryptographic digest: with a genuine notification an attacker can put another body under its
    /// signature.
    @Test func `a body with the same sum moves nothing that PayPal does not confirm`() async throws {
        let payment = fixture.attempt().payment
        let genuine = PayPalTestCertificates.event("OTHER.EVENT", ["id": "x"])
        let capture = FakePayPalServer.Capture(
            id: "CAP1", order: "O1", custom: payment.rawValue, amount: ["currency_code": "USD", "value": "39.90"])
        let forged = PayPalForgery.body(
            PayPalTestCertificates.event("PAYMENT.CAPTURE.COMPLETED", capture.json),
            sum: PayPalTestCertificates.crc(genuine))
        #expect(PayPalTestCertificates.crc(forged) == PayPalTestCertificates.crc(genuine) && forged != genuine)
        let headers = PayPalTestCertificates.headers(genuine, at: fixture.clock.now.rawValue)
        let received = try await fixture.provider().receive(PayPalTestCertificates.notification(forged, headers))
        #expect(received.facts.isEmpty, "the signature is good, and PayPal has no such capture")
        // A forged body about an existing capture has no effect either.
        let real = FakePayPalServer.Capture(
            id: "CAP1", order: "O1", custom: payment.rawValue, amount: capture.amount, status: "PENDING")
        try await fixture.standIn.take(real, into: fixture.context.book)
        let facts = try await fixture.provider().receive(PayPalTestCertificates.notification(forged, headers)).facts
        #expect(
            facts == [.payment(PaymentReport(payment: payment, outcome: .pending(status: "PENDING"), reference: "O1"))])
    }
}

/// Forges a JSON object with any CRC32, by white space at its end.
enum PayPalForgery {
    /// Solves for the bits of 64 bytes, each a space or a tab, by Gaussian elimination.
    static func body(_ body: Data, sum wanted: UInt32) -> Data {
        let length = 64
        func padded(_ tabs: UInt64) -> Data {
            body + Data((0..<length).map { tabs >> UInt64($0) & 1 == 1 ? 0x09 : 0x20 })
        }
        let base = PayPalTestCertificates.crc(padded(0))
        // The sum is linear in the bits in which a space and a tab differ.
        var rows: [(value: UInt32, tabs: UInt64)] = (0..<length).map {
            (PayPalTestCertificates.crc(padded(1 << UInt64($0))) ^ base, 1 << UInt64($0))
        }
        var (target, chosen) = (base ^ wanted, UInt64(0))
        for bit in 0..<32 {
            guard let index = rows.firstIndex(where: { $0.value >> UInt32(bit) & 1 == 1 }) else { continue }
            let pivot = rows.remove(at: index)
            for other in rows.indices where rows[other].value >> UInt32(bit) & 1 == 1 {
                rows[other] = (rows[other].value ^ pivot.value, rows[other].tabs ^ pivot.tabs)
            }
            if target >> UInt32(bit) & 1 == 1 {
                target ^= pivot.value
                chosen ^= pivot.tabs
            }
        }
        return padded(chosen)
    }
}
