import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing
import WeChatPayProvider

/// Tests of the step in which WeChat names a payer.
struct WeChatAuthorizationTests {
    private static let secret = "the secret of the office"

    private func step(
        _ answer: @escaping RecordingTransport.Answer
    ) throws -> (WeChatPayFixture, any PayerAuthorization) {
        let fixture = WeChatPayFixture(answer: answer)
        let settings = WeChatPayFixture.wallets.merging([
            "oauth": .object([
                "app_id": .text(FakeWeChatPayServer.office), "app_secret": .text(Self.secret),
            ])
        ]) { $1 }
        return (fixture, try #require(try fixture.provider(settings).authorization))
    }

    @Test func `the payer is sent to WeChat's page with the fields in its order`() throws {
        let (_, step) = try step { _ throws(HTTPTransportError) in throw .notSent }
        #expect(
            step.authorizeURL(state: "abc123", redirect: "https://pay.example/pay/s/ses_1/wechat")
                == "https://open.weixin.qq.com/connect/oauth2/authorize?appid=\(FakeWeChatPayServer.office)"
                + "&redirect_uri=https%3A%2F%2Fpay.example%2Fpay%2Fs%2Fses_1%2Fwechat&response_type=code"
                + "&scope=snsapi_base&state=abc123#wechat_redirect")
    }

    @Test func `a code is exchanged for the openid, and nothing of it is logged`() async throws {
        let (fixture, step) = try step { _ in
            IncomingReply(
                status: 200, headers: [(name: "Content-Type", value: "text/plain")],
                body: Data(#"{"access_token":"AT","openid":"oPayer0of0the0office","scope":"snsapi_base"}"#.utf8))
        }
        #expect(try await step.exchange(code: "c/1") == "oPayer0of0the0office")
        let request = try #require(fixture.transport.requests.first)
        #expect(
            request.method == "GET"
                && request.url
                    == "https://api.weixin.qq.com/sns/oauth2/access_token?appid=\(FakeWeChatPayServer.office)"
                    + "&secret=the%20secret%20of%20the%20office&code=c%2F1&grant_type=authorization_code"
        )
        #expect(fixture.logged.isEmpty)
    }

    @Test(
        arguments: [
            (200, #"{"errcode":40029,"errmsg":"invalid code, planted"}"#, .rejected(reason: "errcode_40029")),
            (200, #"{"errcode":40125,"errmsg":"planted"}"#, .rejected(reason: "errcode_40125")),
            (503, "", .unavailable), (200, "planted", .unavailable), (200, "{}", .unavailable),
            (302, #"{"openid":"oPlanted"}"#, .unavailable),
        ] as [(Int, String, ProviderError)])
    func `a refusal and an answer that is none give no openid`(
        status: Int, body: String, error: ProviderError
    ) async throws {
        let (fixture, step) = try step { _ in IncomingReply(status: status, body: Data(body.utf8)) }
        await #expect(throws: error) { try await step.exchange(code: "the-code") }
        let logged = fixture.logged.joined()
        #expect(!logged.contains("the-code") && !logged.contains("lanted") && !logged.contains(Self.secret))
    }
}
