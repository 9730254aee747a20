import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

@testable import AlipayProvider

struct AlipayRequestTests {
    private let fixture = AlipayFixture()

    @Test func `the signed text has every value as it is, and sign_type`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt(cny(1_234_567), title: "会员 A&B=C/月 “x”")
        _ = try await provider.open(attempt)
        let form = try #require(fixture.standIn.state.withLock { $0.forms.first })
        #expect(
            form["biz_content"] == """
                {"out_trade_no":"\(attempt.payment)","subject":"会员 A B C 月 “x”",\
                "time_expire":"2025-01-14 21:36:40","total_amount":"12345.67"}
                """)
        #expect(form["timestamp"] == "2025-01-14 21:06:40")
        #expect(form["notify_url"] == "https://pay.example/v1/notify/alipay" && form["sign_type"] == "RSA2")
        #expect(form["app_cert_sn"] == nil && form["return_url"] == nil)
    }

    @Test func `a title of nothing becomes the order's number, and a long one is cut`() async throws {
        let provider = try fixture.provider()
        for (title, subject) in [
            ("", nil), (" /&=", nil), (String(repeating: "长", count: 300), String(repeating: "长", count: 256)),
        ] as [(String, String?)] {
            let attempt = fixture.attempt(title: title)
            _ = try await provider.open(attempt)
            let content = fixture.standIn.state.withLock { $0.forms.last?["biz_content"] ?? "" }
            #expect(content.contains(#""subject":"\#(subject ?? attempt.order.rawValue)""#))
        }
    }

    @Test(
        arguments: [
            (0, "1970-01-01 08:00:00"), (951_753_600, "2000-02-29 00:00:00"), (1_735_660_799, "2024-12-31 23:59:59"),
            (1_735_660_800, "2025-01-01 00:00:00"),
        ] as [(Int64, String)])
    func `times are those of China`(seconds: Int64, text: String) {
        #expect(AlipayText.time(Timestamp(seconds)) == text)
    }

    @Test(
        arguments: [
            ("page", Platform.web, "alipay.trade.page.pay", "FAST_INSTANT_TRADE_PAY"),
            ("page", .ios, "alipay.trade.page.pay", "FAST_INSTANT_TRADE_PAY"),
            ("wap", .web, "alipay.trade.wap.pay", "QUICK_WAP_WAY"),
            ("web", .web, "alipay.trade.page.pay", "FAST_INSTANT_TRADE_PAY"),
            ("web", .desktop, "alipay.trade.page.pay", "FAST_INSTANT_TRADE_PAY"),
            ("web", .android, "alipay.trade.wap.pay", "QUICK_WAP_WAY"),
            ("web", .ios, "alipay.trade.wap.pay", "QUICK_WAP_WAY"),
        ])
    func `setting and platform choose the page`(
        mode: String, platform: Platform, method: String, code: String
    ) async throws {
        let provider = try fixture.provider(["mode": .text(mode)])
        let attempt = fixture.attempt(platform: platform)
        let first = try await provider.open(attempt)
        // The address is the same whenever it is made.
        fixture.clock.advance(seconds: 3_600)
        let again = try await provider.open(attempt)
        #expect(first.instruction == again.instruction && fixture.transport.requests.isEmpty)
        guard case .url(let address) = first.instruction else { throw FixtureError.noURL }
        #expect(fixture.standIn.visit(address) == attempt.payment.rawValue)
        let form = FakeAlipayServer.form(String(address.split(separator: "?", maxSplits: 1)[1]))
        #expect(form["method"] == method && form["biz_content"]?.contains(code) == true)
        #expect(form["return_url"] == "https://app.example/done?a=1&b=2")
        #expect(form["biz_content"]?.contains("quit_url") == method.contains("wap"))
        // The amount cannot be changed on the way.
        #expect(fixture.standIn.visit(address.replacing("39.90", with: "00.01")) == nil)
    }

    @Test func `an app's request is signed here, and is the same whenever it is made`() async throws {
        let provider = try fixture.provider(["mode": .text("app")])
        let attempt = fixture.attempt(platform: .android)
        let first = try await provider.open(attempt)
        fixture.clock.advance(seconds: 3_600)
        #expect(try await provider.open(attempt).instruction == first.instruction && fixture.transport.requests.isEmpty)
        guard case .alipayApp(let text) = first.instruction else { throw FixtureError.noURL }
        let form = FakeAlipayServer.form(text)
        #expect(form["method"] == "alipay.trade.app.pay" && form["return_url"] == nil)
        #expect(form["notify_url"] == fixture.context.notifyURL && form["timestamp"] == "2025-01-14 21:06:40")
        let content = try #require(
            try JSONSerialization.jsonObject(with: Data((form["biz_content"] ?? "").utf8)) as? [String: String])
        #expect(
            content == [
                "out_trade_no": attempt.payment.rawValue, "total_amount": "39.90", "subject": "VIP monthly",
                "product_code": "QUICK_MSECURITY_PAY", "time_expire": "2025-01-14 21:36:40",
            ])
        #expect(fixture.standIn.start(text) == attempt.payment.rawValue)
        #expect(fixture.standIn.start(text.replacing("39.90", with: "00.01")) == nil)
    }

    @Test func `no trade waits longer than Alipay lets it`() async throws {
        let provider = try fixture.provider(["mode": .text("app")])
        let opened = try await provider.open(fixture.attempt(expires: 30 * 86_400))
        guard case .alipayApp(let text) = opened.instruction else { throw FixtureError.noURL }
        #expect(FakeAlipayServer.form(text)["biz_content"]?.contains("2025-01-29 21:06:40") == true)
    }

    private enum FixtureError: Error { case noURL }

    @Test func `a product code of the settings is used`() async throws {
        _ = try await fixture.provider(["product_code": .text("QR_CODE_OFFLINE")]).open(fixture.attempt())
        #expect(fixture.standIn.state.withLock { $0.forms[0]["biz_content"]?.contains(#""QR_CODE_OFFLINE""#) } == true)
    }

    @Test(
        arguments: [
            (cny(0), "amount_not_positive"), (cny(-1), "amount_not_positive"),
            (cny(10_000_000_001), "amount_too_large"),
            (Money(value: 100, currency: Currency("USD")!), "currency_unsupported"),
        ])
    func `what Alipay cannot take is refused without a call`(amount: Money, reason: String) async throws {
        for mode in ["precreate", "page"] {
            let provider = try fixture.provider(["mode": .text(mode)])
            #expect(provider.amountFault(amount)?.rawValue == reason)
            await #expect(throws: ProviderError.unfit(reason: reason)) {
                try await provider.open(fixture.attempt(amount))
            }
        }
        #expect(fixture.transport.requests.isEmpty)
    }

    @Test func `in certificate mode both numbers are named`() async throws {
        let fixture = AlipayFixture(FakeAlipayServer(certificate: AlipayTestCertificates.alipayNumber))
        let settings = AlipayFixture.certificateMode(alipay: AlipayTestCertificates.alipayCertificate)
        _ = try await fixture.provider(settings).open(fixture.attempt())
        let form = try #require(fixture.standIn.state.withLock { $0.forms.first })
        #expect(form["app_cert_sn"] == AlipayTestCertificates.number(serial: "138060826009"))
        // The RSA certificates of the root file, in its order.
        #expect(
            form["alipay_root_cert_sn"]
                == "\(AlipayTestCertificates.number(serial: "1"))_\(AlipayTestCertificates.number(serial: "65535"))")
    }

    @Test func `a number of any size has decimal digits`() {
        #expect(AlipayCertificates.decimal([0]) == "0" && AlipayCertificates.decimal([]) == "0")
        #expect(AlipayCertificates.decimal([1, 0]) == "256")
        #expect(
            AlipayCertificates.decimal(Array(repeating: 0xFF, count: 20))
                == "1461501637330902918203684832716283019655932542975")
    }
}
