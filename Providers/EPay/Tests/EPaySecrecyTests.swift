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
        let fixture = EPayFixture { _ in IncomingReply(status: status, body: Data(text.utf8)) }
        var shown = ShownTexts()
        let provider = try fixture.provider(EPayFixture.mapi)
        let reference = fixture.reference(fixture.attempt())
        await shown.add { try await provider.open(fixture.attempt()) }
        await shown.add { try await provider.query(reference) }
        await shown.add { try await provider.refund(fixture.refund(reference)) }
        await shown.add { try await provider.query(refund: fixture.refund(reference)) }
        await shown.add { await provider.diagnose() }
        var notice = EPayNotice(reference.payment.rawValue, money: "swordfish")
        await shown.add { try await provider.receive(EPayNotice.get(notice.text())) }
        notice.fields["pid"] = "payer@example.com"
        await shown.add { try await provider.receive(EPayNotice.post(notice.text())) }
        await shown.add { try await provider.receive(EPayNotice.get("swordfish=payer@example.com")) }
        shown.add(dumpOf: provider)
        for text in shown.all + fixture.logged {
            for secret in Self.planted { #expect(!text.contains(secret), "\(secret) is in \(text)") }
        }
    }
}
