import AlipayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

/// Tests that planted secrets appear in no log and no answer.
struct AlipaySecrecyTests {
    private static let planted = ["payer@example.com", "swordfish", "8888 8888"]

    private func shown(_ fixture: AlipayFixture, _ settings: [String: SettingValue] = [:]) async throws -> [String] {
        let provider = try fixture.provider(settings)
        var shown = ShownTexts()
        let reference = fixture.reference(fixture.attempt())
        let refund = fixture.refund(reference, cny(1))
        if settings.isEmpty { await shown.add { try await provider.open(fixture.attempt()) } }
        await shown.add { try await provider.query(reference) }
        await shown.add { try await provider.cancel(reference) }
        await shown.add { try await provider.refund(refund) }
        await shown.add { try await provider.query(refund: refund) }
        await shown.add { await provider.diagnose() }
        var notice = AlipayNotice(reference.payment.rawValue, "TRADE_SUCCESS", amount: "swordfish")
        await shown.add { try await provider.receive(notice.raw()) }
        notice.fields["trade_status"] = "payer@example.com"
        await shown.add { try await provider.receive(notice.raw()) }
        await shown.add { try await provider.receive(notice.raw(by: AlipayTestCertificates.stranger)) }
        await shown.add { try await provider.receive(AlipayNotice.raw("payer@example.com=8888 8888")) }
        shown.add(dumpOf: provider)
        return shown.all + fixture.logged
    }

    @Test(arguments: ["10000", "20000", "40002", "40004", "40006", "payer@example.com"], [true, false])
    func `no answer's words reach a log or an error`(code: String, isSigned: Bool) async throws {
        let node = Data(
            #"{"code":"\#(code)","msg":"swordfish","sub_code":"payer@example.com","sub_msg":"sign=swordfish 8888 8888"}"#
                .utf8)
        let fixture = AlipayFixture { request in
            let method = FakeAlipayServer.form(request.url.components(separatedBy: "?")[1])["method"] ?? ""
            return FakeAlipayServer.reply(method, node, isSigned: isSigned)
        }
        let key = AlipayTestCertificates.applicationPKCS8
        for text in try await shown(fixture) {
            for secret in Self.planted + [key, String(key.dropFirst(60).prefix(40))] {
                #expect(!text.contains(secret), "\(secret) is in \(text)")
            }
        }
        // A success that says nothing is no trouble of Alipay's.
        #expect(fixture.logged.count >= 5 || (isSigned && code == "10000"))
    }

    @Test func `no page of another's reaches a log or an error`() async throws {
        for status in [200, 302, 500] {
            let fixture = AlipayFixture { _ in
                IncomingReply(status: status, body: Data("swordfish payer@example.com 8888 8888".utf8))
            }
            for text in try await shown(fixture) {
                for secret in Self.planted { #expect(!text.contains(secret), "\(secret) is in \(text)") }
            }
        }
    }
}
