import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing
import WeChatPayProvider

/// Tests that planted secrets appear in no log and no answer.
struct WeChatPaySecrecyTests {
    private static let planted = ["planted-message", "planted-openid", "payer@example.com", "planted code"]

    private static var secrets: [String] {
        let lines = WeChatPayTestCertificates.merchantKey.split(separator: "\n").dropFirst().dropLast()
        return planted + [FakeWeChatPayServer.apiKey, "\(Array(FakeWeChatPayServer.apiKey.utf8))"]
            + lines.map(String.init)
    }

    private static var words: [String: Any] {
        [
            "code": "planted code", "message": "planted-message", "payer": ["openid": "planted-openid"],
            "detail": ["value": "payer@example.com"],
        ]
    }

    @Test(arguments: [200, 202, 400, 401, 403, 404, 429, 500])
    func `no answer's words reach a log or an error`(status: Int) async throws {
        let (box, now) = (FakeWeChatPayServer(), ManualClock().now.rawValue)
        let fixture = WeChatPayFixture { request in
            request.url.hasSuffix("/certificates")
                ? box.answer(request, now: now) : box.signed(status, Self.words, now: now)
        }
        let shown = await fixture.shown(by: try fixture.provider())
        #expect(fixture.logged.count >= 5 && fixture.logged.contains { $0.contains("request_id=08F78BB5AF0610D3-0") })
        for text in shown {
            for secret in Self.secrets { #expect(!text.contains(secret), "\(secret) is in \(text)") }
        }
    }

    @Test func `a notification's contents are in no error and no log`() async throws {
        let fixture = WeChatPayFixture()
        let body = FakeWeChatPayServer.event(
            "TRANSACTION.SUCCESS", ["payer": ["openid": "planted-openid"], "message": "planted-message"])
        for seal in [WeChatPaySeal.platform, WeChatPaySeal(.stranger)] {
            let error = await #expect(throws: ProviderError.self) {
                try await fixture.provider().receive(fixture.notification(body, by: seal))
            }
            for text in fixture.logged + [String(reflecting: error)] {
                #expect(!text.contains("planted-") && !text.contains("ciphertext"))
            }
        }
    }

    @Test func `a probe is refused in silence and without a fetch`() async throws {
        let fixture = WeChatPayFixture()
        let body = FakeWeChatPayServer.event("TRANSACTION.SUCCESS", ["a": 1])
        var headers = WeChatPaySeal(.stranger).headers(body, at: fixture.clock.now.rawValue)
        headers[3].value = "WECHATPAY/SIGNTEST/" + headers[3].value
        await #expect(throws: ProviderError.unproven(.signature)) {
            try await fixture.provider().receive(FakeWeChatPayServer.notification(body, headers))
        }
        #expect(fixture.logged.isEmpty && fixture.calls.isEmpty)
    }

    @Test func `a refused key is an error in the log and no answer a warning`() async throws {
        let refused = WeChatPayFixture()
        refused.standIn.script("/certificates", IncomingReply(status: 401, body: Data(#"{"code":"SIGN_ERROR"}"#.utf8)))
        _ = try? await refused.provider().open(refused.attempt())
        #expect(
            refused.logged == [
                "error wechat pay: the merchant's key or right was refused call=GET /v3/certificates code=SIGN_ERROR "
                    + "status=401"
            ])
        let silent = WeChatPayFixture { _ throws(HTTPTransportError) in throw .outcomeUnknown }
        _ = try? await silent.provider().open(silent.attempt())
        #expect(
            silent.logged == ["warning wechat pay: no answer call=GET /v3/certificates error=outcomeUnknown"])
    }
}
