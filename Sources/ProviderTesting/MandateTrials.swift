import Domain
import ProviderKit

// The calls of a provider on mandates of its own, made first with a fault and then without one.
extension Trials {
    /// Makes a trial of each call about a mandate; empty where the account charges none.
    func ofMandates() async throws -> [Trial] {
        guard let provider = try fixture.provider() as? any MandateCharging, provider.manifest.mandates,
            provider.chargesMandates
        else { return [] }
        return [
            try settingUp(), try await settingUpQuery(), try await charging(.succeeds), try await revoking(),
        ]
    }

    func settingUp() throws -> Trial {
        let attempt = try fixture.setup()
        return Trial(name: "setUp", isChange: true) { provider in
            let opened = try await provider.charging.setUp(attempt)
            return "\(opened.instruction) \(opened.reference ?? "")"
        } examine: { [fixture] _ in
            let setups = try await fixture.rehearsal.setups(of: attempt.setup, in: fixture.context)
            try fixture.expect(setups == 1, "the payment service has \(setups) set-ups for one")
        }
    }

    private func settingUpQuery() async throws -> Trial {
        let attempt = try fixture.setup()
        let reference = try await fixture.setUp(try fixture.mandates(), attempt)
        return Trial(name: "query(setup:)", isChange: false) { provider in
            "\(try await provider.charging.query(setup: reference))"
        } examine: { _ in
        }
    }

    func settingUpCancel() async throws -> Trial {
        let attempt = try fixture.setup()
        let reference = try await fixture.setUp(try fixture.mandates(), attempt)
        return Trial(name: "cancel(setup:)", isChange: true) { provider in
            "\(try await provider.charging.cancel(setup: reference).outcome)"
        } examine: { [fixture] provider in
            let outcome = try await provider.charging.query(setup: reference).outcome
            try fixture.expect(outcome == .cancelled, "a cancelled set-up is \(outcome)")
            try fixture.expect(
                try await !fixture.rehearsal.act(.succeed, on: attempt.setup, in: fixture.context),
                "a cancelled set-up could be given")
        }
    }

    /// A charge that the payer's bank answers so.
    func charging(_ played: RehearsedCharging) async throws -> Trial {
        let charge = try fixture.charge(try await fixture.given())
        try await fixture.play(played, of: charge)
        return Trial(name: "charge", isChange: true) { provider in
            let report = try await provider.charging.charge(charge)
            return "\(report.outcome) \(report.reference ?? "") \(report.refusal?.rawValue ?? "")"
        } examine: { [fixture] provider in
            try await fixture.expectCharged(charge, played, provider)
        }
    }

    func revoking() async throws -> Trial {
        let mandate = try await fixture.given()
        return Trial(name: "revoke", isChange: true) { provider in
            try await provider.charging.revoke(mandate)
            return "revoked"
        } examine: { [fixture] provider in
            let report = try await provider.charging.charge(try fixture.charge(mandate))
            try fixture.expect(report.outcome.isClosed, "a charge of a revoked mandate is \(report.outcome)")
        }
    }
}

extension PaymentProvider {
    /// This provider as one that charges mandates; only for checks that have made sure of it.
    var charging: any MandateCharging {
        get throws {
            guard let charging = self as? any MandateCharging else {
                throw CheckStop.failed("it charges mandates by its manifest, and not by its type")
            }
            return charging
        }
    }
}

extension ConformanceFixture {
    /// The account's provider where it charges mandates.
    ///
    /// - Throws: a stop for every other one.
    func mandates(_ behaviour: UpstreamBehaviour = .normal) throws -> any MandateCharging {
        guard manifest.mandates else { throw CheckStop.notApplicable("the manifest has no mandates") }
        let charging = try provider(behaviour).charging
        guard charging.chargesMandates else { throw CheckStop.notApplicable("this account leaves no mandates behind") }
        return charging
    }

    func setup(of subscription: ID<Subscription>? = nil) throws -> SetupAttempt {
        SetupAttempt(
            setup: ids.make(), subscription: subscription ?? ids.make(), currency: try currency, title: "Club",
            terms: "39.90 each month, until you end it.", platform: .web, returnURL: "https://app.example/done",
            expiresAt: clock.now.adding(seconds: 86_400), accepts: Set(ContractType.allCases))
    }

    func reference(_ attempt: SetupAttempt, _ opened: OpenedSetup? = nil) -> SetupReference {
        SetupReference(setup: attempt.setup, subscription: attempt.subscription, reference: opened?.reference)
    }

    func setUp(_ provider: any MandateCharging, _ attempt: SetupAttempt) async throws -> SetupReference {
        reference(attempt, try await value("setUp") { try await provider.setUp(attempt) })
    }

    func query(_ provider: any MandateCharging, _ setup: SetupReference) async throws -> SetupOutcome {
        let report = try await value("query(setup:)") { try await provider.query(setup: setup) }
        try expect(report.setup == setup.setup, "the query's report is about \(report.setup)")
        return report.outcome
    }

    /// A mandate that a payer has given by a set-up.
    func given() async throws -> MandateReference {
        let provider = try mandates()
        let attempt = try setup()
        let setup = try await setUp(provider, attempt)
        try expect(try await rehearsal.act(.succeed, on: attempt.setup, in: context), "the payer could not give it")
        guard case .succeeded(let mandate) = try await query(provider, setup) else {
            throw CheckStop.failed("a set-up that was given has no mandate")
        }
        return self.mandate(mandate, of: attempt.subscription)
    }

    func mandate(_ mandate: ProviderMandate, of subscription: ID<Subscription>) -> MandateReference {
        MandateReference(
            subscription: subscription, reference: mandate.reference, customer: mandate.customer, ownsCustomer: true)
    }

    func charge(_ mandate: MandateReference) throws -> MandateCharge {
        MandateCharge(
            payment: ids.make(), order: ids.make(), periodIndex: 3,
            amount: Money(value: 3_990, currency: try currency), title: "Club", mandate: mandate)
    }

    func reference(_ charge: MandateCharge) -> ProviderReference {
        ProviderReference(payment: charge.payment, reference: nil, amount: charge.amount)
    }

    func play(_ charging: RehearsedCharging, of charge: MandateCharge) async throws {
        guard try await rehearsal.play(charging, of: charge.mandate.subscription, in: context) else {
            throw CheckStop.notApplicable("its service never says \(charging.rawValue)")
        }
    }

    /// Expects one charge at the service, which is decided as the payer's bank was played.
    func expectCharged(
        _ charge: MandateCharge, _ played: RehearsedCharging, _ provider: any PaymentProvider
    ) async throws {
        let payments = try await effects(of: charge.payment).payments
        try expect(payments == 1, "the payment service has \(payments) charges for one")
        let report = try await query(provider, reference(charge))
        switch played {
        case .succeeds: try expect(report.outcome == .succeeded(charge.amount), "a charge is \(report.outcome)")
        case .pending: try expect(!report.outcome.isSuccess && !report.outcome.isClosed, "it is \(report.outcome)")
        case .soft, .hard, .actionRequired:
            guard case .failed = report.outcome else { throw CheckStop.failed("a refused one is \(report.outcome)") }
            try expect(report.refusal == played.refusal, "it says \(String(describing: report.refusal))")
            try expect(
                try await !rehearsal.act(.succeed, on: charge.payment, in: context), "a refused charge could be paid")
        }
    }
}
