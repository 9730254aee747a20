import AlipayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import _CryptoExtras

/// An Alipay account with everything that its provider touches.
struct AlipayFixture: ProviderFixture {
    let standIn: FakeAlipayServer
    let test: TestContext

    /// - Parameter answer: instead of the stand-in.
    init(_ standIn: FakeAlipayServer = FakeAlipayServer(), answer: RecordingTransport.Answer? = nil) {
        self.standIn = standIn
        test = TestContext(account: "alipay") { request, _ throws(HTTPTransportError) in
            if let answer { return try await answer(request) }
            return standIn.answer(request)
        }
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

    /// A payment that was opened and paid.
    func paid(_ provider: AlipayProvider) async throws -> ProviderReference {
        let attempt = attempt()
        _ = try await provider.open(attempt)
        _ = standIn.act("TRADE_SUCCESS", attempt.payment.rawValue)
        return reference(attempt)
    }
}

/// A notification as Alipay posts it.
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
        PercentEncoding.encoded(text).replacing("%20", with: "+")
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
