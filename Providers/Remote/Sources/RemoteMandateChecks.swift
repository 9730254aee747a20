import Domain
import FoundationEssentials
import ProviderKit
import ProviderTesting

/// Checks a plugin's set-ups, charges and mandates through the provider, where its manifest has mandates.
struct RemoteMandateChecks: Sendable {
    /// The reason why a check does not pass.
    struct Failed: Error {
        let reason: String
    }

    private struct Named: Sendable {
        let name: String
        let body: @Sendable (RemoteMandateChecks) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (RemoteMandateChecks) async throws -> Void) {
            self.name = name
            self.body = body
        }
    }

    let provider: RemoteProvider

    private static let all: [Named] = [
        Named("a set-up repeated under its id is one set-up") { try await $0.setupsAreOne() },
        Named("a cancelled set-up makes no mandate, also where its opening comes late") {
            try await $0.cancelledSetups()
        },
        Named("a set-up that its payer gives up fails") { try await $0.failedSetup() },
        Named("the plugin notifies of a set-up") { try await $0.notifiedSetup() },
        Named("a payment that asks for a mandate leaves one that can be charged") { try await $0.leftMandate() },
        Named("a payment that asks for none leaves none") { try await $0.noMandate() },
        Named("a charge repeated under its id is one charge") { try await $0.chargesAreOne() },
        Named("a charge whose answer is lost is found by its id") { try await $0.lostCharge() },
        Named("a refused charge says whether another try can succeed") { try await $0.refusedCharges() },
        Named("a charge that waits is no success") { try await $0.waitingCharge() },
        Named("a withdrawn charge never takes effect") { try await $0.withdrawnCharge() },
        Named("the charges of a subscription are listed") { try await $0.listedCharges() },
        Named("a mandate is known to its own subscription alone") { try await $0.strangers() },
        Named("a revoked mandate is charged no more, and revoking repeats") { try await $0.revoked() },
        Named("a mandate that its payer ends is told, and charged no more") { try await $0.ended() },
        Named("a charge can be refunded") { try await $0.refunded() },
    ]

    func run() async -> [ConformanceReport.Result] {
        _ = try? await provider.rules()
        var results: [ConformanceReport.Result] = []
        for check in Self.all {
            results.append(.init(name: "mandates: \(check.name)", outcome: await outcome(of: check)))
        }
        return results
    }

    private func outcome(of check: Named) async -> ConformanceReport.Outcome {
        guard provider.pin.manifest?.chargesMandates ?? false else {
            return .notApplicable(why: "the manifest has no mandates")
        }
        do {
            try await check.body(self)
            return .passed
        } catch let failure as Failed {
            return .failed(reason: failure.reason)
        } catch {
            return .failed(reason: "stopped by \(error)")
        }
    }

    func expect(_ holds: Bool, _ reason: @autoclosure () -> String) throws {
        guard holds else { throw Failed(reason: reason()) }
    }
}

// Set-ups.
extension RemoteMandateChecks {
    private func setupsAreOne() async throws {
        let attempt = setup()
        let opened = try await provider.setUp(attempt)
        try expect(try await query(attempt) == .pending, "a set-up that waits for its payer has ended")
        let again = try await provider.setUp(attempt)
        try expect(again.instruction == opened.instruction, "the repeated opening has another contract")
        _ = try await act("succeed", setup: attempt.setup)
        let first = try await mandate(of: attempt)
        try expect(try await mandate(of: attempt) == first, "the set-up has another mandate when asked again")
        guard case .succeeded = try await cancel(attempt) else {
            throw Failed(reason: "a cancel that came too late hides the mandate")
        }
    }

    private func cancelledSetups() async throws {
        let opened = setup()
        _ = try await provider.setUp(opened)
        try expect(try await cancel(opened) == .cancelled, "the cancelled set-up is not cancelled")
        try expect(try await !act("succeed", setup: opened.setup).taken, "the payer could still act")
        try expect(try await query(opened) == .cancelled, "the cancelled set-up is another later")
        let late = setup()
        try expect(try await query(late) == .pending, "a set-up whose opening is on its way has ended")
        try expect(try await cancel(late) == .cancelled, "a set-up that was never opened is not cancelled")
        do throws(ProviderError) {
            _ = try await provider.setUp(late)
        } catch {
            guard case .rejected = error else { throw Failed(reason: "the late opening ends with \(error)") }
            return
        }
        throw Failed(reason: "the late opening revived the set-up")
    }

    private func failedSetup() async throws {
        guard try await payersCanFail() else { return }
        let attempt = setup()
        _ = try await provider.setUp(attempt)
        try expect(try await act("fail", setup: attempt.setup).taken, "the payer could not give up")
        guard case .failed = try await query(attempt) else { throw Failed(reason: "it did not fail") }
    }

    private func notifiedSetup() async throws {
        guard provider.pin.manifest?.notifications ?? false else { return }
        let attempt = setup()
        _ = try await provider.setUp(attempt)
        let facts = try facts(of: try await act("succeed", setup: attempt.setup))
        let known = try await mandate(of: attempt)
        guard case .setup(let report)? = facts.first, facts.count == 1, report.setup == attempt.setup,
            report.outcome == .succeeded(known)
        else { throw Failed(reason: "it states \(facts.count) facts, or another mandate than its answer") }
    }
}

// Payments and charges.
extension RemoteMandateChecks {
    private func leftMandate() async throws {
        let subscription: ID<Subscription> = ids.make()
        let paid = try await pay(leavingMandateOf: subscription)
        guard let left = paid.mandate else { throw Failed(reason: "the paid payment has no mandate") }
        let charge = charge(reference(left, subscription), 1)
        let report = try await provider.charge(charge)
        try expect(report.outcome == .succeeded(charge.amount), "its charge is \(report.outcome)")
    }

    private func noMandate() async throws {
        try expect(try await pay(leavingMandateOf: nil).mandate == nil, "it left a mandate behind")
    }

    private func chargesAreOne() async throws {
        let mandate = try await stand()
        let made = charge(mandate, 1)
        let reports = try await withThrowingTaskGroup(of: PaymentReport.self) { group in
            for _ in 0..<8 { group.addTask { try await provider.charge(made) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for report in reports {
            try expect(report.outcome == .succeeded(made.amount), "a repetition is \(report.outcome)")
        }
        try expect(Set(reports.map(\.reference)).count == 1, "the repetitions have several references")
        let charges = try await provider.charges(of: mandate, since: start)
        try expect(charges.map { $0.count == 1 } ?? true, "\(charges?.count ?? 0) charges for one")
        let effects = try await effects(of: made.payment)
        try expect(effects.payments == 1, "\(effects.payments) payments for one")
    }

    private func lostCharge() async throws {
        let made = charge(try await stand(), 1)
        let before = try await query(made)
        try expect(!before.isSuccess && !before.isClosed, "a charge that was never made is \(before)")
        _ = try await provider.charge(made)
        let after = try await query(made)
        try expect(after == .succeeded(made.amount), "a charge that was made is \(after)")
    }

    private func refusedCharges() async throws {
        let mandate = try await stand()
        for refusal in ChargeRefusal.allCases {
            try await play(mandate.subscription, refusal.rawValue)
            let made = charge(mandate, 1)
            let report = try await provider.charge(made)
            guard case .failed = report.outcome else { throw Failed(reason: "\(refusal) is \(report.outcome)") }
            try expect(report.refusal == refusal, "\(refusal) is refused as \(report.refusal?.rawValue ?? "nothing")")
            guard case .failed = try await query(made) else { throw Failed(reason: "\(refusal) is no end") }
            let asked = try await provider.query(payment(of: made)).refusal
            try expect(asked == refusal, "\(refusal) is asked for, and is \(asked?.rawValue ?? "nothing")")
            // A repetition is the same charge, whatever the payer's bank would say now.
            try await play(mandate.subscription, "succeed")
            let again = try await provider.charge(made).outcome
            try expect(again == report.outcome, "\(refusal), repeated, is \(again)")
        }
    }

    private func waitingCharge() async throws {
        let mandate = try await stand()
        try await play(mandate.subscription, "pending")
        let made = charge(mandate, 1)
        let report = try await provider.charge(made)
        try expect(!report.outcome.isSuccess && !report.outcome.isClosed, "it is \(report.outcome)")
        let asked = try await query(made)
        try expect(!asked.isSuccess && !asked.isClosed, "asked for, it is \(asked)")
    }

    private func withdrawnCharge() async throws {
        let mandate = try await stand()
        let made = charge(mandate, 1)
        let cancelled = try await provider.cancel(payment(of: made)).outcome
        try expect(cancelled.isClosed, "the withdrawn charge is \(cancelled)")
        let late = try await provider.charge(made).outcome
        try expect(late.isClosed, "the charge that came late is \(late)")
        try expect(try await query(made).isClosed, "the withdrawn charge has not ended")
        let charges = try await provider.charges(of: mandate, since: start)
        try expect(charges?.isEmpty ?? true, "the withdrawn charge is listed")
    }

    private func listedCharges() async throws {
        let mandate = try await stand()
        let made = [charge(mandate, 1), charge(mandate, 2)]
        for charge in made { _ = try await provider.charge(charge) }
        try await play(mandate.subscription, "soft")
        _ = try await provider.charge(charge(mandate, 3))
        guard let listed = try await provider.charges(of: mandate, since: start) else { return }
        try expect(Set(listed.map(\.payment)) == Set(made.map(\.payment)), "it lists \(listed.count) charges of 2")
        for charge in made {
            let found = listed.first { $0.payment == charge.payment }
            try expect(
                found?.order == charge.order && found?.periodIndex == charge.periodIndex
                    && found?.amount == charge.amount, "a listed charge has another order, period or amount")
        }
        let later = try await provider.charges(of: mandate, since: provider.context.time.now.adding(days: 2))
        try expect(later?.isEmpty ?? false, "charges are listed that were made before")
    }

    private func refunded() async throws {
        guard provider.pin.manifest?.refunds != ProviderManifest.Refunds.none else { return }
        let made = charge(try await stand(), 1)
        let known = try await provider.charge(made)
        let payment = ProviderReference(payment: made.payment, reference: known.reference, amount: made.amount)
        let refund = RefundAttempt(refund: ids.make(), payment: payment, amount: made.amount, reason: "conformance")
        let report = try await provider.refund(refund)
        if case .failed = report.outcome { throw Failed(reason: "the refund failed") }
    }
}

// Mandates that are not there, or not any more.
extension RemoteMandateChecks {
    private func strangers() async throws {
        let mandate = try await stand()
        let known = try await provider.verify(mandate)
        try expect(known.reference == mandate.reference, "it is verified as another")
        let other = MandateReference(
            subscription: ids.make(), reference: mandate.reference, customer: mandate.customer,
            ownsCustomer: mandate.ownsCustomer)
        let nobody = MandateReference(
            subscription: mandate.subscription, reference: "conformance_nobody", customer: nil, ownsCustomer: false)
        for wrong in [other, nobody] {
            try await expectGone(wrong)
        }
        // A mandate that a stranger asks to be revoked stays.
        try await provider.revoke(other)
        let charge = charge(mandate, 1)
        let report = try await provider.charge(charge)
        try expect(report.outcome == .succeeded(charge.amount), "afterwards its own charge is \(report.outcome)")
    }

    private func revoked() async throws {
        let mandate = try await stand()
        for _ in 0..<2 { try await provider.revoke(mandate) }
        try await expectGone(mandate)
        let nobody = MandateReference(
            subscription: ids.make(), reference: "conformance_nobody", customer: nil, ownsCustomer: true)
        try await provider.revoke(nobody)
    }

    private func ended() async throws {
        let mandate = try await stand()
        var request = RemoteRequest(.playMandates)
        request.subscription_id = mandate.subscription.rawValue
        request.ended = true
        let acted: RehearsalActed = try await provider.api.send(request)
        try expect(acted.taken, "the payer could not end it")
        if provider.pin.manifest?.notifications ?? false {
            let facts = try facts(of: acted)
            guard case .mandate(let report)? = facts.first, facts.count == 1,
                report.subscription == mandate.subscription, case .ended(let reference) = report.event,
                reference == nil || reference == mandate.reference
            else { throw Failed(reason: "it does not tell of its end") }
        }
        try await expectGone(mandate)
    }

    /// Expects that a mandate cannot be verified, and that its charge is refused for good.
    private func expectGone(_ mandate: MandateReference) async throws {
        do throws(ProviderError) {
            _ = try await provider.verify(mandate)
        } catch {
            guard case .rejected = error else { throw Failed(reason: "verifying it ends with \(error)") }
            return try await expectRefused(mandate)
        }
        throw Failed(reason: "it is verified")
    }

    private func expectRefused(_ mandate: MandateReference) async throws {
        let report = try await provider.charge(charge(mandate, 1))
        guard case .failed = report.outcome else { throw Failed(reason: "its charge is \(report.outcome)") }
        try expect(report.refusal == .hard, "its charge is refused as \(report.refusal?.rawValue ?? "nothing")")
    }
}
