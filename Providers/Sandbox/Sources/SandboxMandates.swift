public import Domain
import FoundationEssentials
public import ProviderKit

/// Charges mandates: the simulated service plays the payer's bank as the page, or `POST /sandbox/mandates`, says.
extension SandboxProvider: MandateCharging {
    /// False where payments are paid at once, so that nobody agrees to anything.
    public var chargesMandates: Bool { !contractTypes.contains(.none) }

    public func setUp(_ attempt: SetupAttempt) async throws(ProviderError) -> OpenedSetup {
        let opened = SandboxPayment(attempt)
        let stored = try await call { () async throws(ProviderError) in
            try await upstream.change(key: attempt.setup.rawValue) { $0 == nil ? opened : nil } ?? opened
        }
        guard stored.settled(upstream.time.now).status != .cancelled else { throw .rejected(reason: "setup_closed") }
        return OpenedSetup(instruction: instruction(attempt.setup.rawValue), reference: nil)
    }

    public func query(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        try await call(losesReplies: false) { () async throws(ProviderError) in
            try await settledSetup(setup, cancels: false)
        }
    }

    public func cancel(setup: SetupReference) async throws(ProviderError) -> SetupReport {
        try await call { () async throws(ProviderError) in try await settledSetup(setup, cancels: true) }
    }

    private func settledSetup(_ setup: SetupReference, cancels: Bool) async throws(ProviderError) -> SetupReport {
        let now = upstream.time.now
        let unopened = SandboxPayment(unopened: Money(value: 0, currency: .cny), status: .cancelled)
        let stored =
            try await upstream.change(key: setup.setup.rawValue) { known in
                guard var closed = known?.settled(now) else { return unopened }
                if cancels, closed.status == .pending { closed.status = .cancelled }
                return closed == known ? nil : closed
            } ?? unopened
        return report(setup.setup, stored)
    }

    /// Makes the report of a set-up of the book.
    func report(_ setup: ID<Setup>, _ stored: SandboxPayment) -> SetupReport {
        let outcome: SetupOutcome =
            switch stored.status {
            case .pending: .pending
            case .succeeded:
                stored.mandate.map { .succeeded($0.mandate(leftBy: setup.rawValue)) } ?? .pending
            case .failed: .failed(reason: "payer_failed")
            case .cancelled: .cancelled
            }
        return SetupReport(setup: setup, outcome: outcome)
    }

    public func charge(_ charge: MandateCharge) async throws(ProviderError) -> PaymentReport {
        let payment = try await call { () async throws(ProviderError) in try await upstream.charge(charge) }
        return PaymentReport(
            payment: charge.payment, outcome: payment.chargeOutcome, refusal: payment.refusal)
    }

    public func verify(_ mandate: MandateReference) async throws(ProviderError) -> ProviderMandate {
        try await call(losesReplies: false) { () async throws(ProviderError) in
            // A mandate that ran elsewhere is known by the beginning of its reference.
            if mandate.reference.hasPrefix("imported_") {
                try await upstream.changeAgreement(of: mandate.subscription) {
                    $0.add(mandate.reference, instrument: nil, renewals: $0.renewals)
                }
            }
            let known = try await upstream.agreement(of: mandate.subscription).mandates
            guard let found = known.first(where: { $0.reference == mandate.reference && $0.state == .active }) else {
                throw .rejected(reason: "unknown_mandate")
            }
            return ProviderMandate(
                reference: found.reference, customer: mandate.customer, fingerprint: found.instrument,
                label: "Sandbox •••• 4242", brand: "sandbox", last4: "4242")
        }
    }

    public func charges(
        of mandate: MandateReference, since: Timestamp
    ) async throws(ProviderError) -> [MandateChargeReport]? {
        try await call(losesReplies: false) { () async throws(ProviderError) in
            try await upstream.agreement(of: mandate.subscription).charges.filter {
                $0.outcome == "succeeded" && $0.at >= since
            }.map {
                MandateChargeReport(
                    payment: $0.payment, order: $0.order, periodIndex: $0.period, amount: $0.amount, reference: nil,
                    at: $0.at)
            }
        }
    }

    public func revoke(_ mandate: MandateReference) async throws(ProviderError) {
        _ = try await call { () async throws(ProviderError) in
            try await upstream.changeAgreement(of: mandate.subscription) { $0.end(mandate.reference, as: .revoked) }
        }
    }
}

extension SandboxUpstream {
    /// Charges a mandate once; a repetition finds the outcome of the first call.
    ///
    /// - Throws: `outcomeUnknown` where the reply is played as lost.
    func charge(_ charge: MandateCharge) async throws(ProviderError) -> SandboxPayment {
        if let known = try await payment(charge.payment) {
            // Its process may have ended before the charge was entered.
            if known.isCharge == true { try await record(charge, known) }
            return known
        }
        let subscription = charge.mandate.subscription
        let agreement = try await agreement(of: subscription)
        let isActive = agreement.mandates.contains { $0.reference == charge.mandate.reference && $0.state == .active }
        let played: SandboxAgreement.Renewals = isActive ? agreement.renewals : .hard
        if played == .neverArrived { throw .outcomeUnknown }
        let made = SandboxPayment(charge, played)
        let stored = try await change(charge.payment) { $0 == nil ? made : nil } ?? made
        try await record(charge, stored)
        if played == .lost { throw .outcomeUnknown }
        return stored
    }

    /// Enters a charge once into the agreement's list.
    private func record(_ charge: MandateCharge, _ stored: SandboxPayment) async throws(ProviderError) {
        let entry = SandboxAgreement.Charge(
            payment: charge.payment, order: charge.order, period: charge.periodIndex, amount: charge.amount,
            outcome: stored.status == .succeeded ? "succeeded" : stored.refusal?.rawValue ?? "pending", at: time.now)
        try await changeAgreement(of: charge.mandate.subscription) { known in
            guard !known.charges.contains(where: { $0.payment == charge.payment }) else { return }
            known.record(entry)
        }
    }
}

extension SandboxPayment {
    /// Makes a set-up that is opened: a payment of nothing, which leaves a mandate behind.
    fileprivate init(_ attempt: SetupAttempt) {
        self.init(
            amount: Money(value: 0, currency: attempt.currency), status: .pending, order: nil,
            title: attempt.title.firstScalars(200), returnURL: attempt.returnURL, expiresAt: attempt.expiresAt)
        mandate = SandboxMandateRequest(
            subscription: attempt.subscription, period: 0, terms: attempt.terms, isSetup: true)
    }

    fileprivate init(_ charge: MandateCharge, _ played: SandboxAgreement.Renewals) {
        let status: Status =
            switch played {
            case .succeed, .lost: .succeeded
            case .pending, .neverArrived: .pending
            case .soft, .hard, .actionRequired: .failed
            }
        self.init(
            amount: charge.amount, status: status, order: charge.order, title: charge.title.firstScalars(200),
            returnURL: nil, expiresAt: nil)
        refusal = ChargeRefusal(rawValue: played.rawValue)
        isCharge = true
    }

    /// The outcome of a charge, which waits for no payer.
    fileprivate var chargeOutcome: PaymentOutcome {
        switch status {
        case .pending: .processing
        case .failed: .failed(reason: refusal == .actionRequired ? "authentication_required" : "card_declined")
        case .succeeded, .cancelled: outcome
        }
    }
}

extension SandboxMandateRequest {
    /// The mandate that a payment or a set-up has left behind.
    func mandate(leftBy id: String) -> ProviderMandate {
        ProviderMandate(
            reference: "mandate_\(id)", customer: "customer_\(subscription.rawValue)", fingerprint: instrument,
            label: "Sandbox •••• 4242", brand: "sandbox", last4: "4242", expMonth: 12, expYear: 2_099)
    }
}

/// The book of the played service, and the way to tell it how to play on: for tests and demonstrations.
extension SandboxProvider: MandatePlaying {
    public func playOn(
        _ subscription: ID<Subscription>, form: [String: String]
    ) async throws(ProviderError) -> Bool {
        if form["ended"] == "1" {
            try await upstream.changeAgreement(of: subscription) { $0.end(nil, as: .ended) }
            await notify(
                SandboxEvent(
                    event_id: "\(subscription.rawValue)-ended-\(Hex.encoded(context.random.bytes(8)))",
                    payment_id: nil, type: "mandate.ended", amount: nil, refund_id: nil,
                    occurred_at: upstream.time.now.rawValue, setup_id: nil, subscription_id: subscription.rawValue))
            return true
        }
        guard let word = form["renewals"], let renewals = SandboxAgreement.Renewals(rawValue: word) else {
            return false
        }
        try await upstream.changeAgreement(of: subscription) { $0.renewals = renewals }
        return true
    }

    public func playedBook(of subscription: ID<Subscription>) async throws(ProviderError) -> PlayedBook {
        let known = try await upstream.agreement(of: subscription)
        return PlayedBook(
            charges: known.charges.map {
                PlayedBook.Charge(
                    payment_id: $0.payment, subscription_id: subscription, period_index: $0.period, amount: $0.amount,
                    outcome: $0.outcome, at: $0.at)
            },
            mandates: known.mandates.map {
                PlayedBook.Mandate(subscription_id: subscription, state: $0.state.rawValue)
            })
    }
}
