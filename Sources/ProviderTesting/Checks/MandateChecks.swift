import Domain
import ProviderKit

extension Check {
    static let setups = [
        Check("a set-up moves no money and ends in a mandate") { stage in
            let provider = try stage.mandates()
            let attempt = try stage.setup()
            let opened = try await stage.value("setUp") { try await provider.setUp(attempt) }
            try stage.expect(
                provider.contractTypes.contains(opened.instruction.type),
                "the instruction is \(opened.instruction.type)")
            let setup = stage.reference(attempt, opened)
            for known in [setup, stage.reference(attempt)] {
                let outcome = try await stage.query(provider, known)
                try stage.expect(outcome == .pending, "a set-up that waits is \(outcome)")
            }
            try stage.expect(
                try await stage.rehearsal.act(.succeed, on: attempt.setup, in: stage.context),
                "the payer could not give it")
            let outcome = try await stage.query(provider, setup)
            guard case .succeeded(let mandate) = outcome else { throw CheckStop.failed("it is \(outcome)") }
            try stage.expect(!mandate.reference.isEmpty, "its mandate has no reference")
            try stage.expect(
                try await stage.query(try stage.mandates(), setup) == outcome, "a new instance says otherwise")
            let report = try await stage.value("cancel(setup:)") { try await provider.cancel(setup: setup) }
            try stage.expect(report.outcome == outcome, "cancelling it gave \(report.outcome)")
        },
        Check("one set-up id opens one set-up, however often") { stage in
            let provider = try stage.mandates()
            let attempt = try stage.setup()
            let first = try await stage.value("setUp") { try await provider.setUp(attempt) }
            for instance in [provider, try stage.mandates(), try stage.mandates()] {
                let again = try await stage.value("setUp") { try await instance.setUp(attempt) }
                try stage.expect(again.instruction == first.instruction, "a repetition gave another instruction")
                try stage.expect(again.reference == first.reference, "a repetition gave another reference")
            }
            let setups = try await stage.rehearsal.setups(of: attempt.setup, in: stage.context)
            try stage.expect(setups == 1, "the payment service has \(setups) set-ups for one")
        },
        Check("a set-up that failed gives no mandate") { stage in
            let provider = try stage.mandates()
            let attempt = try stage.setup()
            let setup = try await stage.setUp(provider, attempt)
            guard try await stage.rehearsal.act(.fail, on: attempt.setup, in: stage.context) else {
                throw CheckStop.notApplicable("its payers cannot fail to give one")
            }
            let outcome = try await stage.query(provider, setup)
            if case .succeeded = outcome { try stage.expect(false, "a failed set-up is \(outcome)") }
            try stage.expect(true, "")
        },
        Check("a cancelled set-up can no longer be given, also one that was never opened") { stage in
            let provider = try stage.mandates()
            for isOpened in [true, false] {
                let attempt = try stage.setup()
                let setup = isOpened ? try await stage.setUp(provider, attempt) : stage.reference(attempt)
                for _ in 0..<2 {
                    let report = try await stage.value("cancel(setup:)") { try await provider.cancel(setup: setup) }
                    try stage.expect(report.outcome == .cancelled, "cancel(setup:) gave \(report.outcome)")
                }
                try await stage.expectRefusal("opening a cancelled set-up") { try await provider.setUp(attempt) }
                try stage.expect(
                    try await !stage.rehearsal.act(.succeed, on: attempt.setup, in: stage.context),
                    "a cancelled set-up could be given")
                let outcome = try await stage.query(provider, setup)
                try stage.expect(outcome == .cancelled, "a cancelled set-up is \(outcome)")
            }
        },
        Check("a payment leaves the mandate behind that was asked for") { stage in
            let provider = try stage.mandates()
            let (plain, subscription): (PaymentAttempt, ID<Subscription>) = (try stage.attempt(), stage.ids.make())
            let attempt = PaymentAttempt(
                payment: plain.payment, order: plain.order, amount: plain.amount, title: plain.title,
                platform: plain.platform, returnURL: plain.returnURL, expiresAt: plain.expiresAt,
                accepts: plain.accepts,
                mandate: MandateRequest(subscription: subscription, periodIndex: 0, terms: "39.90 each month."))
            let payment = try await stage.paid(provider, attempt)
            let report = try await stage.query(provider, payment)
            try stage.expect(report.outcome == .succeeded(plain.amount), "the payment is \(report.outcome)")
            guard let left = report.mandate else { throw CheckStop.failed("it has left no mandate behind") }
            let charge = try stage.charge(stage.mandate(left, of: subscription))
            let charged = try await stage.value("charge") { try await provider.charge(charge) }
            try stage.expect(charged.outcome == .succeeded(charge.amount), "a charge of it is \(charged.outcome)")
            let once = try await stage.query(provider, try await stage.paid(provider))
            try stage.expect(once.mandate == nil, "a payment that happens once has left a mandate behind")
        },
    ]

    static let charges = [
        Check("a mandate is charged once for a payment id, however often") { stage in
            let charge = try stage.charge(try await stage.given())
            for _ in 0..<3 {
                let provider = try stage.mandates()
                let report = try await stage.value("charge") { try await provider.charge(charge) }
                try stage.expect(report.payment == charge.payment, "the charge reports about \(report.payment)")
                try stage.expect(report.outcome == .succeeded(charge.amount), "the charge is \(report.outcome)")
            }
            try await stage.expectCharged(charge, .succeeds, try stage.provider())
            let other = try stage.charge(charge.mandate)
            let provider = try stage.mandates()
            _ = try await stage.value("charge") { try await provider.charge(other) }
            try await stage.expectCharged(other, .succeeds, provider)
        },
        Check("a soft refusal is a report, and nothing can be paid afterwards") { stage in
            try await expectReport(.soft, stage)
        },
        Check("a hard refusal is a report, and nothing can be paid afterwards") { stage in
            try await expectReport(.hard, stage)
        },
        Check("a charge that its payer has to confirm is refused, and nothing can be paid afterwards") { stage in
            try await expectReport(.actionRequired, stage)
        },
        Check("a charge that is not decided is neither a success nor an end") { stage in
            try await expectReport(.pending, stage)
        },
        Check("a charge that never arrived is withdrawn for good") { stage in
            let charge = try stage.charge(try await stage.given())
            let provider = try stage.mandates()
            let outcome = try await stage.query(provider, stage.reference(charge)).outcome
            try stage.expect(!outcome.isSuccess, "a charge that was never made is \(outcome)")
            let report = try await stage.value("cancel") { try await provider.cancel(stage.reference(charge)) }
            try stage.expect(report.outcome.isClosed, "cancel gave \(report.outcome)")
            switch try await stage.result({ try await provider.charge(charge) }) {
            case .success(let late):
                try stage.expect(late.outcome.isClosed, "a charge that came after its withdrawal is \(late.outcome)")
            case .failure(let error):
                guard case .rejected = error else { throw CheckStop.failed("a withdrawn charge threw \(error)") }
            }
            let after = try await stage.query(provider, stage.reference(charge)).outcome
            try stage.expect(after.isClosed, "a withdrawn charge is \(after)")
        },
        Check("a charge that succeeded cannot be withdrawn") { stage in
            let charge = try stage.charge(try await stage.given())
            let provider = try stage.mandates()
            _ = try await stage.value("charge") { try await provider.charge(charge) }
            let report = try await stage.value("cancel") { try await provider.cancel(stage.reference(charge)) }
            try stage.expect(report.outcome == .succeeded(charge.amount), "cancel gave \(report.outcome)")
        },
        Check("what was charged is listed with its ids, or nothing is listed at all") { stage in
            let mandate = try await stage.given()
            let (since, provider) = (stage.clock.now, try stage.mandates())
            let charges = [try stage.charge(mandate), try stage.charge(mandate)]
            for charge in charges {
                _ = try await stage.value("charge") { try await provider.charge(charge) }
                stage.clock.advance(seconds: 60)
            }
            let refused = try stage.charge(mandate)
            if try await stage.rehearsal.play(.soft, of: mandate.subscription, in: stage.context) {
                _ = try await stage.value("charge") { try await provider.charge(refused) }
            }
            let listed = try await stage.value("charges(of:since:)") {
                try await provider.charges(of: mandate, since: since)
            }
            guard let listed else { throw CheckStop.notApplicable("its service cannot list charges") }
            try stage.expect(listed.map(\.payment) == charges.map(\.payment), "it lists \(listed.map(\.payment))")
            for (charge, report) in zip(charges, listed) {
                try stage.expect(
                    report.order == charge.order && report.periodIndex == charge.periodIndex
                        && report.amount == charge.amount, "it lists \(report)")
            }
            let later = try await stage.value("charges(of:since:)") {
                try await provider.charges(of: mandate, since: since.adding(seconds: 3_600))
            }
            try stage.expect(later?.isEmpty ?? true, "it lists charges of before")
        },
    ]

    /// Expects the report of a charge that the payer's bank answers so, from each call that can tell of it.
    private static func expectReport(_ played: RehearsedCharging, _ stage: ConformanceFixture) async throws {
        let charge = try stage.charge(try await stage.given())
        try await stage.play(played, of: charge)
        for _ in 0..<2 {
            let provider = try stage.mandates()
            let report = try await stage.value("charge") { try await provider.charge(charge) }
            try stage.expect(report.refusal == played.refusal, "it says \(String(describing: report.refusal))")
            try stage.expect(
                report.outcome.isClosed == (played.refusal != nil) && !report.outcome.isSuccess,
                "the charge is \(report.outcome)")
            try await stage.expectCharged(charge, played, provider)
        }
        guard let refusal = played.refusal else { return }
        let provider = try stage.mandates()
        let report = try await stage.value("cancel") { try await provider.cancel(stage.reference(charge)) }
        try stage.expect(report.outcome.isClosed && report.refusal == refusal, "cancelling it gave \(report)")
    }
}
