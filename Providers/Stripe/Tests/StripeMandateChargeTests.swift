import Domain
import Foundation
import ProviderKit
import ProviderTesting
import StripeProvider
import Synchronization
import Testing

struct StripeMandateChargeTests {
    @Test(arguments: [[:], StripeFixture.sessions])
    func `a mandate is charged once, by its own type and without a payer`(
        settings: [String: SettingValue]
    ) async throws {
        let fixture = try StripeMandateFixture(settings)
        let mandate = try await fixture.given()
        let charge = fixture.charge(mandate)
        for _ in 0..<3 {
            let report = try await fixture.provider.charge(charge)
            #expect(report.outcome == .succeeded(usd(3990)) && report.refusal == nil && report.mandate == nil)
            #expect(report.reference == fixture.intents.first?.id)
        }
        let made = try #require(fixture.intents.first)
        #expect(
            made.metadata == [
                "payment_id": charge.payment.rawValue, "order_id": charge.order.rawValue,
                "subscription_id": fixture.subscription.rawValue, "period_index": "1", "charge": "mandate",
            ])
        #expect(fixture.intents.count == 1)
        // After Stripe has forgotten the key, too.
        fixture.stripe.clock.advance(seconds: 30 * 3_600)
        #expect(try await fixture.provider.charge(charge).outcome == .succeeded(usd(3990)))
        #expect(fixture.intents.count == 1)
        let asked = ProviderReference(payment: charge.payment, reference: nil, amount: usd(3990))
        #expect(try await fixture.provider.query(asked).outcome == .succeeded(usd(3990)))
        #expect(try await fixture.provider.cancel(asked).outcome == .succeeded(usd(3990)))
    }

    typealias Charging = FakeStripeServer.Charging

    /// The bank's answer, the reason that users see, and the kind of the refusal.
    static let declines: [(Charging, String, ChargeRefusal)] = [
        (.declines("insufficient_funds"), "insufficient_funds", .soft),
        (.declines("generic_decline"), "generic_decline", .soft),
        (.declines("a_code_of_next_year"), "a_code_of_next_year", .soft),
        (.declines("insufficient_funds", advice: "try_again_later"), "insufficient_funds", .soft),
        (.declines("do_not_honor", advice: "do_not_try_again"), "do_not_honor", .hard),
        (.declines("lost_card"), "card_declined", .hard), (.declines("stolen_card"), "card_declined", .hard),
        (.declines("fraudulent"), "card_declined", .hard), (.declines("merchant_blacklist"), "card_declined", .hard),
        (.declines("expired_card"), "expired_card", .hard),
        (.declines("invalid_account"), "invalid_account", .hard),
        (.declines("revocation_of_all_authorizations"), "revocation_of_all_authorizations", .hard),
        (.declines("transaction_not_allowed"), "transaction_not_allowed", .hard),
        (.needsPayer, "authentication_required", .actionRequired),
        (.waitsForPayer, "authentication_required", .actionRequired),
        (.declinesWithoutIntent, "card_declined", .soft),
    ]

    /// The other codes after which a card is not charged again: https://docs.stripe.com/declines/codes.
    static let hardDeclines: [(Charging, String, ChargeRefusal)] = [
        "pickup_card", "restricted_card", "revocation_of_authorization", "stop_payment_order",
        "new_account_information_available", "incorrect_number", "invalid_number", "card_not_supported",
        "currency_not_supported", "not_permitted", "do_not_try_again",
    ].map { (.declines($0), $0, .hard) }

    @Test(arguments: declines + hardDeclines, [[:], StripeFixture.sessions])
    func `a refusal is a report, and its PaymentIntent can no longer be paid`(
        row: (Charging, String, ChargeRefusal), settings: [String: SettingValue]
    ) async throws {
        let fixture = try StripeMandateFixture(settings)
        let mandate = try await fixture.given()
        fixture.stripe.standIn.play(row.0)
        let charge = fixture.charge(mandate)
        let asked = ProviderReference(payment: charge.payment, reference: nil, amount: usd(3990))
        for _ in 0..<2 {
            let report = try await fixture.provider.charge(charge)
            #expect(report.outcome == .failed(reason: row.1) && report.refusal == row.2)
            #expect(fixture.intents.map(\.status) == ["canceled"])
        }
        #expect(!fixture.stripe.standIn.act(succeed: true, on: charge.payment.rawValue))
        // Its query says so too, except for what only the lost answer said.
        guard row.0 != .waitsForPayer, row.0 != .declinesWithoutIntent else { return }
        let report = try await fixture.provider.query(asked)
        #expect(report.outcome == .failed(reason: row.1) && report.refusal == row.2)
    }

    @Test func `a refused charge whose answer was lost is ended by its query and by its event`() async throws {
        for isAsked in [true, false] {
            let fixture = try StripeMandateFixture()
            let mandate = try await fixture.given()
            fixture.stripe.standIn.play(.declines("insufficient_funds"))
            let charge = fixture.charge(mandate)
            fixture.stripe.standIn.state.withLock { $0.losesIntents = true }
            await #expect(throws: ProviderError.outcomeUnknown) { try await fixture.provider.charge(charge) }
            fixture.stripe.standIn.state.withLock { $0.losesIntents = false }
            let intent = try #require(fixture.intents.first)
            #expect(intent.status == "requires_payment_method")
            fixture.stripe.standIn.state.withLock { $0.failing = ["cancel": 1] }
            let asked = ProviderReference(payment: charge.payment, reference: nil, amount: usd(3990))
            let raw = fixture.stripe.notification("payment_intent.payment_failed", intent.json)
            func tell() async throws -> PaymentReport? {
                if isAsked { return try await fixture.provider.query(asked) }
                guard case .payment(let report)? = try await fixture.provider.receive(raw).facts.first else {
                    return nil
                }
                return report
            }
            await #expect(throws: ProviderError.unavailable) { try await tell() }
            let report = try await tell()
            #expect(report?.outcome == .failed(reason: "insufficient_funds") && report?.refusal == .soft)
            #expect(fixture.intents.map(\.status) == ["canceled"])
        }
    }

    @Test func `a charge in the middle of its own call is left alone`() async throws {
        let fixture = try StripeMandateFixture()
        let charge = fixture.charge(try await fixture.given())
        _ = try await fixture.provider.charge(charge)
        let asked = ProviderReference(payment: charge.payment, reference: nil, amount: usd(3990))
        fixture.stripe.standIn.state.withLock { $0.intents[0].status = "requires_confirmation" }
        #expect(try await fixture.provider.query(asked).outcome == .accepted)
        let intent = try #require(fixture.intents.first)
        for type in ["created", "requires_action"] {
            let raw = fixture.stripe.notification("payment_intent.\(type)", intent.json)
            #expect(try await fixture.provider.receive(raw).facts.isEmpty)
        }
        #expect(fixture.intents.map(\.status) == ["requires_confirmation"])
        // A call ends within seconds.
        fixture.stripe.clock.advance(seconds: 700)
        let report = try await fixture.provider.query(asked)
        #expect(report.outcome == .failed(reason: "payment_failed") && report.refusal == .soft)
        #expect(fixture.intents.map(\.status) == ["canceled"])
    }

    @Test func `what was decided elsewhere is reported as it is`() async throws {
        let fixture = try StripeMandateFixture()
        let mandate = try await fixture.given()
        fixture.stripe.standIn.play(.processes)
        #expect(try await fixture.provider.charge(fixture.charge(mandate)).outcome == .processing)
        let withdrawn = fixture.charge(mandate)
        let asked = ProviderReference(payment: withdrawn.payment, reference: nil, amount: usd(3990))
        #expect(try await fixture.provider.query(asked).outcome == .notFound)
        #expect(try await fixture.provider.cancel(asked).outcome == .cancelled)
        #expect(try await fixture.provider.charge(withdrawn).outcome == .cancelled)
        #expect(fixture.intents.filter { $0.received > 0 }.isEmpty)
    }

    @Test func `Stripe's own error, kept under the key, ends as a charge that never was`() async throws {
        let fixture = try StripeMandateFixture()
        let charge = fixture.charge(try await fixture.given())
        fixture.stripe.standIn.state.withLock { $0.failing = ["payment_intents": 1] }
        for _ in 0..<2 {
            await #expect(throws: ProviderError.outcomeUnknown) { try await fixture.provider.charge(charge) }
        }
        let asked = ProviderReference(payment: charge.payment, reference: nil, amount: usd(3990))
        #expect(try await fixture.provider.query(asked).outcome == .notFound)
        fixture.stripe.clock.advance(seconds: 700)
        #expect(try await fixture.provider.cancel(asked).outcome == .cancelled)
        #expect(fixture.intents.isEmpty)
    }

    @Test func `a mandate that is gone is dead, and a call that is not understood is no try`() async throws {
        let fixture = try StripeMandateFixture()
        let mandate = try await fixture.given()
        fixture.stripe.standIn.play(.isNotUnderstood)
        let waiting = fixture.charge(mandate)
        await #expect(throws: ProviderError.unavailable) { try await fixture.provider.charge(waiting) }
        #expect(fixture.stripe.logged.contains { $0.hasPrefix("error stripe: a charge of a mandate") })
        #expect(fixture.stripe.logged.allSatisfy { !$0.contains(mandate.reference) })
        fixture.stripe.standIn.play(.succeeds)
        let stranger = MandateReference(
            subscription: fixture.stripe.ids.make(), reference: mandate.reference, customer: "cus_another",
            ownsCustomer: true)
        fixture.stripe.standIn.state.withLock { $0.methods[0].customer = nil }
        for gone in [mandate, stranger] {
            let report = try await fixture.provider.charge(fixture.charge(gone))
            #expect(report.outcome == .failed(reason: PaymentReport.mandateEnded) && report.refusal == .hard)
        }
        #expect(fixture.intents.isEmpty)
    }

    @Test func `what was charged is listed, oldest first`() async throws {
        let fixture = try StripeMandateFixture()
        let mandate = try await fixture.given()
        let since = fixture.stripe.clock.now
        var charges: [MandateCharge] = []
        for _ in 0..<3 {
            let charge = fixture.charge(mandate)
            _ = try await fixture.provider.charge(charge)
            charges.append(charge)
            fixture.stripe.clock.advance(seconds: 60)
        }
        fixture.stripe.standIn.play(.declines("insufficient_funds"))
        _ = try await fixture.provider.charge(fixture.charge(mandate))
        let listed = try await fixture.provider.charges(of: mandate, since: since)
        #expect(listed?.map(\.payment) == charges.map(\.payment) && listed?.map(\.order) == charges.map(\.order))
        #expect(listed?.allSatisfy { $0.amount == usd(3990) && $0.periodIndex == 1 } == true)
        let later = try await fixture.provider.charges(of: mandate, since: since.adding(seconds: 60))
        #expect(later?.map(\.payment) == charges.dropFirst().map(\.payment))
        let other = MandateReference(
            subscription: fixture.stripe.ids.make(), reference: mandate.reference, customer: mandate.customer,
            ownsCustomer: false)
        #expect(try await fixture.provider.charges(of: other, since: since) == [])
    }
}

struct StripeMandateEventTests {
    @Test(arguments: [[:], StripeFixture.sessions])
    func `a set-up's events say how it stands`(settings: [String: SettingValue]) async throws {
        let fixture = try StripeMandateFixture(settings)
        let attempt = fixture.setup()
        let opened = try await fixture.provider.setUp(attempt)
        func facts(_ type: String) async throws -> [ProviderFact] {
            let (intent, session) = fixture.stripe.standIn.state.withLock {
                ($0.setups[0].json, $0.sessions.first?.json($0, expands: false))
            }
            let object = type.hasPrefix("checkout") ? session ?? [:] : intent
            return try await fixture.provider.receive(fixture.stripe.notification(type, object)).facts
        }
        func told(_ outcome: SetupOutcome, _ reference: String?) -> [ProviderFact] {
            [.setup(SetupReport(setup: attempt.setup, outcome: outcome, reference: reference))]
        }
        let isSession = !settings.isEmpty
        _ = fixture.stripe.standIn.give(attempt.setup.rawValue, succeeds: false)
        #expect(
            try await facts("setup_intent.setup_failed") == (isSession ? [] : told(.pending, opened.reference)))
        _ = fixture.stripe.standIn.give(attempt.setup.rawValue)
        let mandate = try #require(fixture.methods.first)
        guard case .setup(let report)? = try await facts("setup_intent.succeeded").first,
            case .succeeded(let made) = report.outcome
        else { throw StripeMandateFixture.Missing() }
        #expect(made.reference == mandate.id && report.setup == attempt.setup)
        if isSession {
            #expect(try await facts("checkout.session.completed") == told(.succeeded(made), opened.reference))
        }
        fixture.stripe.standIn.state.withLock {
            $0.setups[0].status = "canceled"
            if isSession { $0.sessions[0].status = "expired" }
        }
        #expect(
            try await facts(isSession ? "checkout.session.expired" : "setup_intent.canceled")
                == told(.cancelled, opened.reference))
        #expect(try await facts("setup_intent.canceled").isEmpty == isSession)
    }

    @Test func `an end at Stripe is told of its subscription`() async throws {
        let fixture = try StripeMandateFixture()
        let mandate = try await fixture.given()
        let customer = try #require(mandate.customer)
        let method = try #require(fixture.methods.first)
        func facts(_ type: String, _ object: Any, before: [String: Any]? = nil) async throws -> [ProviderFact] {
            try await fixture.provider.receive(fixture.stripe.notification(type, object, before: before)).facts
        }
        func ended(_ event: MandateReport.Event) -> [ProviderFact] {
            [.mandate(MandateReport(subscription: fixture.subscription, event: event))]
        }
        #expect(
            try await facts("payment_method.detached", method.json, before: ["customer": customer])
                == ended(.ended(reference: method.id)))
        #expect(try await facts("payment_method.detached", method.json).isEmpty)
        #expect(
            try await facts("payment_method.detached", method.json, before: ["customer": "cus_none"]).isEmpty)
        let known = try #require(fixture.customers.first)
        #expect(try await facts("customer.deleted", known.json) == ended(.customerDeleted(customer)))
        let theirs = FakeStripeServer.Customer(id: "cus_theirs", metadata: [:], created: 0)
        #expect(try await facts("customer.deleted", theirs.json).isEmpty)
        // The subscription of another system's customer is that of its latest charge.
        fixture.stripe.standIn.state.withLock {
            $0.customers.append(theirs)
            $0.methods.append(FakeStripeServer.Method(id: "pm_theirs", customer: theirs.id))
        }
        let imported = MandateReference(
            subscription: fixture.subscription, reference: "pm_theirs", customer: theirs.id, ownsCustomer: false)
        let object = try #require(fixture.methods.last).json
        #expect(try await facts("payment_method.detached", object, before: ["customer": theirs.id]).isEmpty)
        _ = try await fixture.provider.charge(fixture.charge(imported))
        #expect(
            try await facts("payment_method.detached", object, before: ["customer": theirs.id])
                == ended(.ended(reference: "pm_theirs")))
        // While Stripe cannot say whose it is the notification is not taken.
        fixture.stripe.standIn.script(.stripe(429, "rate_limit_error"))
        await #expect(throws: ProviderError.unavailable) {
            try await facts("payment_method.detached", object, before: ["customer": theirs.id])
        }
    }
}
