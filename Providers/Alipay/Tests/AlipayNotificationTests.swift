import AlipayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing

struct AlipayNotificationTests {
    private let fixture = AlipayFixture()
    private let payment: String

    init() { payment = fixture.attempt().payment.rawValue }

    private func result(
        _ raw: RawNotification, _ settings: [String: SettingValue] = [:]
    ) async throws -> Result<[ProviderFact], ProviderError> {
        let provider = try fixture.provider(settings)
        do throws(ProviderError) {
            return .success(try await provider.receive(raw).facts)
        } catch {
            return .failure(error)
        }
    }

    private func isUnproven(_ raw: RawNotification) async throws -> Bool {
        guard case .failure(let error) = try await result(raw) else { return false }
        return error.isUnproven
    }

    private func paid(_ amount: Money, reference: String? = nil) -> Result<[ProviderFact], ProviderError> {
        .success([
            .payment(
                PaymentReport(
                    payment: ID(payment)!, outcome: .succeeded(amount),
                    reference: reference ?? "20261121\(payment.suffix(6))"))
        ])
    }

    @Test func `a paid trade is a success, and is answered by seven bytes`() async throws {
        let received = try await fixture.provider().receive(AlipayNotice(payment, "TRADE_SUCCESS").raw())
        #expect(received.acknowledgement == Acknowledgement(body: "success"))
        #expect(received.eventID == "notify-1" && received.type == "TRADE_SUCCESS")
        #expect(try await result(AlipayNotice(payment, "TRADE_SUCCESS").raw()) == paid(cny(3990)))
        #expect(try await result(AlipayNotice(payment, "TRADE_FINISHED").raw()) == paid(cny(3990)))
    }

    @Test(arguments: [("10", 1_000), ("10.0", 1_000), ("10.00", 1_000), ("0.01", 1), ("88888888.88", 8_888_888_888)])
    func `amounts are read exactly`(text: String, fen: Int64) async throws {
        #expect(try await result(AlipayNotice(payment, "TRADE_SUCCESS", amount: text).raw()) == paid(cny(fen)))
    }

    @Test(arguments: ["", "39.901", "-39.90", "39,90", "1e3", "NaN", "99999999999999999999.00", "３９.90"])
    func `what is no amount is no success`(text: String) async throws {
        let raw = AlipayNotice(payment, "TRADE_SUCCESS", amount: text).raw()
        #expect(try await result(raw) == .failure(.unproven(.badMoney)))
    }

    @Test(
        arguments: [
            ("total_amount", "0.01"), ("seller_id", "2088000000000002"), ("app_id", "2021000000000002"),
            ("out_trade_no", "pay_x"), ("trade_status", "TRADE_FINISHED"), ("passback_params", "x"),
            ("notify_id", "notify-2"), ("kit", ""),
        ])
    func `an altered field proves nothing`(name: String, value: String) async throws {
        let notice = AlipayNotice(payment, "TRADE_SUCCESS")
        let signature = AlipayTestCertificates.sign(Data(notice.signed.utf8))
        var altered = notice
        altered.fields[name] = value
        #expect(try await result(altered.raw(signature: signature)) == .failure(.unproven(.signature)))
        altered.fields[name] = nil
        if notice.fields[name] != nil {
            #expect(try await result(altered.raw(signature: signature)) == .failure(.unproven(.signature)))
        }
    }

    @Test(
        arguments: [
            ("seller_id", "2088000000000002", .unproven(.otherMerchant)), ("app_id", "", .unproven(.otherApp)),
            ("app_id", "2021000000000002", .unproven(.otherApp)),
            ("charset", "gbk", .rejected(reason: "other_charset")),
            ("notify_id", "", .rejected(reason: "bad_notify_id")),
            ("trade_status", "", .rejected(reason: "bad_trade_status")),
            ("trade_status", "a b", .rejected(reason: "bad_trade_status")),
        ] as [(String, String, ProviderError)])
    func `what is signed well and about another is refused`(
        name: String, value: String, error: ProviderError
    ) async throws {
        var notice = AlipayNotice(payment, "TRADE_SUCCESS")
        notice.fields[name] = value
        #expect(try await result(notice.raw()) == .failure(error))
    }

    @Test func `a seller that Alipay leaves out is no other`() async throws {
        var notice = AlipayNotice(payment, "TRADE_SUCCESS")
        notice.fields["seller_id"] = nil
        #expect(try await result(notice.raw()) == paid(cny(3990)))
    }

    @Test func `another key proves nothing`() async throws {
        let notice = AlipayNotice(payment, "TRADE_SUCCESS")
        for raw in [
            notice.raw(by: AlipayTestCertificates.stranger), notice.raw(by: AlipayTestCertificates.application),
            notice.raw(by: nil),
        ] {
            #expect(try await result(raw) == .failure(.unproven(.signature)))
        }
    }

    @Test func `in certificate mode a notification can name its certificate`() async throws {
        let settings = AlipayFixture.certificateMode(alipay: AlipayTestCertificates.alipayCertificate)
        var notice = AlipayNotice(payment, "TRADE_SUCCESS")
        #expect(try await result(notice.raw(), settings) == paid(cny(3990)))
        notice.fields["alipay_cert_sn"] = AlipayTestCertificates.alipayNumber
        #expect(try await result(notice.raw(), settings) == paid(cny(3990)))
        #expect(
            try await result(notice.raw(by: AlipayTestCertificates.stranger), settings)
                == .failure(.unproven(.signature)))
        notice.fields["alipay_cert_sn"] = "0123456789abcdef0123456789abcdef"
        #expect(try await result(notice.raw(), settings) == .failure(.unproven(.certificate)))
    }

    @Test func `sign_type is RSA2 and nothing else`() async throws {
        var notice = AlipayNotice(payment, "TRADE_SUCCESS")
        for word in ["RSA", "MD5", "rsa2", ""] {
            notice.fields["sign_type"] = word
            #expect(try await result(notice.raw()) == .failure(.unproven(.signature)))
        }
    }

    @Test func `garbage, fields that come twice and huge bodies prove nothing`() async throws {
        let good = AlipayNotice(payment, "TRADE_SUCCESS").form()
        let bodies = [
            "", "&", "=", "\u{0}", "a%", "a=%zz", String(repeating: "&", count: 1_000), "{}", "<xml/>",
            good + "&total_amount=39.90", good + "&total_amount=0.01", "trade_status=TRADE_SUCCESS&" + good,
            good + "&sign=x", good + "&%73ign_type=RSA2", good.replacing("sign=", with: "Sign="),
            good + "&x=" + String(repeating: "x", count: 2 << 20),
            good + (0..<300).map { "&x\($0)=" }.joined(),
        ]
        for body in bodies { #expect(try await isUnproven(AlipayNotice.raw(body))) }
        let query = RawNotification(method: .get, query: good, headers: [], body: Data())
        #expect(try await isUnproven(query))
        // Bytes that are not UTF-8 are part of the signed text, and have no meaning.
        var raw = AlipayNotice(payment, "TRADE_SUCCESS")
        raw.fields["subject"] = nil
        let signed = Data(raw.signed.utf8)
        let place = try #require(signed.range(of: Data("&total_amount".utf8)))
        let bytes =
            signed[..<place.lowerBound] + Data("&subject=".utf8) + Data([0xBB, 0xE1]) + signed[place.lowerBound...]
        let signature = AlipayNotice.escaped(AlipayTestCertificates.sign(bytes))
        let fields = raw.fields.map { "\(AlipayNotice.escaped($0.key))=\(AlipayNotice.escaped($0.value))" }
        let form = (fields + ["subject=%BB%E1", "sign_type=RSA2", "sign=\(signature)"]).joined(separator: "&")
        #expect(try await result(AlipayNotice.raw(form)) == paid(cny(3990)))
    }

    @Test func `a trade that closes is cancelled, unless it was paid`() async throws {
        let id = ID<Payment>(payment)!
        let reference = "20261121\(payment.suffix(6))"
        var closed = AlipayNotice(payment, "TRADE_CLOSED")
        #expect(
            try await result(closed.raw())
                == .success([.payment(PaymentReport(payment: id, outcome: .cancelled, reference: reference))]))
        closed.fields["gmt_payment"] = "2026-11-21 17:59:58"
        #expect(try await result(closed.raw()) == .success([]))
    }

    @Test func `a refund in part is a refund and no second payment`() async throws {
        let refund = fixture.ids.make() as ID<Refund>
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        _ = fixture.standIn.act("TRADE_SUCCESS", attempt.payment.rawValue)
        fixture.standIn.state.withLock { $0.trades[attempt.payment.rawValue]?.refunds = [(refund.rawValue, 1_000)] }
        let (id, payment) = (attempt.payment, attempt.payment.rawValue)
        var notice = AlipayNotice(payment, "TRADE_SUCCESS")
        notice.fields["refund_fee"] = "10.00"
        notice.fields["gmt_refund"] = "2026-11-21 18:30:00.000"
        notice.fields["out_biz_no"] = refund.rawValue
        let expected = ProviderFact.refund(
            RefundReport(
                payment: id, refund: refund, outcome: .succeeded, amount: cny(1_000),
                paymentReference: notice.fields["trade_no"]))
        #expect(try await result(notice.raw()) == .success([expected]))
        notice.fields["gmt_refund"] = nil
        #expect(try await result(notice.raw()) == .success([expected]))
        notice.fields["trade_status"] = "TRADE_CLOSED"
        #expect(try await result(notice.raw()) == .success([expected]))
        // A refund of 0.00 is no refund.
        notice.fields["refund_fee"] = "0.00"
        notice.fields["trade_status"] = "TRADE_SUCCESS"
        #expect(
            try await result(notice.raw())
                == .success([
                    .payment(
                        PaymentReport(
                            payment: id, outcome: .succeeded(cny(3990)), reference: notice.fields["trade_no"]))
                ]))
    }

    @Test func `a refund that was made at Alipay is asked for`() async throws {
        let provider = try fixture.provider()
        let attempt = fixture.attempt()
        _ = try await provider.open(attempt)
        _ = fixture.standIn.act("TRADE_SUCCESS", attempt.payment.rawValue)
        fixture.standIn.state.withLock { $0.trades[attempt.payment.rawValue]?.refunds = [("by hand", 990)] }
        var notice = AlipayNotice(attempt.payment.rawValue, "TRADE_SUCCESS")
        notice.fields["refund_fee"] = "10.90"
        notice.fields["out_biz_no"] = "by hand"
        func fact(_ number: String, _ amount: Money?) -> [ProviderFact] {
            [
                .refund(
                    RefundReport(
                        payment: attempt.payment, refund: nil, outcome: .succeeded, amount: amount, reference: number,
                        paymentReference: notice.fields["trade_no"]))
            ]
        }
        #expect(try await provider.receive(notice.raw()).facts == fact("by hand", cny(990)))
        // A refund that Alipay does not know is ignored, partial or full.
        notice.fields["out_biz_no"] = "unknown"
        #expect(try await provider.receive(notice.raw()).facts == [])
        notice.fields["refund_fee"] = "39.9"
        #expect(try await provider.receive(notice.raw()).facts == [])
        fixture.transport.behaviour = .unavailable
        await #expect(throws: ProviderError.unavailable) { try await provider.receive(notice.raw()) }
    }
}
