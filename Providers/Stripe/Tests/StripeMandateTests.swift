import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

/// A mandate at the fake server with what a test does to it.
struct StripeMandateFixture {
    let stripe = StripeFixture()
    let provider: StripeProvider
    let subscription: ID<Subscription>

    init(_ settings: [String: SettingValue] = [:]) throws {
        provider = try stripe.provider(settings)
        subscription = stripe.ids.make()
    }

    func setup(
        _ id: ID<Setup>? = nil, of other: ID<Subscription>? = nil, customer: String? = nil
    ) -> SetupAttempt {
        SetupAttempt(
            setup: id ?? stripe.ids.make(), subscription: other ?? subscription, customer: customer,
            currency: usd(1).currency,
            title: "Club", terms: "39.90 USD each month", platform: .web, returnURL: StripeFixture.returnURL,
            expiresAt: stripe.clock.now.adding(seconds: 86_400), accepts: Set(ContractType.allCases))
    }

    func reference(_ setup: SetupAttempt, _ reference: String? = nil) -> SetupReference {
        SetupReference(setup: setup.setup, subscription: setup.subscription, reference: reference)
    }

    /// A mandate that a payer has given.
    func given(by attempt: SetupAttempt? = nil) async throws -> MandateReference {
        let attempt = attempt ?? setup()
        let opened = try await provider.setUp(attempt)
        guard stripe.standIn.give(attempt.setup.rawValue) else { throw Missing() }
        let report = try await provider.query(setup: reference(attempt, opened.reference))
        guard case .succeeded(let mandate) = report.outcome else { throw Missing() }
        return MandateReference(
            subscription: attempt.subscription, reference: mandate.reference, customer: mandate.customer,
            ownsCustomer: true)
    }

    func charge(_ mandate: MandateReference, _ payment: ID<Payment>? = nil) -> MandateCharge {
        MandateCharge(
            payment: payment ?? stripe.ids.make(), order: stripe.ids.make(), periodIndex: 1, amount: usd(3990),
            title: "Club", mandate: mandate)
    }

    struct Missing: Error {}

    var intents: [FakeStripeServer.Intent] { stripe.standIn.state.withLock { $0.intents } }
    var customers: [FakeStripeServer.Customer] { stripe.standIn.state.withLock { $0.customers } }
    var methods: [FakeStripeServer.Method] { stripe.standIn.state.withLock { $0.methods } }
}

struct StripeMandateTests {
    @Test(arguments: [[:], StripeFixture.sessions])
    func `a payment leaves its mandate behind, told by its query and by each event`(
        settings: [String: SettingValue]
    ) async throws {
        let fixture = try StripeMandateFixture(settings)
        let (stripe, provider) = (fixture.stripe, fixture.provider)
        let plain = stripe.attempt()
        let attempt = PaymentAttempt(
            payment: plain.payment, order: plain.order, amount: plain.amount, title: plain.title, platform: .web,
            returnURL: plain.returnURL, expiresAt: plain.expiresAt, accepts: plain.accepts,
            mandate: MandateRequest(subscription: fixture.subscription, periodIndex: 0, terms: "each month"))
        let opened = try await provider.open(attempt)
        if case .stripe(_, _, let method) = opened.instruction { #expect(method == "card") }
        _ = try await provider.open(attempt)
        #expect(fixture.customers.count == 1)
        #expect(fixture.customers.first?.metadata == ["subscription_id": fixture.subscription.rawValue])
        #expect(stripe.standIn.act(succeed: true, on: attempt.payment.rawValue))
        let report = try await provider.query(stripe.reference(attempt, opened.reference))
        let mandate = try #require(report.mandate)
        #expect(mandate.reference == fixture.methods.first?.id && mandate.customer == fixture.customers.first?.id)
        #expect(mandate.label == "Visa •••• 4242" && mandate.fingerprint == "Xt5EWLLDS7FJjR1c")
        #expect(mandate.last4 == "4242" && mandate.expMonth == 12 && mandate.expYear == 2_040)
        let (intent, session) = stripe.standIn.state.withLock {
            ($0.intents[0].json, $0.sessions.first?.json($0, expands: false))
        }
        var events = [("payment_intent.succeeded", intent)]
        if let session { events.append(("checkout.session.completed", session)) }
        for (type, object) in events {
            let facts = try await provider.receive(stripe.notification(type, object)).facts
            guard case .payment(let told)? = facts.first else { throw StripeMandateFixture.Missing() }
            #expect(told.mandate == mandate && told.outcome == .succeeded(usd(3990)))
        }
    }

    @Test(arguments: [[:], StripeFixture.sessions])
    func `a set-up moves no money and gives a mandate`(settings: [String: SettingValue]) async throws {
        let fixture = try StripeMandateFixture(settings)
        let attempt = fixture.setup()
        let opened = try await fixture.provider.setUp(attempt)
        switch opened.instruction {
        case .stripe(let key, let secret, let method):
            #expect(settings.isEmpty && key == StripeFixture.publishable && method == "card")
            #expect(secret.hasPrefix("seti_") && secret.contains("_secret_"))
        case .url(let page): #expect(!settings.isEmpty && page.hasPrefix("https://checkout.stripe.example/"))
        default: Issue.record("another contract: \(opened.instruction)")
        }
        let again = try await fixture.provider.setUp(attempt)
        #expect(again.reference == opened.reference && fixture.customers.count == 1)
        let (known, unknown) = (fixture.reference(attempt, opened.reference), fixture.reference(attempt))
        #expect(try await fixture.provider.query(setup: known).outcome == .pending)
        #expect(fixture.stripe.standIn.give(attempt.setup.rawValue, succeeds: false))
        #expect(try await fixture.provider.query(setup: unknown).outcome == .pending)
        #expect(fixture.stripe.standIn.give(attempt.setup.rawValue))
        let report = try await fixture.provider.query(setup: known)
        guard case .succeeded(let mandate) = report.outcome else { throw StripeMandateFixture.Missing() }
        #expect(mandate.customer == fixture.customers.first?.id && mandate.reference == fixture.methods.first?.id)
        #expect(try await fixture.provider.query(setup: unknown) == report)
        #expect(try await fixture.provider.cancel(setup: known) == report)
        #expect(fixture.intents.isEmpty)
    }

    @Test(arguments: [[:], StripeFixture.sessions])
    func `a cancelled set-up gives nothing, also one that was never opened`(
        settings: [String: SettingValue]
    ) async throws {
        let fixture = try StripeMandateFixture(settings)
        let attempt = fixture.setup()
        let opened = try await fixture.provider.setUp(attempt)
        fixture.stripe.standIn.state.withLock { $0.failing = ["cancel": 1, "expire": 1] }
        let reference = fixture.reference(attempt, opened.reference)
        await #expect(throws: ProviderError.outcomeUnknown) { try await fixture.provider.cancel(setup: reference) }
        #expect(try await fixture.provider.cancel(setup: reference).outcome == .cancelled)
        #expect(!fixture.stripe.standIn.give(attempt.setup.rawValue))
        let late = fixture.setup()
        #expect(try await fixture.provider.cancel(setup: fixture.reference(late)).outcome == .cancelled)
        await #expect(throws: ProviderError.rejected(reason: "setup_closed")) {
            try await fixture.provider.setUp(late)
        }
        #expect(!fixture.stripe.standIn.give(late.setup.rawValue))
        let closing = fixture.stripe.transport.requests.map { FakeStripeServerCall($0) }
            .filter { ["cancel", "expire"].contains($0.path.last) }
        #expect(closing.count == 3 && closing.allSatisfy { $0.header("idempotency-key") == nil })
    }

    @Test func `another system's customer is not used, and one that was deleted is made again`() async throws {
        let fixture = try StripeMandateFixture()
        let theirs = FakeStripeServer.Customer(id: "cus_theirs", metadata: [:], created: 0)
        fixture.stripe.standIn.state.withLock { $0.customers = [theirs] }
        let first = fixture.setup(customer: theirs.id)
        _ = try await fixture.provider.setUp(first)
        let own = try #require(fixture.customers.last)
        #expect(own.id != theirs.id)
        _ = try await fixture.provider.setUp(fixture.setup(customer: own.id))
        #expect(fixture.customers.count == 2)
        fixture.stripe.standIn.state.withLock { $0.customers[1].isDeleted = true }
        _ = try await fixture.provider.setUp(fixture.setup())
        #expect(fixture.customers.count == 3)
        // After the key is forgotten the customer is found by our id.
        fixture.stripe.clock.advance(seconds: 30 * 3_600)
        _ = try await fixture.provider.setUp(fixture.setup())
        #expect(fixture.customers.count == 3)
    }

    @Test func `a customer whose making met Stripe's own error does not stop a set-up for a day`() async throws {
        let fixture = try StripeMandateFixture()
        fixture.stripe.standIn.state.withLock { $0.failing = ["customers": 1] }
        let attempt = fixture.setup()
        let opened = try await fixture.provider.setUp(attempt)
        #expect(try await fixture.provider.setUp(attempt).reference == opened.reference)
        #expect(fixture.customers.count == 1)
    }

    @Test func `an account without recurring methods sells no mandates`() async throws {
        let fixture = try StripeMandateFixture(["recurring_payment_method_types": .list([])])
        #expect(!fixture.provider.chargesMandates)
        await #expect(throws: ProviderError.unfit(reason: "no_mandates")) {
            try await fixture.provider.setUp(fixture.setup())
        }
        #expect(fixture.stripe.calls.isEmpty)
        #expect(throws: ProviderSetupError.self) {
            try StripeMandateFixture(["recurring_payment_method_types": .list([.text("sepa_debit")])])
        }
    }

    @Test func `a mandate of elsewhere is verified`() async throws {
        let fixture = try StripeMandateFixture()
        let mandate = try await fixture.given()
        func asked(_ reference: String, _ customer: String?) -> MandateReference {
            MandateReference(
                subscription: fixture.subscription, reference: reference, customer: customer, ownsCustomer: false)
        }
        let found = try await fixture.provider.verify(asked(mandate.reference, nil))
        #expect(found.customer == mandate.customer && found.label == "Visa •••• 4242")
        for (reference, customer) in [("pm_none", nil), (mandate.reference, "cus_another"), ("../x", nil)] {
            await #expect(throws: ProviderError.rejected(reason: "unknown_mandate")) {
                try await fixture.provider.verify(asked(reference, customer))
            }
        }
        fixture.stripe.standIn.state.withLock { $0.methods[0].type = "link" }
        await #expect(throws: ProviderError.rejected(reason: "payment_method_type")) {
            try await fixture.provider.verify(asked(mandate.reference, nil))
        }
        fixture.stripe.standIn.state.withLock { $0.methods[0].customer = nil }
        await #expect(throws: ProviderError.rejected(reason: "unknown_mandate")) {
            try await fixture.provider.verify(asked(mandate.reference, nil))
        }
    }

    @Test func `a revoked mandate takes its own customer with it, and leaves another system's`() async throws {
        let fixture = try StripeMandateFixture()
        let own = try await fixture.given()
        fixture.stripe.standIn.state.withLock { $0.failing = ["detach": 1] }
        let replaced = MandateReference(
            subscription: own.subscription, reference: own.reference, customer: own.customer, ownsCustomer: false)
        await #expect(throws: ProviderError.outcomeUnknown) { try await fixture.provider.revoke(replaced) }
        for _ in 0..<2 { try await fixture.provider.revoke(replaced) }
        #expect(fixture.methods[0].customer == nil && fixture.customers.allSatisfy { !$0.isDeleted })
        for _ in 0..<2 { try await fixture.provider.revoke(own) }
        #expect(fixture.customers.allSatisfy { $0.isDeleted })
        let theirs = FakeStripeServer.Customer(id: "cus_theirs", metadata: ["app": "7"], created: 0)
        fixture.stripe.standIn.state.withLock {
            $0.customers.append(theirs)
            $0.methods.append(FakeStripeServer.Method(id: "pm_theirs", customer: theirs.id))
        }
        try await fixture.provider.revoke(
            MandateReference(
                subscription: own.subscription, reference: "pm_theirs", customer: theirs.id, ownsCustomer: true))
        #expect(fixture.customers.last?.isDeleted == false && fixture.methods.last?.customer == nil)
        try await fixture.provider.revoke(
            MandateReference(
                subscription: own.subscription, reference: "pm_none", customer: "cus_none", ownsCustomer: true))
        let keyed = fixture.stripe.transport.requests.map { FakeStripeServerCall($0) }
            .filter { $0.method == "DELETE" || $0.path.last == "detach" }
        #expect(!keyed.isEmpty && keyed.allSatisfy { $0.header("idempotency-key") == nil })
    }
}
