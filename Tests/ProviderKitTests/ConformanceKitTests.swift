import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

struct ConformanceKitTests {
    @Test func `a correct provider is green`() async {
        let report = await ProviderConformance("fake") { FakeRehearsal(flaw: nil) }.run()
        #expect(report.isGreen, "\(report)")
    }

    private static let flaws: [(Flaw, [String])] = [
        (.acceptsForgedSignature, ["a forged signature is refused"]),
        (.acceptsMissingSignature, ["a missing signature is refused"]),
        (.acceptsAnothersSignature, ["another account's signature is refused"]),
        (.signsOnlyTheTime, ["an altered notification is refused"]),
        (.ignoresOldTimestamp, ["a notification from outside of the time window is refused"]),
        (.ignoresFutureTimestamp, ["a notification from the future is refused"]),
        (.unknownStatusIsSuccess, ["an unknown status is never a success"]),
        (.forgetsAmounts, ["a wrong amount or currency is reported as it stands"]),
        (.assumesCurrency, ["a wrong amount or currency is reported as it stands"]),
        (.randomEventID, ["an event keeps its id when it is repeated, and another has another"]),
        (.oneEventID, ["an event keeps its id when it is repeated, and another has another"]),
        (.statefulReceive, ["the order of notifications changes none of them"]),
        (.rejectsWithForgery, ["a genuine notification that cannot be understood is rejected"]),
        (.twoUpstreamPayments, ["one payment id opens one payment, however often"]),
        (.everyOpeningDiffers, ["one payment id opens one payment, however often"]),
        (.wrongContractType, ["opening gives an instruction of the account's contract types"]),
        (.unpaidIsPaid, ["an unpaid payment is not reported as paid"]),
        (.amountOffByOne, ["a paid payment is reported with its exact amount"]),
        (.cancelDoesNothing, ["a cancelled payment cannot be paid any more"]),
        (.cancelHidesSuccess, ["cancelling a paid payment reports that it is paid"]),
        (.refundRepeats, ["a refund repeated under its id has one effect"]),
        (.refundsTooMuch, ["a refund of too much is refused without effect"]),
        (.refundsWithoutMoney, ["a full refund gives the whole amount back once"]),
        (
            .lostReplyIsUnavailable,
            [
                "a lost reply to an opening is an unknown outcome with one effect",
                "a lost reply to a refund is an unknown outcome with one effect",
                "a lost reply to a cancel is an unknown outcome",
            ]
        ),
        (.lostReplyIsRejected, ["a lost reply to an opening is an unknown outcome with one effect"]),
        (.unavailableIsSuccess, ["an unavailable service changes nothing"]),
        (.slowDiffers, ["a slow service changes no result"]),
        (
            .leaksSecretInError,
            ["no secret is shown by any description or error", "an unavailable service changes nothing"]
        ),
        (.leaksSecretInDescription, ["no secret is shown by any description or error"]),
    ]

    @Test func `every flaw has its check`() {
        #expect(Self.flaws.map(\.0.rawValue).sorted() == Flaw.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: flaws)
    func `a broken provider is caught by the check of that name`(flaw: Flaw, checks: [String]) async {
        let report = await ProviderConformance("fake") { FakeRehearsal(flaw: flaw) }.run()
        #expect(!report.isGreen)
        for check in checks {
            guard case .failed? = report[check] else {
                Issue.record("\(flaw): \(check) did not fail\n\(report)")
                continue
            }
        }
    }

    @Test func `a rehearsal that plays nothing leaves no check green by silence`() async {
        let report = await ProviderConformance("silent") { SilentRehearsal() }.run()
        #expect(!report.isGreen)
        for name in [
            "a genuine notification states exactly what happened", "a forged signature is refused",
            "a full refund gives the whole amount back once", "a cancelled payment cannot be paid any more",
        ] {
            guard case .failed? = report[name] else {
                Issue.record("\(name) did not fail\n\(report)")
                continue
            }
        }
    }

    @Test func `the names of the checks are distinct`() {
        #expect(Set(ProviderConformance.checkNames).count == ProviderConformance.checkNames.count)
    }

    @Test func `a report is a table with every check in it`() {
        let report = ConformanceReport(
            subject: "box",
            results: [
                .init(name: "one", outcome: .passed), .init(name: "the second", outcome: .failed(reason: "because")),
                .init(name: "three", outcome: .notApplicable(why: "no need")),
            ])
        #expect(
            report.description == """
                box: RED, 1 of 3 checks passed, 1 failed
                  passed   one
                  FAILED   the second  because
                  n/a      three       no need
                """)
        #expect(report.failures.map(\.name) == ["the second"] && report["four"] == nil)
    }

    @Test func `a report without a passed check is not green`() {
        #expect(!ConformanceReport(subject: "box", results: []).isGreen)
        #expect(
            !ConformanceReport(subject: "box", results: [.init(name: "a", outcome: .notApplicable(why: ""))]).isGreen)
        #expect(ConformanceReport(subject: "box", results: [.init(name: "a", outcome: .passed)]).isGreen)
    }
}

/// Everything that only a provider's tests know is left out.
private struct SilentRehearsal: Rehearsal {
    var secrets: [String] { [] }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        FakeProvider(context: context, flaw: nil)
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply { IncomingReply(status: 200, body: Data("open 3990 CNY".utf8)) }
}
