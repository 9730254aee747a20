import Domain
import EPayProvider
import Foundation
import ProviderKit
import ProviderTesting
import Testing

/// Tests that planted secrets appear in no log and no answer.
struct EPaySecrecyTests {
    private static let planted = [FakeEPayServer.key, "payer@example.com", "swordfish"]

    @Test(arguments: [#"{"code":1"#, #"{"code":-1"#, #"{"code":"payer@example.com""#, "swordfish {"], [200, 500])
    func `neither the key nor an answer's words reach a log or an error`(head: String, status: Int) async throws {
        let text =
            head
            + #","msg":"swordfish \#(FakeEPayServer.key)","key":"\#(FakeEPayServer.key)","trade_no":"payer@example.com"}"#
        let bench = EPayFixture { _ in IncomingReply(status: status, body: Data(text.utf8)) }
        var shown: [String] = []
        func show<Value>(_ call: () async throws -> Value) async {
            do { shown.append("\(try await call())") } catch { shown += ["\(error)", String(reflecting: error)] }
        }
        let provider = try bench.provider(EPayFixture.mapi)
        let reference = bench.reference(bench.attempt())
        await show { try await provider.open(bench.attempt()) }
        await show { try await provider.query(reference) }
        await show { try await provider.refund(bench.refund(reference)) }
        await show { try await provider.query(refund: bench.refund(reference)) }
        await show { await provider.diagnose() }
        var notice = EPayNotice(reference.payment.rawValue, money: "swordfish")
        await show { try await provider.receive(EPayNotice.get(notice.text())) }
        notice.fields["pid"] = "payer@example.com"
        await show { try await provider.receive(EPayNotice.post(notice.text())) }
        await show { try await provider.receive(EPayNotice.get("swordfish=payer@example.com")) }
        var dumped = ""
        dump(provider, to: &dumped)
        for text in shown + bench.logged + [dumped, "\(provider)", String(reflecting: provider)] {
            for secret in Self.planted { #expect(!text.contains(secret), "\(secret) is in \(text)") }
        }
    }
}
