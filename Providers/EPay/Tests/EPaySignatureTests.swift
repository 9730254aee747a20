import Domain
import EPayProvider
import Foundation
import ProviderKit
import ProviderTesting
import Testing

struct EPaySignatureTests {
    private let fixture = EPayFixture()
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

    private func paid(_ amount: Money) -> Result<[ProviderFact], ProviderError> {
        .success([
            .payment(
                PaymentReport(
                    payment: ID(payment)!, outcome: .succeeded(amount), reference: FakeEPayServer.trade(payment)))
        ])
    }

    /// The signature was made by `printf … | md5sum`.
    @Test func `a signature that another program made is good`() async throws {
        let query =
            "money=10&name=%E4%BC%9A%E5%91%98+A%26B%3DC&out_trade_no=pay_01jhhsvfr2e8s8h2h2h2h2h2h2&param=&pid=1001"
            + "&sign=b3f5964e764555701116b48ef3f41c8e&sign_type=MD5&trade_no=20261121180000&trade_status=TRADE_SUCCESS"
            + "&type=alipay"
        let facts = try await result(EPayNotice.get(query))
        let id = try #require(ID<Payment>("pay_01jhhsvfr2e8s8h2h2h2h2h2h2"))
        #expect(
            facts
                == .success([
                    .payment(PaymentReport(payment: id, outcome: .succeeded(cny(1_000)), reference: "20261121180000"))
                ]))
        #expect(
            try await result(EPayNotice.get(query.replacing("money=10&", with: "money=10.00&")))
                == .failure(.unproven(.signature)))
    }

    @Test func `it comes by GET and by POST, and is answered by seven bytes`() async throws {
        let text = EPayNotice(payment).text()
        for raw in [EPayNotice.get(text), EPayNotice.post(text)] {
            #expect(try await result(raw) == paid(cny(3990)))
            #expect(try await fixture.provider().receive(raw).acknowledgement == Acknowledgement(body: "success"))
        }
        // Fields outside of the method's own place do not count.
        let elsewhere = RawNotification(method: .post, query: text, headers: [], body: Data())
        #expect(try await result(elsewhere) == .failure(.unproven(.signature)))
    }

    @Test(arguments: [("10", 1_000), ("10.0", 1_000), ("10.00", 1_000), ("0.01", 1), ("010.00", 1_000)])
    func `amounts are compared as money`(text: String, fen: Int64) async throws {
        #expect(try await result(EPayNotice.get(EPayNotice(payment, money: text).text())) == paid(cny(fen)))
    }

    @Test(arguments: ["", "0", "0.00", "-1", "10.001", "1e1", "10,00", "0x10", " 10", "99999999999999999999"])
    func `what is no amount is refused`(text: String) async throws {
        let raw = EPayNotice.get(EPayNotice(payment, money: text).text())
        #expect(try await result(raw) == .failure(.unproven(.badMoney)))
    }

    @Test(
        arguments: [
            ("money", "0.01"), ("pid", "1002"), ("out_trade_no", "pay_x"), ("trade_status", "TRADE_CLOSED"),
            ("type", "wxpay"), ("trade_no", "1"), ("param", "x"), ("kit", "x"),
        ])
    func `an altered field proves nothing`(name: String, value: String) async throws {
        let notice = EPayNotice(payment)
        var altered = notice
        altered.fields[name] = value
        let text = altered.text(signature: FakeEPayServer.sign(notice.fields))
        #expect(try await result(EPayNotice.get(text)) == .failure(.unproven(.signature)))
    }

    /// The payer has the address that Paydesk signed, and chose the text of its `return_url`.
    @Test(arguments: [[:], ["type": .text("alipay")]] as [[String: SettingValue]])
    func `what Paydesk signed itself is no notification, however its fields are cut`(
        _ settings: [String: SettingValue]
    ) async throws {
        let first = fixture.attempt(returnURL: "https://app.example/done?x=1&trade_no=1&trade_status=TRADE_SUCCESS")
        var form = try await signedForm(first, settings)
        #expect(form["return_url"] == first.returnURL)
        form.merge(["return_url": "https://app.example/done?x=1", "trade_no": "1", "trade_status": "TRADE_SUCCESS"]) {
            $1
        }
        #expect(try await result(EPayNotice.get(FormFields.encoded(form)), settings) == .failure(.unproven(.signature)))

        // All that Paydesk wrote in one field, and what the payer wrote as the notification.
        let paid = "out_trade_no=\(payment)&pid=\(FakeEPayServer.pid)&trade_no=1&trade_status=TRADE_SUCCESS"
        let second = fixture.attempt(returnURL: "https://app.example/?a=1&\(paid)")
        let signed = try await signedForm(second, settings)
        let names = ["notify_url", "out_trade_no", "pid"].map { "\($0)=\(signed[$0] ?? "")" }.joined(separator: "&")
        form = [
            "money": "39.90", "name": "\(second.title)&\(names)&return_url=https://app.example/?a=1",
            "out_trade_no": payment, "pid": FakeEPayServer.pid, "trade_no": "1", "trade_status": "TRADE_SUCCESS",
            "sign": signed["sign"] ?? "", "sign_type": "MD5",
        ]
        form["type"] = signed["type"]
        #expect(try await result(EPayNotice.get(FormFields.encoded(form)), settings) == .failure(.unproven(.signature)))
    }

    private func signedForm(
        _ attempt: PaymentAttempt, _ settings: [String: SettingValue]
    ) async throws -> [String: String] {
        let opened = try await fixture.provider(settings).open(attempt)
        guard case .url(let address) = opened.instruction, let query = address.split(separator: "?", maxSplits: 1).last
        else { return [:] }
        return FakeEPayServer.form(String(query))
    }

    @Test(
        arguments: [
            ("pid", "1002", .unproven(.otherMerchant)), ("pid", "", .unproven(.otherMerchant)),
            ("trade_no", "", .rejected(reason: "bad_trade_no")),
            ("trade_no", "a b", .rejected(reason: "bad_trade_no")),
            ("trade_status", "", .rejected(reason: "bad_trade_status")),
        ] as [(String, String, ProviderError)])
    func `what is signed well and about another is refused`(
        name: String, value: String, error: ProviderError
    ) async throws {
        var notice = EPayNotice(payment)
        notice.fields[name] = value
        #expect(try await result(EPayNotice.get(notice.text())) == .failure(error))
    }

    @Test func `only TRADE_SUCCESS is paid`() async throws {
        for status in ["TRADE_FINISHED", "trade_success", "TRADE_CLOSED", "WAIT_BUYER_PAY"] {
            var notice = EPayNotice(payment)
            notice.fields["trade_status"] = status
            guard case .success(let facts) = try await result(EPayNotice.get(notice.text())),
                case .payment(let report)? = facts.first
            else {
                Issue.record("\(status) states nothing")
                continue
            }
            #expect(report.outcome == .pending(status: status))
        }
    }

    @Test func `each dialect joins the key in its own way`() async throws {
        let settings = EPayFixture.dialect(["key_joiner": .text("&api_key="), "digest_case": .text("upper")])
        let (plain, joined) = (EPayNotice(payment).text(), EPayNotice(payment).text(joiner: "&api_key="))
        #expect(joined.contains(/sign=[0-9A-F]{32}&/) && plain.contains(/sign=[0-9a-f]{32}&/))
        #expect(try await result(EPayNotice.get(joined), settings) == paid(cny(3990)))
        #expect(try await result(EPayNotice.get(plain), settings) == .failure(.unproven(.signature)))
        #expect(try await result(EPayNotice.get(joined)) == .failure(.unproven(.signature)))
        guard case .url(let address) = try await fixture.provider(settings).open(fixture.attempt()).instruction else {
            return
        }
        #expect(FakeEPayServer(joiner: "&api_key=").visit(address) != nil && FakeEPayServer().visit(address) == nil)
    }

    @Test func `garbage, another sign_type, fields that come twice and huge bodies prove nothing`() async throws {
        var notice = EPayNotice(payment)
        let good = notice.text()
        notice.fields["sign_type"] = "RSA"
        let texts = [
            "", "&&", "=", "a=%zz", "{}", "\u{0}", notice.text(), good + "&money=39.90", good + "&money=0.01",
            "money=0.01&" + good, good + "&%6Doney=1", good.replacing("sign=", with: "Sign="),
            good + "&x=" + String(repeating: "x", count: 2 << 20), EPayNotice(payment).text(signature: ""),
            EPayNotice(payment).text(signature: String(repeating: "g", count: 32)),
            EPayNotice(payment).text(signature: "０a" + String(repeating: "0", count: 28)),
        ]
        for text in texts {
            #expect(try await isUnproven(EPayNotice.get(text)))
            #expect(try await isUnproven(EPayNotice.post(text)))
        }
        // Fields without a value are not signed, and have no meaning.
        #expect(try await result(EPayNotice.get(good + "&kit=")) == paid(cny(3990)))
    }

    @Test func `the same sentence is the same event, another amount is another`() async throws {
        let provider = try fixture.provider()
        func id(_ money: String) async throws -> String {
            try await provider.receive(EPayNotice.get(EPayNotice(payment, money: money).text())).eventID
        }
        let first = try await id("39.90")
        #expect(try await id("39.9") == first)
        #expect(try await id("0.01") != first)
    }
}
