import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import WeChatPayProvider

/// A WeChat Pay account with everything that its provider touches.
struct WeChatPayFixture: ProviderFixture {
    let standIn = FakeWeChatPayServer()
    let test: TestContext

    /// - Parameter answer: instead of the stand-in.
    init(answer: RecordingTransport.Answer? = nil) {
        let standIn = standIn
        test = TestContext(account: "wechat") { request, now throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request, now: now.rawValue)
        }
    }

    func provider(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) throws -> WeChatPayProvider {
        try WeChatPayProvider(account: Self.account(settings, isDevelopment: isDevelopment), context: context)
    }

    static func account(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) -> ProviderAccount {
        let standard: [String: SettingValue] = [
            "mchid": .text(FakeWeChatPayServer.mchid), "appid": .text(FakeWeChatPayServer.appid),
            "private_key": .text(WeChatPayTestCertificates.merchantKey),
            "certificate": .text(WeChatPayTestCertificates.certificateFile),
            "api_v3_key": .text(FakeWeChatPayServer.apiKey),
        ]
        return ProviderAccount(
            id: AccountID("wechat-main")!, settings: ProviderSettings(standard.merging(settings) { $1 }),
            isDevelopment: isDevelopment)
    }

    static let h5: [String: SettingValue] = ["mode": .text("h5"), "h5_payer_address": .text("203.0.113.9")]
    static let publicKey: [String: SettingValue] = [
        "public_key": .text(WeChatPayTestCertificates.publicKeyFile),
        "public_key_id": .text(WeChatPayTestCertificates.publicKeyID),
    ]

    /// A payment that was opened and paid.
    func paid(_ provider: WeChatPayProvider) async throws -> ProviderReference {
        let attempt = attempt()
        _ = try await provider.open(attempt)
        _ = standIn.act(succeed: true, on: attempt.payment.rawValue)
        return reference(attempt)
    }

    /// A genuine notification of now.
    func notification(_ body: Data, by seal: WeChatPaySeal = .platform) -> RawNotification {
        FakeWeChatPayServer.notification(body, seal.headers(body, at: clock.now.rawValue))
    }

    /// What was sent, `POST /v3/pay/transactions/native`.
    var calls: [String] { transport.requests.map { FakeWeChatPayServerCall($0).name } }
}

func cny(_ value: Int64) -> Money { Money(value: value, currency: Currency("CNY")!) }
