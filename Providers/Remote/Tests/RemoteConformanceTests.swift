import Domain
import Foundation
import ProviderKit
import ProviderTesting
import RemoteProvider
import TestSupport
import Testing

/// Runs the conformance kit, and the checks of the plugin alone, with plugins in other processes.
@Suite(.timeLimit(.minutes(10)))
struct RemoteConformanceTests {
    /// - Parameter check: the only check of the kit to run; all where it is nil. Those of the plugin alone always run.
    private func report(
        _ plugin: ExamplePlugin, secrets: [String], check: String? = nil
    ) async throws -> ConformanceReport {
        let account = RemoteFixture.account(["url": .text(plugin.url)], secrets: secrets)
        let clock = SystemTime()
        let provider = try RemoteProvider(
            account: account,
            context: ProviderContext(
                http: LoopbackTransport(), time: clock.time, random: SeededRandom(99).source, book: InMemoryBook(),
                notifyURL: "https://pay.example/v1/notify/plug", publicURL: "https://pay.example"))
        let rehearse = try await provider.rehearsals()
        let kit = await ProviderConformance("remote", seed: 1_000, rehearse: rehearse).run(
            only: check.map { ProviderConformance.checkNames.contains($0) ? [$0] : [] })
        return ConformanceReport(subject: "remote", results: kit.results + (await provider.examineService()))
    }

    @Test(arguments: ExamplePlugin.Language.allCases)
    func `an example plugin conforms`(language: ExamplePlugin.Language) async throws {
        var setup = ExamplePlugin.Setup()
        setup.secrets = [ExamplePlugin.secret, ExamplePlugin.otherSecret]
        let plugin = try await ExamplePlugin.start(language, setup)
        defer { plugin.stop() }
        let report = try await report(plugin, secrets: setup.secrets)
        #expect(report.isGreen, "\(report)")
        #expect(
            Set(report.notApplicable) == [
                "a client gets a contract type that it accepts",
                "a payer of another app, or without a needed openid, is refused before anything is asked",
                "cancelling by best effort ends well or says why not",
                "cancelling is unsupported where the manifest has none",
                "a partial refund is refused where the manifest has only full ones",
                "refunds are refused where the manifest has none",
                "notifications are unsupported where the manifest has none",
                "a notification of another account's payment states nothing",
                "the pay page shows the payment, and only its own form is understood",
                "the pay page of an unknown payment does not exist",
            ], "\(report)")
    }

    struct Flaw: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let by: String
        let check: String
    }

    static let flaws = [
        Flaw(
            testDescription: "a new payment for each opening", text: "\"reference\": f\"B-{id}\"",
            by: "\"reference\": uuid.uuid4().hex", check: "one payment id opens one payment, however often"),
        Flaw(
            testDescription: "an opening that revives what was closed",
            text: "or payment[\"status\"] in (\"failed\", \"cancelled\")", by: "or payment.update(status=\"waiting\")",
            check: "a cancelled payment cannot be paid any more"),
        Flaw(
            testDescription: "paid before anybody paid", text: "\"status\": \"waiting\", \"refunds\"",
            by: "\"status\": \"succeeded\", \"refunds\"", check: "an unpaid payment is not reported as paid"),
        Flaw(
            testDescription: "every refund made again", text: "setdefault(q[\"refund_id\"], q[\"amount\"])",
            by: "__setitem__(uuid.uuid4().hex, q[\"amount\"])", check: "a refund repeated under its id has one effect"),
        Flaw(
            testDescription: "refunds beyond what was paid", text: "not 0 < q[\"amount\"][\"value\"] <= left",
            by: "left < 0", check: "a refund of too much is refused without effect"),
        Flaw(
            testDescription: "answers that are not bound to their call",
            text: "sealed(\"re_\" + self.headers[\"webhook-id\"]",
            by: "sealed(\"re_x\" if name == \"payments/open\" else \"re_\" + self.headers[\"webhook-id\"]",
            check: "opening gives an instruction of the account's contract types"),
        Flaw(
            testDescription: "signatures that nobody looks at", text: "or not is_genuine(self.headers, body, now)",
            by: "", check: "the plugin refuses a call with a wrong signature"),
        Flaw(
            testDescription: "old calls that count", text: "is_timely and any(", by: "any(",
            check: "the plugin refuses a call that is older than five minutes"),
        Flaw(
            testDescription: "a call taken for another", text: "if q[\"call\"] == name else", by: "if q else",
            check: "the plugin refuses a call that was signed for another path"),
        Flaw(
            testDescription: "one secret of two", text: "for secret in SECRETS]\n    return",
            by: "for secret in SECRETS[:1]]\n    return", check: "the plugin takes the account's secret 2"),
        Flaw(
            testDescription: "a notification of another amount",
            text: "{\"type\": \"payment\", \"payment\": self.shown(id)}",
            by:
                "{\"type\": \"payment\", \"payment\": self.shown(id) | {\"amount\": {\"value\": 1, \"currency\": \"CNY\"}}}",
            check: "the plugin notifies of what its payer did"),
        Flaw(
            testDescription: "a new charge for each call", text: "if q[\"payment_id\"] not in self.payments:",
            by: "if self.payments.pop(q[\"payment_id\"], None) or True:",
            check: "a charge that never arrived is withdrawn for good"),
        Flaw(
            testDescription: "charges that forget what they were", text: "f\"B-{q['payment_id']}\"",
            by: "None, \"order_id\": q[\"payment_id\"]",
            check: "what was charged is listed with its ids, or nothing is listed at all"),
        Flaw(
            testDescription: "another's mandate is charged",
            text: "and mandate[\"subscription\"] == q[\"subscription_id\"] else None", by: "else None",
            check: "a stranger's mandate is neither charged nor verified"),
        Flaw(
            testDescription: "revoked, and charged on", text: "mandate[\"active\"] = False", by: "pass",
            check: "a revoked mandate is refused hard, and revoking is repeated"),
        Flaw(
            testDescription: "an end that nobody keeps", text: "mandate[\"active\"] &= ", by: "_ = ",
            check: "an ended mandate is refused hard, and is not verified"),
        Flaw(
            testDescription: "refusals without their kind", text: "{\"refusal\": played, \"reason\"", by: "{\"reason\"",
            check: "a hard refusal is a report, and nothing can be paid afterwards"),
        Flaw(
            testDescription: "a charge that waits counts as paid", text: "\"pending\": \"waiting\"",
            by: "\"pending\": \"succeeded\"", check: "a charge that is not decided is neither a success nor an end"),
        Flaw(
            testDescription: "a set-up that is revived",
            text: "if self.setup(q)[\"status\"] in (\"failed\", \"cancelled\"):",
            by: "if self.setup(q).update(status=\"waiting\"):",
            check: "a cancelled set-up can no longer be given, also one that was never opened"),
        Flaw(
            testDescription: "a mandate for every payment",
            text: "if status == \"succeeded\" and known[\"wanted\"]:",
            by:
                "known[\"wanted\"] = known[\"wanted\"] or {\"subscription_id\": id}\n        if status == \"succeeded\":",
            check: "a payment leaves the mandate behind that was asked for"),
        Flaw(
            testDescription: "a mandate that a payment does not leave", text: "\"wanted\": q.get(\"mandate_request\")",
            by: "\"wanted\": None", check: "a payment leaves the mandate behind that was asked for"),
    ]

    @Test(arguments: flaws)
    func `a plugin with a flaw does not conform`(flaw: Flaw) async throws {
        var setup = ExamplePlugin.Setup()
        setup.secrets = [ExamplePlugin.secret, ExamplePlugin.otherSecret]
        setup.flaws = [(flaw.text, flaw.by)]
        let plugin = try await ExamplePlugin.start(.python, setup)
        defer { plugin.stop() }
        let report = try await report(plugin, secrets: setup.secrets, check: flaw.check)
        #expect(report.failures.map(\.name).contains(flaw.check), "\(report)")
    }

    @Test func `a plugin that was written before mandates conforms`() async throws {
        var setup = ExamplePlugin.Setup()
        setup.secrets = [ExamplePlugin.secret, ExamplePlugin.otherSecret]
        setup.flaws = [(", \"mandates\": True}", "}"), ("\"mandates/charge\": bank.charge, ", "")]
        let plugin = try await ExamplePlugin.start(.python, setup)
        defer { plugin.stop() }
        let report = try await report(plugin, secrets: setup.secrets)
        #expect(report.isGreen, "\(report)")
        #expect(Set(ProviderConformance.mandateCheckNames).isSubset(of: report.notApplicable), "\(report)")
    }

    @Test func `a plugin outside of its rehearsal mode is left alone`() async throws {
        var setup = ExamplePlugin.Setup()
        setup.rehearses = false
        let plugin = try await ExamplePlugin.start(.python, setup)
        defer { plugin.stop() }
        await #expect(throws: RehearsalGap.self) { try await report(plugin, secrets: setup.secrets) }
    }
}

/// The machine's time, which the plugins' processes use.
struct SystemTime {
    var time: TimeSource { TimeSource { Int64(Date().timeIntervalSince1970 * 1_000) } }
}
