import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Synchronization
import Testing
import WeChatPayProvider

struct WeChatPayNotificationTests {
    private let fixture = WeChatPayFixture()

    /// Makes a valid notification.
    private func paid(_ payment: ID<Payment>, more: [String: Any] = [:]) -> [String: Any] {
        FakeWeChatPayServer.Order(
            number: payment.rawValue, total: 3990, body: Data(), mode: "native", state: "SUCCESS"
        ).json.merging(more) { $1 }
    }

    private func receive(
        _ body: Data, _ headers: [(name: String, value: String)]? = nil, by seal: WeChatPaySeal = .platform
    ) async throws -> ReceivedNotification {
        try await fixture.provider().receive(
            FakeWeChatPayServer.notification(body, headers ?? seal.headers(body, at: fixture.clock.now.rawValue)))
    }

    @Test func `a payment is stated with its amount, and acknowledged with 204`() async throws {
        let payment = fixture.attempt().payment
        let received = try await receive(FakeWeChatPayServer.event("TRANSACTION.SUCCESS", paid(payment), id: "EV-77"))
        #expect(received.eventID == "EV-77" && received.type == "TRANSACTION.SUCCESS")
        #expect(received.acknowledgement.status == 204 && received.acknowledgement.body.isEmpty)
        let reference = "4200\(payment.rawValue.suffix(10))"
        #expect(
            received.facts == [
                .payment(PaymentReport(payment: payment, outcome: .succeeded(cny(3990)), reference: reference))
            ])
    }

    @Test(arguments: ["amount", "mchid", "appid", "out_trade_no"])
    func `what is altered on the way is refused`(field: String) async throws {
        let payment = fixture.attempt().payment
        let genuine = FakeWeChatPayServer.event("TRANSACTION.SUCCESS", paid(payment))
        let values: [String: Any] = [
            "amount": ["total": 1, "currency": "CNY"], "mchid": "1900000009", "appid": "wx9",
            "out_trade_no": fixture.attempt().payment.rawValue,
        ]
        let altered = FakeWeChatPayServer.event(
            "TRANSACTION.SUCCESS", paid(payment, more: [field: values[field] ?? ""]))
        let headers = WeChatPaySeal.platform.headers(genuine, at: fixture.clock.now.rawValue)
        await #expect(throws: ProviderError.unproven(.signature)) { try await receive(altered, headers) }
        _ = try await receive(genuine, headers)
    }

    @Test(arguments: [("mchid", .otherMerchant), ("appid", .otherApp)] as [(String, UnprovenReason)])
    func `another merchant's or app's payment is refused although it is signed`(
        field: String, reason: UnprovenReason
    ) async throws {
        let object = paid(fixture.attempt().payment, more: [field: "1900000009"])
        await #expect(throws: ProviderError.unproven(reason)) {
            try await receive(FakeWeChatPayServer.event("TRANSACTION.SUCCESS", object))
        }
        let refund = FakeWeChatPayServer.Refund(
            number: fixture.ids.make(Refund.self).rawValue, order: fixture.attempt().payment.rawValue, amount: 1)
        await #expect(throws: ProviderError.unproven(.otherMerchant)) {
            try await receive(
                FakeWeChatPayServer.event("REFUND.SUCCESS", refund.notice(total: 1, mchid: "1900000009")))
        }
    }

    @Test func `a payment that is none of ours states nothing`() async throws {
        var object = paid(fixture.attempt().payment)
        for number in ["invoice-77", "pay_", ""] {
            object["out_trade_no"] = number
            #expect(try await receive(FakeWeChatPayServer.event("TRANSACTION.SUCCESS", object)).facts.isEmpty)
        }
        #expect(try await receive(FakeWeChatPayServer.event("PAYSCORE.USER_PAID", ["a": 1])).facts.isEmpty)
    }

    @Test func `a refund that was made on the merchant platform has only its reference`() async throws {
        let payment = fixture.attempt().payment
        let made = FakeWeChatPayServer.Refund(
            number: "by-hand-1", order: payment.rawValue, amount: 990, status: "SUCCESS")
        let facts = try await receive(FakeWeChatPayServer.event("REFUND.SUCCESS", made.notice(total: 3990))).facts
        #expect(
            facts == [
                .refund(
                    RefundReport(
                        payment: payment, refund: nil, outcome: .succeeded, amount: cny(990), reference: made.id,
                        paymentReference: "4200x"))
            ])
    }

    @Test(arguments: [
        "another key", "short nonce", "long nonce", "no nonce", "no base64", "too short", "another algorithm",
        "other associated data", "no JSON inside",
    ])
    func `a resource that does not decrypt is rejected`(fault: String) async throws {
        var resource = WeChatPayTestCertificates.sealed(
            Data("{}".utf8), fault == "another key" ? String(repeating: "k", count: 32) : FakeWeChatPayServer.apiKey)
        switch fault {
        case "short nonce": resource["nonce"] = "fdasflkja48"
        case "long nonce": resource["nonce"] = "fdasflkja4845"
        case "no nonce": resource["nonce"] = ""
        case "no base64": resource["ciphertext"] = "%%%"
        case "too short": resource["ciphertext"] = Data([1, 2, 3]).base64EncodedString()
        case "another algorithm": resource["algorithm"] = "AEAD_SM4_GCM"
        case "other associated data": resource["associated_data"] = "refund"
        default: break
        }
        let fields: [String: Any] = [
            "id": "EV-1", "event_type": "TRANSACTION.SUCCESS", "resource_type": "encrypt-resource",
            "resource": resource,
        ]
        let body = try JSONSerialization.data(withJSONObject: fields)
        let reason = fault == "no JSON inside" ? "malformed_resource" : "undecryptable_resource"
        await #expect(throws: ProviderError.rejected(reason: reason)) { try await receive(body) }
        #expect(
            fixture.logged.contains { $0.contains("api_v3_key") }
                == (fault == "another key" || fault == "other associated data"))
    }

    @Test func `empty associated data decrypt, and so does none`() async throws {
        let payment = fixture.attempt().payment
        for associated in ["", nil] as [String?] {
            let plain = try JSONSerialization.data(withJSONObject: paid(payment))
            let fields: [String: Any] = [
                "id": "EV-1", "event_type": "TRANSACTION.SUCCESS", "resource_type": "encrypt-resource",
                "resource": WeChatPayTestCertificates.sealed(plain, FakeWeChatPayServer.apiKey, associated: associated),
            ]
            let received = try await receive(try JSONSerialization.data(withJSONObject: fields))
            #expect(received.facts.count == 1)
        }
    }

    @Test(arguments: [
        #"{"amount":{"currency":"CNY"}}"#, #"{"amount":{"total":0,"currency":"CNY"}}"#,
        #"{"amount":{"total":-1,"currency":"CNY"}}"#, #"{"amount":{"total":1,"currency":"yuan"}}"#,
        #"{"amount":{"total":1.5,"currency":"CNY"}}"#, #"{"amount":{"total":"3990","currency":"CNY"}}"#,
        #"{"amount":{"total":99999999999999999999,"currency":"CNY"}}"#, #"{"amount":null}"#, #"{"trade_state":7}"#,
        #"{"out_trade_no":null}"#,
    ])
    func `a success without an exact amount is rejected`(more: String) async throws {
        let fields = try JSONSerialization.jsonObject(with: Data(more.utf8)) as? [String: Any]
        let object = paid(fixture.attempt().payment, more: fields ?? [:])
        let error = await #expect(throws: ProviderError.self) {
            try await receive(FakeWeChatPayServer.event("TRANSACTION.SUCCESS", object))
        }
        #expect(
            error == .unproven(.badMoney) || error == .rejected(reason: "malformed_resource"))
    }

    @Test(arguments: [
        Data(), Data("null".utf8), Data("[]".utf8), Data(repeating: 0x5B, count: 1 << 20), Data([0xFF, 0xFE]),
        Data(#"{"id":"","event_type":"A","resource_type":"encrypt-resource","resource":{}}"#.utf8),
        Data(#"{"id":1}"#.utf8),
    ])
    func `genuine garbage is rejected`(body: Data) async throws {
        await #expect(throws: ProviderError.rejected(reason: "malformed_body")) { try await receive(body) }
    }

    /// WeChat Pay's states and their outcomes, in a notification as in an answer.
    @Test(arguments: [
        ("SUCCESS", PaymentOutcome.succeeded(cny(3990))), ("REFUND", .succeeded(cny(3990))), ("NOTPAY", .accepted),
        ("USERPAYING", .processing), ("CLOSED", .cancelled), ("REVOKED", .cancelled),
        ("PAYERROR", .tryFailed(reason: "PAYERROR")), ("ACCEPT", .pending(status: "ACCEPT")),
        ("success", .pending(status: "success")), ("a b", .pending(status: "unknown_status")),
        ("", .pending(status: "unknown_status")),
    ])
    func `every state has its outcome`(state: String, outcome: PaymentOutcome) async throws {
        let attempt = fixture.attempt()
        let object = paid(attempt.payment, more: ["trade_state": state])
        let facts = try await receive(FakeWeChatPayServer.event("TRANSACTION.SUCCESS", object)).facts
        guard case .payment(let report) = facts.first else { throw RehearsalGap("stated \(facts)") }
        #expect(report.outcome == outcome)
        fixture.standIn.script("/out-trade-no/", fixture.standIn.signed(200, object, now: fixture.clock.now.rawValue))
        #expect(try await fixture.provider().query(fixture.reference(attempt)).outcome == outcome)
    }
}
