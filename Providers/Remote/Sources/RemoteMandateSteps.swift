import Domain
import FoundationEssentials
import ProviderKit

// The steps of the checks.
extension RemoteMandateChecks {
    var ids: IDSource { IDSource(time: provider.context.time, random: provider.context.random) }
    var start: Timestamp { provider.context.time.now.adding(days: -1) }
    var price: Money { Money(value: 3_990, currency: provider.pin.manifest?.currencies.first ?? .cny) }
    static let terms = "Conformance: nobody is charged."

    func setup() -> SetupAttempt {
        SetupAttempt(
            setup: ids.make(), subscription: ids.make(), currency: price.currency, title: "conformance",
            terms: Self.terms, platform: .web, returnURL: nil,
            expiresAt: provider.context.time.now.adding(seconds: 1_800), accepts: provider.contractTypes)
    }

    func query(_ attempt: SetupAttempt) async throws -> SetupOutcome {
        try await provider.query(setup: reference(attempt)).outcome
    }

    func cancel(_ attempt: SetupAttempt) async throws -> SetupOutcome {
        try await provider.cancel(setup: reference(attempt)).outcome
    }

    func reference(_ attempt: SetupAttempt) -> SetupReference {
        SetupReference(setup: attempt.setup, subscription: attempt.subscription, reference: nil)
    }

    func mandate(of attempt: SetupAttempt) async throws -> ProviderMandate {
        guard case .succeeded(let mandate) = try await query(attempt) else {
            throw Failed(reason: "the set-up did not succeed")
        }
        return mandate
    }

    func reference(_ mandate: ProviderMandate, _ subscription: ID<Subscription>) -> MandateReference {
        MandateReference(
            subscription: subscription, reference: mandate.reference, customer: mandate.customer, ownsCustomer: true)
    }

    /// Makes a mandate by a set-up.
    func stand() async throws -> MandateReference {
        let attempt = setup()
        _ = try await provider.setUp(attempt)
        try expect(try await act("succeed", setup: attempt.setup).taken, "the payer could not act")
        return reference(try await mandate(of: attempt), attempt.subscription)
    }

    func charge(_ mandate: MandateReference, _ period: Int64) -> MandateCharge {
        MandateCharge(
            payment: ids.make(), order: ids.make(), periodIndex: period, amount: price, title: "conformance",
            mandate: mandate)
    }

    func payment(of charge: MandateCharge) -> ProviderReference {
        ProviderReference(payment: charge.payment, reference: nil, amount: charge.amount)
    }

    func query(_ charge: MandateCharge) async throws -> PaymentOutcome {
        try await provider.query(payment(of: charge)).outcome
    }

    /// Opens a payment and pays it.
    func pay(leavingMandateOf subscription: ID<Subscription>?) async throws -> PaymentReport {
        let attempt = PaymentAttempt(
            payment: ids.make(), order: ids.make(), amount: price, title: "conformance", platform: .web,
            returnURL: nil, expiresAt: provider.context.time.now.adding(seconds: 1_800),
            accepts: provider.contractTypes,
            mandate: subscription.map { MandateRequest(subscription: $0, periodIndex: 0, terms: Self.terms) })
        let opened = try await provider.open(attempt)
        var request = RemoteRequest(.act)
        request.payment_id = attempt.payment.rawValue
        request.act = "succeed"
        let acted: RehearsalActed = try await provider.api.send(request)
        try expect(acted.taken, "the payer could not pay")
        return try await provider.query(
            ProviderReference(payment: attempt.payment, reference: opened.reference, amount: attempt.amount))
    }

    func act(_ act: String, setup: ID<Setup>) async throws -> RehearsalActed {
        var request = RemoteRequest(.act)
        request.setup_id = setup.rawValue
        request.act = act
        return try await provider.api.send(request)
    }

    func play(_ subscription: ID<Subscription>, _ charges: String) async throws {
        var request = RemoteRequest(.playMandates)
        request.subscription_id = subscription.rawValue
        request.charges = charges
        let acted: RehearsalActed = try await provider.api.send(request)
        try expect(acted.taken, "charges cannot be played as \(charges)")
    }

    func payersCanFail() async throws -> Bool {
        let begun: RehearsalBegun = try await provider.api.send(RemoteRequest(.begin))
        return begun.payers_can_fail
    }

    func effects(of payment: ID<Payment>) async throws -> RehearsalEffects {
        var request = RemoteRequest(.effects)
        request.payment_id = payment.rawValue
        return try await provider.api.send(request)
    }

    func facts(of acted: RehearsalActed) throws -> [ProviderFact] {
        guard let letter = acted.notification else { throw Failed(reason: "it sends nothing") }
        return try provider.reading(letter.raw).facts
    }
}

extension PaymentOutcome {
    var isSuccess: Bool { if case .succeeded = self { true } else { false } }

    /// True where the payment has ended without money.
    var isClosed: Bool {
        switch self {
        case .failed, .cancelled: true
        case .accepted, .pending, .succeeded, .tryFailed: false
        }
    }
}
