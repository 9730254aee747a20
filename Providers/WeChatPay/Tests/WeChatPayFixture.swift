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

    /// - Parameter answer: answers instead of the fake server.
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

    /// Every mode but `h5`, with the apps of the stand-in.
    static let wallets: [String: SettingValue] = [
        "modes": texts("native", "jsapi", "app"),
        "app_ids": .object([
            "app": texts(FakeWeChatPayServer.mobile),
            "jsapi": texts(FakeWeChatPayServer.office, FakeWeChatPayServer.mini),
        ]),
    ]

    /// The settings of a mode for apps or for pages inside WeChat.
    static func wallet(_ mode: String) -> [String: SettingValue] {
        wallets.filter { $0.key != "modes" }.merging(["mode": .text(mode)]) { $1 }
    }

    static func texts(_ words: String...) -> SettingValue { .list(words.map(SettingValue.text)) }

    /// A payer of the service account.
    static let payer = WalletPayer(appID: FakeWeChatPayServer.office, openID: "oPayer0of0the0office")

    /// A payment that was opened and paid.
    func paid(_ provider: WeChatPayProvider) async throws -> ProviderReference {
        let attempt = attempt()
        _ = try await provider.open(attempt)
        _ = standIn.act(succeed: true, on: attempt.payment.rawValue)
        return reference(attempt)
    }

    /// Makes a genuine notification with the current time.
    func notification(_ body: Data, by seal: WeChatPaySeal = .platform) -> RawNotification {
        FakeWeChatPayServer.notification(body, seal.headers(body, at: clock.now.rawValue))
    }

    /// The calls, `POST /v3/pay/transactions/native`.
    var calls: [String] { transport.requests.map { FakeWeChatPayServerCall($0).name } }
}

func cny(_ value: Int64) -> Money { Money(value: value, currency: Currency("CNY")!) }
