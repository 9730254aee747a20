import AlipayProvider
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

/// Tests that planted secrets appear in no log and no answer.
struct AlipaySecrecyTests {
    private static let planted = ["payer@example.com", "swordfish", "8888 8888"]

    private func shown(_ bench: AlipayFixture, _ settings: [String: SettingValue] = [:]) async throws -> [String] {
        let provider = try bench.provider(settings)
        var shown: [String] = []
        func show<Value>(_ call: () async throws -> Value) async {
            do { shown.append("\(try await call())") } catch { shown += ["\(error)", String(reflecting: error)] }
        }
        let reference = bench.reference(bench.attempt())
        let refund = bench.refund(reference, cny(1))
        if settings.isEmpty { await show { try await provider.open(bench.attempt()) } }
        await show { try await provider.query(reference) }
        await show { try await provider.cancel(reference) }
        await show { try await provider.refund(refund) }
        await show { try await provider.query(refund: refund) }
        await show { await provider.diagnose() }
        var notice = AlipayNotice(reference.payment.rawValue, "TRADE_SUCCESS", amount: "swordfish")
        await show { try await provider.receive(notice.raw()) }
        notice.fields["trade_status"] = "payer@example.com"
        await show { try await provider.receive(notice.raw()) }
        await show { try await provider.receive(notice.raw(by: AlipayTestCertificates.stranger)) }
        await show { try await provider.receive(AlipayNotice.raw("payer@example.com=8888 8888")) }
        var dumped = ""
        dump(provider, to: &dumped)
        return shown + [dumped, "\(provider)", String(reflecting: provider)] + bench.logged
    }

    @Test(arguments: ["10000", "20000", "40002", "40004", "40006", "payer@example.com"], [true, false])
    func `no answer's words reach a log or an error`(code: String, isSigned: Bool) async throws {
        let node = Data(
            #"{"code":"\#(code)","msg":"swordfish","sub_code":"payer@example.com","sub_msg":"sign=swordfish 8888 8888"}"#
                .utf8)
        let bench = AlipayFixture { request in
            let method = FakeAlipayServer.form(request.url.components(separatedBy: "?")[1])["method"] ?? ""
            return FakeAlipayServer.reply(method, node, isSigned: isSigned)
        }
        let key = AlipayTestCertificates.applicationPKCS8
        for text in try await shown(bench) {
            for secret in Self.planted + [key, String(key.dropFirst(60).prefix(40))] {
                #expect(!text.contains(secret), "\(secret) is in \(text)")
            }
        }
        // A genuine success without a meaning is not logged as a failure of Alipay.
        #expect(bench.logged.count >= 5 || (isSigned && code == "10000"))
    }

    @Test func `no page of another's reaches a log or an error`() async throws {
        for status in [200, 302, 500] {
            let bench = AlipayFixture { _ in
                IncomingReply(status: status, body: Data("swordfish payer@example.com 8888 8888".utf8))
            }
            for text in try await shown(bench) {
                for secret in Self.planted { #expect(!text.contains(secret), "\(secret) is in \(text)") }
            }
        }
    }
}
