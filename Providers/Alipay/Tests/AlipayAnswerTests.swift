import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

@testable import AlipayProvider

/// Tests of forged answers, and of genuine ones without a meaning.
struct AlipayAnswerTests {
    private static let paid = Data(
        #"{"code":"10000","out_trade_no":"NUMBER","trade_status":"TRADE_SUCCESS","total_amount":"39.90","a":"x\/y\u4F1A"}"#
            .utf8)

    private static func node(_ payment: ID<Payment>) -> Data {
        Data(String(decoding: paid, as: UTF8.self).replacing("NUMBER", with: payment.rawValue).utf8)
    }

    private func query(
        _ reply: @escaping @Sendable (Data) -> IncomingReply
    ) async throws -> Result<
        PaymentOutcome, ProviderError
    > { try await query([:], reply) }

    private func query(
        _ settings: [String: SettingValue], _ reply: @escaping @Sendable (Data) -> IncomingReply
    ) async throws -> Result<PaymentOutcome, ProviderError> {
        let ids = AlipayFixture()
        let attempt = ids.attempt()
        let node = Self.node(attempt.payment)
        let fixture = AlipayFixture { _ in reply(node) }
        let provider = try fixture.provider(settings)
        do throws(ProviderError) {
            return .success(try await provider.query(ids.reference(attempt)).outcome)
        } catch {
            return .failure(error)
        }
    }

    private static let method = "alipay.trade.query"

    @Test func `the node's own bytes are what is signed`() async throws {
        #expect(try await query { FakeAlipayServer.reply(Self.method, $0) } == .success(.succeeded(cny(3990))))
        // White space between the parts, and the parts in another order.
        let spaced = try await query { node in
            let text = String(decoding: node, as: UTF8.self)
            return .page(
                "\n{ \"sign\" : \"\(AlipayTestCertificates.sign(node))\" , \"alipay_trade_query_response\":\t\(text)\r\n} \n"
            )
        }
        #expect(spaced == .success(.succeeded(cny(3990))))
    }

    @Test func `a signature that is missing, wrong or another's is not believed`() async throws {
        let replies: [@Sendable (Data) -> IncomingReply] = [
            { FakeAlipayServer.reply(Self.method, $0, isSigned: false) },
            { FakeAlipayServer.reply(Self.method, $0, by: AlipayTestCertificates.stranger) },
            { FakeAlipayServer.reply(Self.method, $0, by: AlipayTestCertificates.application) },
            { .page(#"{"alipay_trade_query_response":\#(String(decoding: $0, as: UTF8.self)),"sign":""}"#) },
            { .page(#"{"alipay_trade_query_response":\#(String(decoding: $0, as: UTF8.self)),"sign":7}"#) },
            { .page(#"{"alipay_trade_query_response":\#(String(decoding: $0, as: UTF8.self)),"sign":"%%"}"#) },
            { node in
                // The same values in other bytes.
                let text = String(decoding: node, as: UTF8.self).replacing(#"\/"#, with: "/")
                return .page(
                    #"{"alipay_trade_query_response":\#(text),"sign":"\#(AlipayTestCertificates.sign(node))"}"#)
            },
            { node in
                let text = String(decoding: node, as: UTF8.self).replacing("39.90", with: "09.90")
                return .page(
                    #"{"alipay_trade_query_response":\#(text),"sign":"\#(AlipayTestCertificates.sign(node))"}"#)
            },
        ]
        for reply in replies { #expect(try await query(reply) == .failure(.unproven(.signature))) }
    }

    @Test func `what has not the form of an answer is none`() async throws {
        let replies: [@Sendable (Data) -> IncomingReply] = [
            { _ in .page("") }, { _ in .page("<html></html>") }, { _ in .page("[]") }, { _ in .page("{}") },
            { _ in .page(#"{"alipay_trade_query_response":"text","sign":"x"}"#) },
            // The answer to another call.
            { FakeAlipayServer.reply("alipay.trade.close", $0) },
            // The answer has the node twice.
            { node in
                let text = String(decoding: node, as: UTF8.self)
                let signature = AlipayTestCertificates.sign(node)
                return .page(
                    #"{"alipay_trade_query_response":\#(text),"alipay_trade_query_response":{},"sign":"\#(signature)"}"#
                )
            },
            { node in
                var reply = FakeAlipayServer.reply(Self.method, node)
                reply.body += Data("{}".utf8)
                return reply
            },
            { node in
                var reply = FakeAlipayServer.reply(Self.method, node)
                reply.status = 201
                return reply
            },
            { _ in .page(String(repeating: "[", count: 200_000)) },
            { node in
                var reply = FakeAlipayServer.reply(Self.method, node)
                reply.body = Data("{\((0..<64).map { #""n\#($0)":1,"# }.joined())".utf8) + reply.body.dropFirst()
                return reply
            },
            { _ in .page(#"{"a":"#) }, { _ in .page(#"{"a":"\"#) }, { _ in .page(#"{"a":}"#) },
        ]
        for reply in replies { #expect(try await query(reply) == .failure(.unavailable)) }
    }

    @Test func `an answer about another payment proves nothing of this one`() async throws {
        let other = try await query { _ in
            FakeAlipayServer.reply(
                Self.method, Data(#"{"code":"10000","out_trade_no":"pay_x","trade_status":"TRADE_SUCCESS"}"#.utf8))
        }
        #expect(other == .failure(.unproven(.otherPayment)))
    }

    @Test func `in certificate mode the answer names the certificate`() async throws {
        let settings = AlipayFixture.certificateMode(alipay: AlipayTestCertificates.alipayCertificate)
        @Sendable func reply(_ number: String?, _ node: Data) -> IncomingReply {
            FakeAlipayServer.reply(Self.method, node, certificate: number)
        }
        let paid = Result<PaymentOutcome, ProviderError>.success(.succeeded(cny(3990)))
        #expect(try await query(settings) { reply(AlipayTestCertificates.alipayNumber, $0) } == paid)
        #expect(try await query(settings) { reply("0123456789abcdef", $0) } == .failure(.unproven(.signature)))
        // A valid signature with the key of another certificate.
        let stranger = try await query(settings) {
            FakeAlipayServer.reply(
                Self.method, $0, certificate: AlipayTestCertificates.alipayNumber, by: AlipayTestCertificates.stranger)
        }
        #expect(stranger == .failure(.unproven(.signature)))
        // During a replacement both certificates are accepted, each under its own number only.
        let both = AlipayFixture.certificateMode(
            alipay: AlipayTestCertificates.otherAlipayCertificate, AlipayTestCertificates.alipayCertificate)
        #expect(try await query(both) { reply(AlipayTestCertificates.alipayNumber, $0) } == paid)
        let mixed = try await query(both) { reply(AlipayTestCertificates.number(serial: "539300103"), $0) }
        #expect(mixed == .failure(.unproven(.signature)))
    }

    @Test(
        arguments: [
            ("40004", "ACQ.TRADE_HAS_CLOSE", ProviderError.rejected(reason: "ACQ.TRADE_HAS_CLOSE")),
            ("40004", "ACQ.SYSTEM_ERROR", .outcomeUnknown), ("40004", "ACQ.CONTEXT_INCONSISTENT", .outcomeUnknown),
            ("40004", "ACQ.TRADE_HAS_SUCCESS", .outcomeUnknown), ("40004", "", .outcomeUnknown),
            ("40004", "a <b>", .outcomeUnknown), ("20000", "aop.unknow-error", .outcomeUnknown),
            ("20000", "isp.unknow-error", .outcomeUnknown), ("10003", "", .outcomeUnknown),
            ("40002", "isv.invalid-signature", .unavailable),
            ("40006", "isv.insufficient-isv-permissions", .unavailable),
            ("40005", "isv.app-call-limited", .unavailable), ("99999", "x", .outcomeUnknown),
        ])
    func `a refusal is final only where the acquirer says so`(
        code: String, word: String, expected: ProviderError
    ) async throws {
        let fixture = AlipayFixture { _ in
            FakeAlipayServer.reply(
                "alipay.trade.precreate", Data(#"{"code":"\#(code)","msg":"x","sub_code":"\#(word)"}"#.utf8))
        }
        await #expect(throws: expected) { try await fixture.provider().open(fixture.attempt()) }
    }

    @Test(arguments: ["ACQ.INVALID_PARAMETER", "ACQ.ACCESS_FORBIDDEN"])
    func `a question that is refused ends nothing`(word: String) async throws {
        let refusal = Data(#"{"code":"40004","sub_code":"\#(word)"}"#.utf8)
        let made = Data(#"{"code":"10000","fund_change":"N"}"#.utf8)
        let fixture = AlipayFixture { request in
            let method = FakeAlipayServer.form(request.url.components(separatedBy: "?")[1])["method"] ?? ""
            return FakeAlipayServer.reply(method, method == "alipay.trade.refund" ? made : refusal)
        }
        let provider = try fixture.provider()
        let reference = fixture.reference(fixture.attempt())
        let refund = fixture.refund(reference, cny(1))
        await #expect(throws: ProviderError.unavailable) { try await provider.query(reference) }
        await #expect(throws: ProviderError.unavailable) { try await provider.query(refund: refund) }
        // The call was answered without a meaning, so its effect is unknown.
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.refund(refund) }
    }

    @Test func `an error_response is read like any other`() async throws {
        let node = Data(#"{"code":"40004","sub_code":"ACQ.ACCESS_FORBIDDEN"}"#.utf8)
        let fixture = AlipayFixture { _ in
            .page(
                #"{"error_response":\#(String(decoding: node, as: UTF8.self)),"sign":"\#(AlipayTestCertificates.sign(node))"}"#
            )
        }
        await #expect(throws: ProviderError.rejected(reason: "ACQ.ACCESS_FORBIDDEN")) {
            try await fixture.provider().open(fixture.attempt())
        }
    }
}

extension IncomingReply {
    static func page(_ text: String) -> IncomingReply { IncomingReply(status: 200, body: Data(text.utf8)) }
}
