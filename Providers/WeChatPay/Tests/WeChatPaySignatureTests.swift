import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing
import WeChatPayProvider

/// Tests of the signatures of answers and notifications.
struct WeChatPaySignatureTests {
    private let fixture = WeChatPayFixture()

    private static let faults = [
        "no signature", "empty signature", "no base64", "probe", "two signatures", "no timestamp", "two timestamps",
        "letters as timestamp", "padded timestamp", "negative timestamp", "huge timestamp", "301 s old",
        "301 s ahead", "no nonce", "another nonce", "newline in nonce", "long nonce", "no serial", "bad serial",
        "unknown serial", "another's serial", "unknown public key id", "another type", "wrong certificate",
        "ended certificate", "signed by the merchant",
    ]

    /// Makes headers with one of the faults.
    private func headers(_ fault: String, _ body: Data) -> [(name: String, value: String)] {
        let now = fixture.clock.now.rawValue
        var headers = WeChatPaySeal.platform.headers(body, at: now)
        let (time, nonce, serial, signature, type) = (0, 1, 2, 3, 4)
        switch fault {
        case "no signature": headers.remove(at: signature)
        case "empty signature": headers[signature].value = ""
        case "no base64": headers[signature].value = "*"
        case "probe": headers[signature].value = "WECHATPAY/SIGNTEST/" + headers[signature].value
        case "two signatures": headers.append(headers[signature])
        case "no timestamp": headers.remove(at: time)
        case "two timestamps": headers.append(headers[time])
        case "letters as timestamp": headers[time].value = "now"
        case "padded timestamp": headers[time].value = "0\(now)"
        case "negative timestamp": headers[time].value = "-\(now)"
        case "huge timestamp": headers[time].value = String(repeating: "9", count: 30)
        case "301 s old": headers = WeChatPaySeal.platform.headers(body, at: now - 301)
        case "301 s ahead": headers = WeChatPaySeal.platform.headers(body, at: now + 301)
        case "no nonce": headers.remove(at: nonce)
        case "another nonce": headers[nonce].value = "x"
        case "newline in nonce": headers = WeChatPaySeal.platform.headers(body, at: now, nonce: "a\nb")
        case "long nonce":
            headers = WeChatPaySeal.platform.headers(body, at: now, nonce: String(repeating: "n", count: 129))
        case "no serial": headers.remove(at: serial)
        case "bad serial": headers[serial].value = "../5ACE5501"
        case "unknown serial": headers = WeChatPaySeal(.nextPlatform).headers(body, at: now)
        case "another's serial":
            headers = WeChatPaySeal(
                key: WeChatPayTestCertificates.stranger.key, serial: WeChatPayTestCertificates.platform.serial
            )
            .headers(body, at: now)
        case "unknown public key id": headers = WeChatPaySeal.publicKey.headers(body, at: now)
        case "another type": headers[type].value = "WECHATPAY2-SM2-WITH-SM3"
        case "wrong certificate": headers = WeChatPaySeal(.stranger).headers(body, at: now)
        case "ended certificate": headers = WeChatPaySeal(.endedPlatform).headers(body, at: now)
        default:
            headers = WeChatPaySeal(
                key: WeChatPayTestCertificates.merchant.key, serial: WeChatPayTestCertificates.merchant.serial
            )
            .headers(body, at: now)
        }
        return headers
    }

    @Test(arguments: faults)
    func `a notification that is not proven is refused`(fault: String) async throws {
        fixture.standIn.state.withLock { $0.certificates.append(WeChatPayTestCertificates.endedPlatform) }
        let body = FakeWeChatPayServer.event("TRANSACTION.SUCCESS", ["a": 1])
        let raw = FakeWeChatPayServer.notification(body, headers(fault, body))
        await #expect { try await fixture.provider().receive(raw) } throws: {
            ($0 as? ProviderError)?.isUnproven ?? false
        }
    }

    @Test(arguments: faults)
    func `an answer that is not proven is not believed`(fault: String) async throws {
        fixture.standIn.state.withLock { $0.certificates.append(WeChatPayTestCertificates.endedPlatform) }
        let attempt = fixture.attempt()
        let order = FakeWeChatPayServer.Order(
            number: attempt.payment.rawValue, total: 3990, body: Data(), mode: "native", state: "SUCCESS")
        let body = try JSONSerialization.data(withJSONObject: order.json)
        fixture.standIn.script(
            "/out-trade-no/", IncomingReply(status: 200, headers: headers(fault, body), body: body))
        await #expect(throws: ProviderError.unproven(.signature)) {
            try await fixture.provider().query(fixture.reference(attempt))
        }
        #expect(fixture.logged.contains { $0.contains("missing or wrong") })
        // Without a body as well.
        fixture.standIn.script("/close", IncomingReply(status: 204, headers: headers(fault, Data()), body: Data()))
        await #expect(throws: ProviderError.unproven(.signature)) {
            try await fixture.provider().cancel(fixture.reference(attempt))
        }
    }

    /// A refusal ends a payment or a refund, so it must be genuine.
    @Test(arguments: faults)
    func `a refusal that is not proven is none`(fault: String) async throws {
        fixture.standIn.state.withLock { $0.certificates.append(WeChatPayTestCertificates.endedPlatform) }
        let body = Data(#"{"code":"PARAM_ERROR","message":"x"}"#.utf8)
        let attempt = fixture.attempt()
        for (part, status) in [("/transactions/native", 400), ("/refunds", 403)] {
            fixture.standIn.script(part, IncomingReply(status: status, headers: headers(fault, body), body: body))
        }
        await #expect(throws: ProviderError.outcomeUnknown) { try await fixture.provider().open(attempt) }
        await #expect(throws: ProviderError.outcomeUnknown) {
            try await fixture.provider().refund(fixture.refund(fixture.reference(attempt), cny(1)))
        }
        fixture.standIn.script("/out-trade-no/", IncomingReply(status: 404, headers: headers(fault, body), body: body))
        await #expect(throws: ProviderError.unavailable) {
            try await fixture.provider().query(fixture.reference(attempt))
        }
    }

    @Test func `a signature counts within five minutes, and without its type`() async throws {
        let body = FakeWeChatPayServer.event("OTHER.EVENT", ["a": 1])
        let provider = try fixture.provider()
        for (name, offset) in [("now", 0), ("300 s old", -300), ("300 s ahead", 300)] as [(String, Int64)] {
            var headers = WeChatPaySeal.platform.headers(body, at: fixture.clock.now.rawValue + offset)
            _ = try await provider.receive(FakeWeChatPayServer.notification(body, headers))
            headers.removeLast()
            let received = try await provider.receive(FakeWeChatPayServer.notification(body, headers))
            #expect(received.facts.isEmpty, "\(name)")
        }
    }

    @Test func `a kept notification is compared with the time of its arrival`() async throws {
        let body = FakeWeChatPayServer.event("OTHER.EVENT", ["a": 1])
        let raw = fixture.notification(body)
        let kept = RawNotification(
            method: .post, headers: raw.headers, body: raw.body, receivedAt: fixture.clock.now)
        fixture.clock.advance(seconds: 3 * 86_400)
        await #expect(throws: ProviderError.unproven(.time)) { try await fixture.provider().receive(raw) }
        _ = try await fixture.provider().receive(kept)
    }

    @Test func `both kinds of key prove where both are set`() async throws {
        let body = FakeWeChatPayServer.event("OTHER.EVENT", ["a": 1])
        let provider = try fixture.provider(WeChatPayFixture.publicKey)
        _ = try await provider.receive(fixture.notification(body, by: .publicKey))
        #expect(fixture.calls.isEmpty, "the public key has to be fetched from nowhere")
        _ = try await provider.receive(fixture.notification(body, by: .platform))
        await #expect(throws: ProviderError.unproven(.certificate)) {
            try await provider.receive(fixture.notification(body, by: WeChatPaySeal(.stranger)))
        }
    }
}
