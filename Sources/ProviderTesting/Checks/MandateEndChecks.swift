import Domain
import ProviderKit

extension Check {
    static let mandates = [
        Check("a mandate is verified as it was given") { stage in
            let mandate = try await stage.given()
            let provider = try stage.mandates()
            let found = try await stage.value("verify") { try await provider.verify(mandate) }
            try stage.expect(found.reference == mandate.reference, "verify found \(found.reference)")
            try stage.expect(found.customer == mandate.customer, "verify found another customer")
        },
        Check("an ended mandate is refused hard, and is not verified") { stage in
            let mandate = try await stage.given()
            try await stage.rehearsal.end(mandate, in: stage.context)
            try await stage.expectUseless(mandate)
            let provider = try stage.mandates()
            _ = try await stage.value("revoking an ended mandate") { try await provider.revoke(mandate) }
        },
        Check("a revoked mandate is refused hard, and revoking is repeated") { stage in
            let mandate = try await stage.given()
            for _ in 0..<2 {
                let provider = try stage.mandates()
                _ = try await stage.value("revoke") { try await provider.revoke(mandate) }
            }
            try await stage.expectUseless(mandate)
        },
        Check("revoking a mandate that is unknown succeeds") { stage in
            let provider = try stage.mandates()
            let unknown = MandateReference(
                subscription: stage.ids.make(), reference: "kit_unknown_mandate", customer: nil, ownsCustomer: false)
            _ = try await stage.value("revoke") { try await provider.revoke(unknown) }
            try stage.expect(true, "")
            try await stage.expectRefusal("verifying an unknown mandate") { try await provider.verify(unknown) }
        },
        Check("replacing a mandate leaves the one that replaces it") { stage in
            let first = try await stage.given()
            let provider = try stage.mandates()
            let attempt = try stage.setup(of: first.subscription)
            let setup = try await stage.setUp(provider, attempt)
            _ = try await stage.rehearsal.act(.succeed, on: attempt.setup, in: stage.context)
            guard case .succeeded(let given) = try await stage.query(provider, setup) else {
                throw CheckStop.failed("a second set-up of a subscription has no mandate")
            }
            let replaced = MandateReference(
                subscription: first.subscription, reference: first.reference, customer: first.customer,
                ownsCustomer: false)
            _ = try await stage.value("revoke") { try await provider.revoke(replaced) }
            let charge = try stage.charge(stage.mandate(given, of: first.subscription))
            let report = try await stage.value("charge") { try await provider.charge(charge) }
            try stage.expect(
                report.outcome == .succeeded(charge.amount), "a charge of the new one is \(report.outcome)")
        },
        Check("a stranger's mandate is neither charged nor verified") { stage in
            let (own, other) = (try await stage.given(), try await stage.given())
            let mixed = MandateReference(
                subscription: own.subscription, reference: other.reference, customer: own.customer, ownsCustomer: false)
            try await stage.expectUseless(mixed)
            let provider = try stage.mandates()
            for mandate in [own, other] {
                let charge = try stage.charge(mandate)
                let report = try await stage.value("charge") { try await provider.charge(charge) }
                try stage.expect(report.outcome == .succeeded(charge.amount), "its own charge is \(report.outcome)")
            }
        },
        Check("a notification of a set-up states how it ended") { stage in
            let provider = try stage.mandates()
            let attempt = try stage.setup()
            let setup = try await stage.setUp(provider, attempt)
            _ = try await stage.rehearsal.act(.succeed, on: attempt.setup, in: stage.context)
            guard let raw = try await stage.rehearsal.notification(.setupEnded(attempt.setup), in: stage.context) else {
                throw CheckStop.notApplicable("its service has no such notification")
            }
            let facts = try await stage.value("receive") { try await provider.receive(raw) }.facts
            let outcome = try await stage.query(provider, setup)
            let told = facts.compactMap { fact -> SetupReport? in
                if case .setup(let report) = fact { report } else { nil }
            }
            try stage.expect(
                told.count == facts.count && told.map(\.setup) == [attempt.setup] && told.map(\.outcome) == [outcome],
                "it states \(facts)")
        },
        Check("a notification of a mandate's end states its subscription") { stage in
            let provider = try stage.mandates()
            let mandate = try await stage.given()
            // Made while the service knows the mandate: afterwards it may not.
            let raw = try await stage.rehearsal.notification(.mandateEnded(mandate), in: stage.context)
            guard let raw else { throw CheckStop.notApplicable("its service has no such notification") }
            let facts = try await stage.value("receive") { try await provider.receive(raw) }.facts
            guard facts.count == 1, case .mandate(let report)? = facts.first, case .ended(let reference) = report.event
            else { throw CheckStop.failed("it states \(facts)") }
            try stage.expect(report.subscription == mandate.subscription, "it is about \(report.subscription)")
            try stage.expect(reference ?? mandate.reference == mandate.reference, "it is about another mandate")
        },
    ]

    static let mandateTroubles = [
        Check("a lost reply to a set-up is an unknown outcome with one effect") { stage in
            let losing = try stage.mandates(.lostReplies)
            let attempt = try stage.setup()
            try await stage.expect(.outcomeUnknown, "setUp") { try await losing.setUp(attempt) }
            let provider = try stage.mandates()
            let outcome = try await stage.query(provider, stage.reference(attempt))
            try stage.expect(outcome == .pending, "the query says \(outcome)")
            _ = try await stage.setUp(provider, attempt)
            let setups = try await stage.rehearsal.setups(of: attempt.setup, in: stage.context)
            try stage.expect(setups == 1, "the payment service has \(setups) set-ups for one")
        },
        Check("a lost reply to a charge is an unknown outcome with one charge") { stage in
            for played in RehearsedCharging.allCases {
                let charge = try stage.charge(try await stage.given())
                guard try await stage.rehearsal.play(played, of: charge.mandate.subscription, in: stage.context) else {
                    continue
                }
                let losing = try stage.mandates(.lostReplies)
                try await stage.expect(.outcomeUnknown, "charge") { try await losing.charge(charge) }
                try await stage.expectCharged(charge, played, try stage.provider())
                let provider = try stage.mandates()
                let report = try await stage.value("charge") { try await provider.charge(charge) }
                try stage.expect(
                    report.refusal == played.refusal && report.outcome.isSuccess == (played == .succeeds),
                    "the repeated charge is \(report)")
                try await stage.expectCharged(charge, played, provider)
            }
        },
        Check("a lost reply to a revocation is an unknown outcome") { stage in
            let mandate = try await stage.given()
            let losing = try stage.mandates(.lostReplies)
            try await stage.expect(.outcomeUnknown, "revoke") { try await losing.revoke(mandate) }
            let provider = try stage.mandates()
            _ = try await stage.value("revoke") { try await provider.revoke(mandate) }
            try await stage.expectUseless(mandate)
        },
        Check("an unavailable service charges nothing and sets nothing up") { stage in
            let charge = try stage.charge(try await stage.given())
            let failing = try stage.mandates(.unavailable)
            try await stage.expect(.unavailable, "charge") { try await failing.charge(charge) }
            let attempt = try stage.setup()
            try await stage.expect(.unavailable, "setUp") { try await failing.setUp(attempt) }
            let payments = try await stage.effects(of: charge.payment).payments
            try stage.expect(payments == 0, "the payment service has \(payments) charges")
            let provider = try stage.mandates()
            let report = try await stage.value("charge") { try await provider.charge(charge) }
            try stage.expect(report.outcome == .succeeded(charge.amount), "the charge afterwards is \(report.outcome)")
        },
        Check("a set-up that ended between any two steps is repeated with one effect") { stage in
            _ = try stage.mandates()
            try await stage.crash { try Trials(stage).settingUp() }
        },
        Check("the cancel of a set-up that ended between any two steps is repeated to its end") { stage in
            _ = try stage.mandates()
            try await stage.crash { try await Trials(stage).settingUpCancel() }
        },
        Check("a charge that ended between any two steps is repeated with one effect") { stage in
            _ = try stage.mandates()
            try await stage.crash { try await Trials(stage).charging(.succeeds) }
        },
        Check("a refused charge that ended between any two steps is refused to its end") { stage in
            _ = try stage.mandates()
            try await stage.crash { try await Trials(stage).charging(.soft) }
        },
        Check("a revocation that ended between any two steps is repeated to its end") { stage in
            _ = try stage.mandates()
            try await stage.crash { try await Trials(stage).revoking() }
        },
    ]
}

extension ConformanceFixture {
    /// Expects that a mandate is neither charged nor verified.
    fileprivate func expectUseless(_ mandate: MandateReference) async throws {
        let provider = try mandates()
        let charge = try charge(mandate)
        let report = try await value("charge") { try await provider.charge(charge) }
        try expect(report.outcome.isClosed, "a charge of it is \(report.outcome)")
        try expect(report.refusal == .hard, "its refusal is \(String(describing: report.refusal))")
        let payments = try await query(provider, reference(charge)).outcome
        try expect(!payments.isSuccess, "a charge of it is \(payments)")
        try await expectRefusal("verifying it") { try await provider.verify(mandate) }
    }
}
