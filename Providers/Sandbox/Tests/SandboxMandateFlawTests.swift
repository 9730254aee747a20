import Domain
import Foundation
import ProviderKit
import ProviderTesting
import SandboxProvider
import Testing

/// Shows that each of the kit's checks on mandates can fail: the sandbox with one flaw is red there.
struct SandboxMandateFlawTests {
    static let flaws: [(MandateFlaw, String)] = [
        (.opensAnew, "one set-up id opens one set-up, however often"),
        (.waitingSucceeds, "a set-up that failed gives no mandate"),
        (.keepsSetups, "a cancelled set-up can no longer be given, also one that was never opened"),
        (.forgetsMandates, "a payment leaves the mandate behind that was asked for"),
        (.chargesAnew, "a mandate is charged once for a payment id, however often"),
        (.throwsRefusals, "a soft refusal is a report, and nothing can be paid afterwards"),
        (.softensRefusals, "a hard refusal is a report, and nothing can be paid afterwards"),
        (.hardensRefusals, "a charge that its payer has to confirm is refused, and nothing can be paid afterwards"),
        (.pendingSucceeds, "a charge that is not decided is neither a success nor an end"),
        (.listsNothing, "what was charged is listed with its ids, or nothing is listed at all"),
        (.verifiesAnything, "an ended mandate is refused hard, and is not verified"),
        (.verifiesAnything, "a stranger's mandate is neither charged nor verified"),
        (.keepsMandates, "a revoked mandate is refused hard, and revoking is repeated"),
        (.revokesAll, "replacing a mandate leaves the one that replaces it"),
        (.losesAsUnavailable, "a lost reply to a charge is an unknown outcome with one charge"),
        (.losesAsUnavailable, "a lost reply to a set-up is an unknown outcome with one effect"),
    ]

    @Test(arguments: flaws)
    func `a broken provider is caught by the check of that name`(flaw: MandateFlaw, check: String) async {
        let report = await ProviderConformance("flawed") { FlawedRehearsal(flaw: flaw) }.run(only: [check])
        #expect(ProviderConformance.checkNames.contains(check))
        guard case .failed? = report[check] else {
            Issue.record("\(flaw): \(check) did not fail\n\(report)")
            return
        }
    }
}

enum MandateFlaw: String, Sendable, CaseIterable {
    case opensAnew, waitingSucceeds, keepsSetups, forgetsMandates, chargesAnew, throwsRefusals, softensRefusals
    case hardensRefusals, pendingSucceeds, listsNothing, verifiesAnything, keepsMandates, revokesAll
    case losesAsUnavailable
}

/// The sandbox's rehearsal with a flawed provider.
private struct FlawedRehearsal: Rehearsal {
    let flaw: MandateFlaw
    let sandbox = SandboxRehearsal(contract: "url")

    var secrets: [String] { sandbox.secrets }
    var signatureWindow: Int64? { sandbox.signatureWindow }

    func makeProvider(_ context: ProviderContext, upstream: UpstreamBehaviour) throws -> any PaymentProvider {
        FlawedMandates(sandbox: try sandbox.sandbox(context, upstream), flaw: flaw, ids: context)
    }

    func act(_ act: PayerAct, on payment: ID<Payment>, in context: ProviderContext) async throws -> Bool {
        try await sandbox.act(act, on: payment, in: context)
    }

    func effects(of payment: ID<Payment>, in context: ProviderContext) async throws -> UpstreamEffects {
        try await sandbox.effects(of: payment, in: context)
    }

    func useUnknownStatus(of payment: ID<Payment>, in context: ProviderContext) async throws -> Bool { false }

    func notification(
        _ event: RehearsedEvent, _ signature: RehearsedSignature, in context: ProviderContext
    ) async throws -> RawNotification? { try await sandbox.notification(event, signature, in: context) }

    func act(_ act: PayerAct, on setup: ID<Setup>, in context: ProviderContext) async throws -> Bool {
        try await sandbox.act(act, on: setup, in: context)
    }

    func setups(of setup: ID<Setup>, in context: ProviderContext) async throws -> Int {
        try await sandbox.setups(of: setup, in: context)
    }

    func play(
        _ charging: RehearsedCharging, of subscription: ID<Subscription>, in context: ProviderContext
    ) async throws -> Bool { try await sandbox.play(charging, of: subscription, in: context) }

    func end(_ mandate: MandateReference, in context: ProviderContext) async throws {
        try await sandbox.end(mandate, in: context)
    }

    func notification(_ event: RehearsedMandateEvent, in context: ProviderContext) async throws -> RawNotification? {
        try await sandbox.notification(event, in: context)
    }
}

/// The sandbox with one flaw in what it does about mandates.
private struct FlawedMandates: MandateCharging {
    static let manifest = SandboxProvider.manifest
    let sandbox: SandboxProvider
    let flaw: MandateFlaw
    let ids: IDSource

    init(account: ProviderAccount, context: ProviderContext) throws(ProviderSetupError) {
        sandbox = try SandboxProvider(account: account, context: context)
        flaw = .opensAnew
        ids = IDSource(time: context.time, random: context.random)
    }

    init(sandbox: SandboxProvider, flaw: MandateFlaw, ids context: ProviderContext) {
        self.sandbox = sandbox
        self.flaw = flaw
        ids = IDSource(time: context.time, random: context.random)
    }

    var contractTypes: Set<ContractType> { sandbox.contractTypes }

    func open(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        try await sandbox.open(attempt)
    }

    func query(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let report = try await sandbox.query(payment)
        guard flaw == .forgetsMandates else { return report }
        return PaymentReport(payment: report.payment, outcome: report.outcome, refusal: report.refusal)
    }

    func cancel(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        try await sandbox.cancel(payment)
    }

    func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await sandbox.refund(refund)
    }

    func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await sandbox.query(refund: refund)
    }

    func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        try await sandbox.receive(notification)
    }

    func setUp(_ attempt: SetupAttempt) async throws(ProviderError) -> OpenedSetup {
        let opened = try await honest { () async throws(ProviderError) in try await sandbox.setUp(attempt) }
        guard flaw == .opensAnew else { return opened }
        return OpenedSetup(
            instruction: .url(checkoutURL: "https://pay.example/\(ids.make(Setup.self))"), reference: nil)
    }

    func query(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        let report = try await sandbox.query(setup: setup)
        guard flaw == .waitingSucceeds, case .failed = report.outcome else { return report }
        return SetupReport(setup: report.setup, outcome: .succeeded(ProviderMandate(reference: "mandate_of_nobody")))
    }

    func cancel(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        guard flaw == .keepsSetups else { return try await sandbox.cancel(setup: setup) }
        return SetupReport(setup: setup.setup, outcome: .cancelled)
    }

    func charge(_ charge: MandateCharge) async throws(ProviderError) -> PaymentReport {
        var charge = charge
        if flaw == .chargesAnew {
            charge = MandateCharge(
                payment: ids.make(), order: charge.order, periodIndex: charge.periodIndex, amount: charge.amount,
                title: charge.title, mandate: charge.mandate)
        }
        let sent = charge
        let report = try await honest { () async throws(ProviderError) in try await sandbox.charge(sent) }
        switch (flaw, report.outcome, report.refusal) {
        case (.throwsRefusals, .failed(let reason), _): throw .rejected(reason: reason)
        case (.softensRefusals, _, .hard?), (.hardensRefusals, _, .actionRequired?):
            return PaymentReport(
                payment: report.payment, outcome: report.outcome, refusal: flaw == .softensRefusals ? .soft : .hard)
        case (.pendingSucceeds, .processing, _):
            return PaymentReport(payment: report.payment, outcome: .succeeded(charge.amount))
        default: return report
        }
    }

    func verify(_ mandate: MandateReference) async throws(ProviderError) -> ProviderMandate {
        guard flaw == .verifiesAnything else { return try await sandbox.verify(mandate) }
        return ProviderMandate(reference: mandate.reference, customer: mandate.customer)
    }

    func charges(
        of mandate: MandateReference, since: Timestamp
    ) async throws(ProviderError) -> [MandateChargeReport]? {
        flaw == .listsNothing ? [] : try await sandbox.charges(of: mandate, since: since)
    }

    func revoke(_ mandate: MandateReference) async throws(ProviderError) {
        if flaw == .keepsMandates { return }
        if flaw == .revokesAll { _ = try await sandbox.playOn(mandate.subscription, form: ["ended": "1"]) }
        try await sandbox.revoke(mandate)
    }

    private func honest<Answer: Sendable>(
        _ work: () async throws(ProviderError) -> Answer
    ) async throws(ProviderError) -> Answer {
        do throws(ProviderError) { return try await work() } catch {
            throw flaw == .losesAsUnavailable && error == .outcomeUnknown ? .unavailable : error
        }
    }
}
