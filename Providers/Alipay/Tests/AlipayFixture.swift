import AlipayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import _CryptoExtras

/// An Alipay account with all dependencies of its provider.
final class AlipayFixture: Sendable {
    let clock = ManualClock()
    let standIn: FakeAlipayServer
    let transport: RecordingTransport
    let ids: IDSource
    let context: ProviderContext
    private let lines: AlipayLines

    var logged: [String] { lines.all }

    /// - Parameter answer: answers instead of the fake server.
    init(_ standIn: FakeAlipayServer = FakeAlipayServer(), answer: RecordingTransport.Answer? = nil) {
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
            "app_id": .text(FakeAlipayServer.appID), "seller_id": .text(FakeAlipayServer.sellerID),
            "app_private_key": .text(AlipayTestCertificates.applicationPKCS8),
            "alipay_public_key": .text(AlipayTestCertificates.alipayPublic),
        ]
        return ProviderAccount(
            id: AccountID("alipay-main")!, settings: ProviderSettings(standard.merging(settings) { $1 }),
            isDevelopment: isDevelopment)
    }

    static func certificateMode(alipay: String...) -> [String: SettingValue] {
        [
            "alipay_public_key": .text(""),
            "app_certificate": .text(AlipayTestCertificates.file(AlipayTestCertificates.applicationCertificate)),
            "alipay_root_certificate": .text(AlipayTestCertificates.file(AlipayTestCertificates.roots)),
            "alipay_certificates": .list(alipay.map { .text(AlipayTestCertificates.file($0)) }),
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

    /// Opens and pays a payment.
    func paid(_ provider: AlipayProvider) async throws -> ProviderReference {
        let attempt = attempt()
        _ = try await provider.open(attempt)
        _ = standIn.act("TRADE_SUCCESS", attempt.payment.rawValue)
        return reference(attempt)
    }
}

/// The lines that a provider logged.
final class AlipayLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func add(_ level: ProviderLog.Level, _ message: String, _ fields: [String: String]) {
        let words = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.withLock { $0.append(([level.rawValue, message] + words).joined(separator: " ")) }
    }
}

/// A notification in the form in which Alipay posts it.
struct AlipayNotice {
    var fields: [String: String]

    init(_ payment: String, _ status: String, amount: String = "39.90", id: String = "notify-1") {
        fields = [
            "notify_id": id, "notify_type": "trade_status_sync", "notify_time": "2026-11-21 18:00:00",
            "charset": "utf-8", "version": "1.0", "app_id": FakeAlipayServer.appID,
            "auth_app_id": FakeAlipayServer.appID,
            "seller_id": FakeAlipayServer.sellerID, "out_trade_no": payment, "trade_no": "20261121\(payment.suffix(6))",
            "trade_status": status, "total_amount": amount, "buyer_logon_id": "payer@example.com",
            "subject": "会员 A&B=C/月", "passback_params": "",
        ]
        if status != "WAIT_BUYER_PAY", status != "TRADE_CLOSED" { fields["gmt_payment"] = "2026-11-21 17:59:58" }
    }

    /// The signed text: all fields except `sign` and `sign_type`, including empty ones.
    var signed: String {
        fields.filter { $0.key != "sign" && $0.key != "sign_type" }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }.joined(separator: "&")
    }

    func form(by key: _RSA.Signing.PrivateKey? = AlipayTestCertificates.alipay, signature: String? = nil) -> String {
        var all = fields
        all["sign_type"] = all["sign_type"] ?? "RSA2"
        all["sign"] = signature ?? key.map { AlipayTestCertificates.sign(Data(signed.utf8), by: $0) }
        return all.sorted { $0.key < $1.key }.map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }
            .joined(separator: "&")
    }

    /// Encodes text as browsers and Alipay encode forms: a space is a plus sign.
    static func escaped(_ text: String) -> String {
        (text.addingPercentEncoding(
            withAllowedCharacters: .alphanumerics.intersection(.init(charactersIn: "\u{0}"..."\u{7F}"))) ?? "")
            .replacing("%20", with: "+")
    }

    func raw(
        by key: _RSA.Signing.PrivateKey? = AlipayTestCertificates.alipay, signature: String? = nil
    ) -> RawNotification {
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
