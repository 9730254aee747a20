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
        (
            .countsFromTheID,
            ["a refund that waited for days before it was sent is not given up while its call may arrive"]
        ),
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
        (.adoptsStrangers, ["a notification of a payment that is not ours states nothing"]),
        (.ignoresAccounts, ["a notification of another account's payment states nothing"]),
        (.believesReferences, ["another payment's reference gives none of its facts"]),
        (.refusesUnknownFields, ["unknown fields in an answer change nothing"]),
        (.refusesUnknownWords, ["unknown fields in a notification change nothing"]),
        (.unknownStatusIsEnd, ["an unknown status that is asked for is neither a success nor an end"]),
        (.disputeHidesRefunds, ["refunds and disputes state the same in every order"]),
        (.refundedIsCancelled, ["a payment whose money went back is still reported as paid"]),
        (.garbageIsWaiting, ["garbage instead of an answer is never believed and never a refusal"]),
        (.garbageIsRefusal, ["garbage instead of an answer is never believed and never a refusal"]),
        (.garbageIsUnavailable, ["garbage instead of an answer is never believed and never a refusal"]),
        (.serverErrorIsRefusal, ["a server error is never taken for a refusal"]),
        (.serverErrorIsUnavailable, ["a server error is never taken for a refusal"]),
        (.impossibleNumberIsRefusal, ["impossible numbers in an answer are never a refusal"]),
        (.asksForEver, ["an answer that never comes ends in an unknown outcome"]),
        (.timeoutIsRefusal, ["an answer that never comes ends in an unknown outcome"]),
        (.tooLargeIsRefusal, ["an answer that is too large ends in an unknown outcome"]),
        (.waitsForEver, ["every call limits its time and the size of its answer"]),
        (.readsForEver, ["every call limits its time and the size of its answer"]),
        (.opensBeforeItNotes, ["an opening that ended between any two steps is repeated with one effect"]),
        (.cancelsByHalves, ["a cancel that ended between any two steps is repeated to its end"]),
        (.refundsBeforeItNotes, ["a refund that ended between any two steps is repeated with one effect"]),
    ]

    @Test func `every flaw has its check`() {
        #expect(Self.flaws.map(\.0.rawValue).sorted() == Flaw.allCases.map(\.rawValue).sorted())
    }

    @Test func `every check from strangers to crashes has a flaw that it finds`() throws {
        let names = ProviderConformance.checkNames
        let found = Set(Self.flaws.flatMap(\.1))
        let first = try #require(names.firstIndex(of: "a notification of a payment that is not ours states nothing"))
        let last = try #require(
            names.firstIndex(of: "a refund that ended between any two steps is repeated with one effect"))
        for name in names[first...last] where !Self.olderChecks.contains(name) {
            #expect(found.contains(name), "no flaw shows that this check can fail: \(name)")
        }
    }

    private static let olderChecks: Set = [
        "a lost reply to a cancel is an unknown outcome", "an unavailable service refunds nothing",
    ]

    @Test(arguments: flaws)
    func `a broken provider is caught by the check of that name`(flaw: Flaw, checks: [String]) async {
        // The check for secrets examines what the others recorded.
        let needsAll = checks.contains("no secret is shown by any description or error")
        let report = await ProviderConformance("fake") { FakeRehearsal(flaw: flaw) }.run(
            only: needsAll ? nil : Set(checks))
        #expect(!report.isGreen)
        for check in checks {
            #expect(ProviderConformance.checkNames.contains(check))
            guard case .failed? = report[check] else {
                Issue.record("\(flaw): \(check) did not fail\n\(report)")
                continue
            }
        }
    }

    @Test func `the named checks run alone, and a name without a check fails`() async {
        let name = "one payment id opens one payment, however often"
        let report = await ProviderConformance("fake") { FakeRehearsal(flaw: nil) }.run(only: [name, "no such name"])
        #expect(report.results.map(\.name) == ["no such name", name])
        #expect(report.failures.map(\.name) == ["no such name"])
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

/// A rehearsal with only the required members.
private struct SilentRehearsal: Rehearsal {
    var secrets: [String] { [] }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        FakeProvider(context: context, flaw: nil)
    }

    func answer(
        _ request: OutgoingRequest, in context: ProviderContext
    ) async throws(HTTPTransportError) -> IncomingReply { IncomingReply(status: 200, body: Data("open 3990 CNY".utf8)) }
}
