import AlipayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import _CryptoExtras

/// An Alipay account with everything that its provider touches.
final class AlipayBench: Sendable {
    let clock = ManualClock()
    let standIn: AlipayStandIn
    let transport: RecordingTransport
    let ids: IDSource
    let context: ProviderContext
    private let lines: AlipayLines

    var logged: [String] { lines.all }

    /// - Parameter answer: instead of the stand-in.
    init(_ standIn: AlipayStandIn = AlipayStandIn(), answer: RecordingTransport.Answer? = nil) {
        self.standIn = standIn
        transport = RecordingTransport { request throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request)
        }
        let random = SeededRandom().source
        ids = IDSource(time: clock.time, random: random)
        let lines = AlipayLines()
        self.lines = lines
        context = Self.context(http: transport, time: clock.time, log: ProviderLog { lines.add($0, $1, $2) })
    }

    static func context(
        http: any HTTPTransport, time: TimeSource = ManualClock().time, log: ProviderLog = .silent
    ) -> ProviderContext {
        ProviderContext(
            http: http, time: time, random: SeededRandom().source, book: InMemoryBook(),
            notifyURL: "https://pay.example/v1/notify/alipay", publicURL: "https://pay.example", log: log)
    }

    func provider(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) throws -> AlipayProvider {
        try AlipayProvider(account: Self.account(settings, isDevelopment: isDevelopment), context: context)
    }

    static func account(_ settings: [String: SettingValue] = [:], isDevelopment: Bool = true) -> ProviderAccount {
        let standard: [String: SettingValue] = [
            "app_id": .text(AlipayStandIn.appID), "seller_id": .text(AlipayStandIn.sellerID),
            "app_private_key": .text(AlipayMint.applicationPKCS8), "alipay_public_key": .text(AlipayMint.alipayPublic),
        ]
        return ProviderAccount(
            id: AccountID("alipay-main")!, settings: ProviderSettings(standard.merging(settings) { $1 }),
            isDevelopment: isDevelopment)
    }

    static func certificateMode(alipay: String...) -> [String: SettingValue] {
        [
            "alipay_public_key": .text(""),
            "app_certificate": .text(AlipayMint.file(AlipayMint.applicationCertificate)),
            "alipay_root_certificate": .text(AlipayMint.file(AlipayMint.roots)),
            "alipay_certificates": .list(alipay.map { .text(AlipayMint.file($0)) }),
        ]
    }

    func attempt(
        _ amount: Money = cny(3990), title: String = "VIP monthly", platform: Platform = .web,
        returnURL: String? = "https://app.example/done?a=1&b=2"
    ) -> PaymentAttempt {
        PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: amount, title: title, platform: platform,
            returnURL: returnURL, expiresAt: clock.now.adding(seconds: 1_800), accepts: Set(ContractType.allCases))
    }

    func reference(_ attempt: PaymentAttempt) -> ProviderReference {
        ProviderReference(payment: attempt.payment, reference: nil, amount: attempt.amount)
    }

    func refund(_ payment: ProviderReference, _ amount: Money) -> RefundAttempt {
        RefundAttempt(refund: ids.make(), payment: payment, amount: amount, reason: "a secret reason")
    }

    /// A payment that was opened and paid.
    func paid(_ provider: AlipayProvider) async throws -> ProviderReference {
        let attempt = attempt()
        _ = try await provider.open(attempt)
        _ = standIn.act("TRADE_SUCCESS", attempt.payment.rawValue)
        return reference(attempt)
    }
}

/// What a provider wrote into its log.
final class AlipayLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ level: ProviderLog.Level, _ message: String, _ fields: [String: String]) {
        let words = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.withLock { $0.append(([level.rawValue, message] + words).joined(separator: " ")) }
    }
}

/// A notification as Alipay posts it.
struct AlipayNotice {
    var fields: [String: String]

    init(_ payment: String, _ status: String, amount: String = "39.90", id: String = "notify-1") {
        fields = [
            "notify_id": id, "notify_type": "trade_status_sync", "notify_time": "2026-11-21 18:00:00",
            "charset": "utf-8", "version": "1.0", "app_id": AlipayStandIn.appID, "auth_app_id": AlipayStandIn.appID,
            "seller_id": AlipayStandIn.sellerID, "out_trade_no": payment, "trade_no": "20261121\(payment.suffix(6))",
            "trade_status": status, "total_amount": amount, "buyer_logon_id": "payer@example.com",
            "subject": "会员 A&B=C/月", "passback_params": "",
        ]
        if status != "WAIT_BUYER_PAY", status != "TRADE_CLOSED" { fields["gmt_payment"] = "2026-11-21 17:59:58" }
    }

    /// The text that is signed: everything but `sign` and `sign_type`, empty values too.
    var signed: String {
        fields.filter { $0.key != "sign" && $0.key != "sign_type" }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }.joined(separator: "&")
    }

    func form(by key: _RSA.Signing.PrivateKey? = AlipayMint.alipay, signature: String? = nil) -> String {
        var all = fields
        all["sign_type"] = all["sign_type"] ?? "RSA2"
        all["sign"] = signature ?? key.map { AlipayMint.sign(Data(signed.utf8), by: $0) }
        return all.sorted { $0.key < $1.key }.map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }
            .joined(separator: "&")
    }

    /// As browsers and Alipay encode forms: a space is a plus sign.
    static func escaped(_ text: String) -> String {
        PercentEncoding.encoded(text).replacing("%20", with: "+")
    }

    func raw(by key: _RSA.Signing.PrivateKey? = AlipayMint.alipay, signature: String? = nil) -> RawNotification {
        Self.raw(form(by: key, signature: signature))
    }

    static func raw(_ form: String) -> RawNotification {
        RawNotification(
            method: .post,
            headers: [(name: "content-type", value: "application/x-www-form-urlencoded; text/html; charset=utf-8")],
            body: Data(form.utf8))
    }
}

func cny(_ value: Int64) -> Money { Money(value: value, currency: Currency("CNY")!) }
