import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import WeChatPayProvider

/// A WeChat Pay account with all dependencies of its provider.
final class WeChatPayFixture: Sendable {
    let clock = ManualClock()
    let standIn = FakeWeChatPayServer()
    let transport: RecordingTransport
    let ids: IDSource
    let context: ProviderContext

    /// - Parameter answer: answers instead of the fake server.
    init(answer: RecordingTransport.Answer? = nil) {
        let (clock, standIn) = (clock, standIn)
        transport = RecordingTransport { request throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request, now: clock.now.rawValue)
        }
        let random = SeededRandom().source
        ids = IDSource(time: clock.time, random: random)
        let log = Log()
        context = ProviderContext(
            http: transport, time: clock.time, random: random, book: InMemoryBook(),
            notifyURL: "https://pay.example/v1/notify/wechat", publicURL: "https://pay.example",
            log: ProviderLog { level, message, fields in
                let words = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                log.add(([level.rawValue, message] + words).joined(separator: " "))
            })
        self.log = log
    }

    private let log: Log

    private final class Log: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    var lines: [String] { log.all }

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

    func attempt(
        _ amount: Money = cny(3990), title: String = "VIP monthly",
        returnURL: String? = "https://app.example/done?a=1&b=2", payerAddress: String? = nil
    ) -> PaymentAttempt {
        PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: amount, title: title, platform: .web, returnURL: returnURL,
            expiresAt: clock.now.adding(seconds: 1_800), accepts: Set(ContractType.allCases),
            payerAddress: payerAddress)
    }

    func reference(_ attempt: PaymentAttempt) -> ProviderReference {
        ProviderReference(payment: attempt.payment, reference: nil, amount: attempt.amount)
    }

    func refund(_ payment: ProviderReference, _ amount: Money) -> RefundAttempt {
        RefundAttempt(refund: ids.make(), payment: payment, amount: amount, reason: "a secret reason")
    }

    /// Opens and pays a payment.
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
