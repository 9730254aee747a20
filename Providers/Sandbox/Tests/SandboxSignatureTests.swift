import Domain
import Foundation
import ProviderKit
import ProviderTesting
import SandboxProvider
import Testing

struct SandboxSignatureTests {
    private static let now: Int64 = 1_736_860_000
    private static let payment = "pay_01jhgx0000000000000000000a"
    private static let body = Data(event().utf8)
    private static let good = signature(body, at: now)

    private func receive(_ signatures: [String], body: Data = Self.body) async throws -> ReceivedNotification {
        try await SandboxFixture().provider().receive(notification(body, signatures))
    }

    @Test func `a genuine notification is acknowledged with ok`() async throws {
        let received = try await receive([Self.good])
        #expect(received.eventID == "e1" && received.type == "payment.succeeded")
        #expect(received.acknowledgement == Acknowledgement(status: 200, body: "ok"))
    }

    @Test func `the digits of the code may be upper-case`() async throws {
        let code = Self.good.suffix(64).uppercased()
        #expect(try await receive(["t=\(Self.now),v1=\(code)"]).eventID == "e1")
    }

    @Test(arguments: [-300, -1, 0, 1, 300] as [Int64])
    func `a time inside the window is taken`(offset: Int64) async throws {
        #expect(try await receive([signature(Self.body, at: Self.now + offset)]).eventID == "e1")
    }

    @Test(arguments: [-1_736_860_000, -3_600, -301, 301, 3_600, 900_000_000_000] as [Int64])
    func `a time outside of the window is refused`(offset: Int64) async {
        await #expect(throws: ProviderError.unproven(.time)) {
            try await receive([signature(Self.body, at: Self.now + offset)])
        }
    }

    @Test(arguments: [
        "", "t=,v1=", "garbage", "v1=\(good.suffix(64)),t=\(now)", "t=\(now)", "v1=\(good.suffix(64))",
        "t=\(now);v1=\(good.suffix(64))", "t=\(now), v1=\(good.suffix(64))", good + ",v1=\(good.suffix(64))",
        good + "00",
        String(good.dropLast()), String(good.dropLast(2)), good.replacingOccurrences(of: "v1=", with: "v2="),
        "t=\(now),v1=" + String(repeating: "g", count: 64), "t=\(now),v1=" + String(repeating: "é", count: 32),
        "t=-\(now),v1=\(good.suffix(64))", "t=+\(now),v1=\(good.suffix(64))", "t=٣,v1=\(good.suffix(64))",
        "t=99999999999999999999,v1=\(good.suffix(64))", " " + good, good + " ",
        signature(body, at: now, secret: "another"), signature(body + Data([0x20]), at: now),
    ])
    func `a header that proves nothing is refused`(header: String) async {
        await #expect { try await receive([header]) } throws: { ($0 as? ProviderError)?.isUnproven ?? false }
    }

    @Test(arguments: [[], [good, good], [good, "garbage"]] as [[String]])
    func `anything but one header is refused`(headers: [String]) async {
        await #expect(throws: ProviderError.unproven(.signature)) { try await receive(headers) }
    }

    @Test(arguments: [
        ("{", "malformed_body"), ("[]", "malformed_body"), ("\u{0}", "malformed_body"),
        (#"{"event_id":"e"}"#, "malformed_body"),
        (event(amount: #"{"value":39.5,"currency":"CNY"}"#), "malformed_body"),
        (event(amount: #"{"value":3990,"currency":"XXX"}"#), "malformed_body"),
        (event(amount: #"{"value":99999999999999999999,"currency":"CNY"}"#), "malformed_body"),
        (event(payment: "ord_01jhgx0000000000000000000a"), "bad_payment_id"),
        (event(id: ""), "bad_event_id"), (event(id: String(repeating: "x", count: 256)), "bad_event_id"),
        (event(type: ""), "bad_type"), (event(type: String(repeating: "x", count: 65)), "bad_type"),
        (event(type: "refund.succeeded"), "bad_refund_id"),
        (event(type: "refund.failed", refund: payment), "bad_refund_id"),
    ])
    func `a signed body that cannot be understood is rejected`(body: String, reason: String) async {
        let data = Data(body.utf8)
        await #expect(throws: ProviderError.rejected(reason: reason)) {
            try await receive([signature(data, at: Self.now)], body: data)
        }
    }

    @Test(arguments: ["customer.created", "payment", "refund.teleported", "dispute.teleported", "payments.succeeded"])
    func `an event of another type states nothing and is acknowledged`(type: String) async throws {
        let data = Data(Self.event(type: type).utf8)
        let received = try await receive([signature(data, at: Self.now)], body: data)
        #expect(received.facts.isEmpty && received.type == type && received.acknowledgement.body == "ok")
    }

    @Test func `an unknown payment status keeps its word`() async throws {
        let data = Data(Self.event(type: "payment.SUCCEEDED").utf8)
        let id = try #require(ID<Payment>(Self.payment))
        let facts = try await receive([signature(data, at: Self.now)], body: data).facts
        #expect(facts == [.payment(PaymentReport(payment: id, outcome: .pending(status: "SUCCEEDED")))])
    }

    private static func event(
        id: String = "e1", payment: String = payment, type: String = "payment.succeeded",
        amount: String = #"{"value":3990,"currency":"CNY"}"#, refund: String? = nil
    ) -> String {
        let refund = refund.map { "\"\($0)\"" } ?? "null"
        return """
            {"event_id":"\(id)","payment_id":"\(payment)","type":"\(type)","amount":\(amount),\
            "refund_id":\(refund),"occurred_at":1}
            """
    }
}
