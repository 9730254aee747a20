import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import Synchronization
import TestSupport
import Testing

/// Subscriptions that run through the fake Stripe over several periods, on both engines.
struct StripeRenewalTests {
    private static let day: Int64 = 86_400

    /// A desk that sells a club through Stripe, with the acts of its payer.
    private struct Club {
        let stripe: StripeGatewayFixture
        let standIn: FakeStripeServer

        var gateway: Gateway { stripe.gateway }
        var alice: SubscriptionActor { .user(GatewayFixture.user("alice")) }
        private var request: RetryRequest {
            RetryRequest(
                platform: .web, currency: nil, provider: nil, accept: ContractType.base,
                returnURL: "https://app.example/done")
        }

        func advance(_ seconds: Int64) async throws {
            stripe.desk.clock.tick()
            _ = try await gateway.businessClock.move(ClockRequest(advance_seconds: seconds), context: .test)
        }

        func advance(to time: Timestamp) async throws {
            try await advance(time.rawValue - gateway.time.now.rawValue)
        }

        func find() async throws -> SubscriptionSnapshot {
            let all = try await gateway.subscriptions.list(
                user: GatewayFixture.user("alice"), cursor: nil, limit: 10)
            return try #require(all.items.first)
        }

        /// Tells of a payment as Stripe does.
        func tell(of payment: ID<Payment>) async throws {
            let (intent, session) = standIn.state.withLock { state in
                let isOurs = { (metadata: [String: String]) in metadata["payment_id"] == payment.rawValue }
                return (
                    state.intents.first { isOurs($0.metadata) }?.json ?? [:],
                    state.sessions.first { isOurs($0.metadata) }?.json(state, expands: false)
                )
            }
            try await stripe.notify("payment_intent.succeeded", intent, id: "evt_\(payment)_pi")
            if let session { try await stripe.notify("checkout.session.completed", session, id: "evt_\(payment)_cs") }
        }

        func pay(_ contract: PaymentContract) async throws {
            let payment = try stripe.desk.payment(contract)
            #expect(standIn.act(succeed: true, on: payment.rawValue))
            try await tell(of: payment)
        }

        func begin() async throws -> SubscriptionSnapshot {
            let contract = try await stripe.checkout("club")
            try await pay(contract)
            return try await find()
        }

        func payOnSession(_ id: ID<Subscription>) async throws -> PaymentContract {
            try await gateway.subscriptionActs.pay(id.rawValue, request, by: alice, context: .test)
        }

        /// Gives another means of payment.
        func giveAnother(_ id: ID<Subscription>) async throws {
            let contract = try await gateway.subscriptionActs.replacePaymentMethod(
                id.rawValue, request, by: alice, context: .test)
            try await give(try #require(contract.renewal?.setup))
        }

        /// Gives what a set-up asks for, and tells of it as Stripe does.
        func give(_ setup: ID<Setup>) async throws {
            #expect(standIn.give(setup.rawValue))
            let (intent, session) = standIn.state.withLock { state in
                (
                    state.setups.first { $0.metadata["setup_id"] == setup.rawValue }?.json ?? [:],
                    state.sessions.first { $0.metadata["setup_id"] == setup.rawValue }?.json(state, expands: false)
                )
            }
            try await stripe.notify("setup_intent.succeeded", intent, id: "evt_\(setup)_si")
            if let session { try await stripe.notify("checkout.session.completed", session, id: "evt_\(setup)_cs") }
        }

        /// The statuses of the PaymentIntents that charged a mandate, oldest first.
        var charges: [String] {
            standIn.state.withLock { $0.intents.filter { $0.metadata["charge"] == "mandate" }.map(\.status) }
        }
    }

    private static func withClub(
        on engine: TestEngine, _ settings: [String: SettingValue] = [:], trial: Int64 = 0,
        _ body: (Club) async throws -> Void
    ) async throws {
        var setup = GatewayFixtureSetup()
        setup.isDevelopment = true
        try await withDesk(on: engine, setup) { desk in
            let standIn = FakeStripeServer()
            let clock = desk.clock
            let transport = RecordingTransport { request in standIn.answer(request, now: clock.now.rawValue) }
            let stripe = try StripeGatewayFixture(desk, http: transport, settings: settings)
            let sku = """
                {"id":"club","name":"Club","kind":"subscription","tier":"Club","rank":40,"stack_group":"club",
                 "renewal":"managed","period":{"unit":"month","count":1},"trial_days":\(trial),
                 "prices":[{"currency":"CNY","value":3990}]}
                """
            let made = try JSONDecoder().decode(SKU.self, from: Data(sku.utf8))
            _ = try await stripe.gateway.catalogue.create(made, context: .test)
            try await body(Club(stripe: stripe, standIn: standIn))
        }
    }

    @Test(arguments: TestEngine.allCases, [[:], StripeFixture.sessions])
    func `it renews, is refused, recovers, and its customer goes with it`(
        _ engine: TestEngine, _ settings: [String: SettingValue]
    ) async throws {
        try await Self.withClub(on: engine, settings) { club in
            var held = try await club.begin()
            #expect(held.status == .active && held.will_renew)
            #expect(try await club.stripe.desk.count("mandates WHERE label = ?", "Visa •••• 4242") == 1)
            for index in 1...3 as ClosedRange<Int64> {
                try await club.advance(to: held.expires_at.adding(seconds: 5))
                held = try await club.find()
                #expect(held.renewal.period_index == index && held.status == .active && held.renewal.tries == 0)
            }
            #expect(club.charges == Array(repeating: "succeeded", count: 3))
            club.standIn.play(.declines("insufficient_funds"))
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            let refused = try await club.find()
            #expect(refused.status == .inGracePeriod && refused.renewal.refusal == .soft)
            #expect(refused.renewal.tries == 1 && club.charges.last == "canceled")
            // Its event comes too, and is not a second try.
            let intent = try #require(club.standIn.state.withLock { $0.intents.last?.json })
            try await club.stripe.notify("payment_intent.payment_failed", intent, id: "evt_failed")
            #expect(try await club.find().renewal.tries == 1)
            club.standIn.play(.succeeds)
            try await club.advance(2 * Self.day)
            let recovered = try await club.find()
            #expect(recovered.renewal.period_index == 4 && recovered.status == .active)
            #expect(recovered.renewal.tries == 0 && recovered.renewal.refusal == nil)
            _ = try await club.gateway.subscriptionActs.cancel(
                recovered.id.rawValue, by: club.alice, context: .test)
            try await club.advance(to: recovered.expires_at.adding(seconds: 60))
            try await club.advance(Self.day)
            #expect(try await club.find().status == .expired)
            #expect(club.standIn.state.withLock { $0.customers.map(\.isDeleted) } == [true])
            #expect(club.charges.filter { $0 == "succeeded" }.count == 4)
        }
    }

    @Test(arguments: TestEngine.allCases, [[:], StripeFixture.sessions])
    func `a payer who has to confirm pays on session, and leaves a new mandate`(
        _ engine: TestEngine, _ settings: [String: SettingValue]
    ) async throws {
        try await Self.withClub(on: engine, settings) { club in
            let held = try await club.begin()
            club.standIn.play(.needsPayer)
            try await club.advance(to: held.expires_at.adding(days: 2))
            let refused = try await club.find()
            #expect(refused.renewal.refusal == .actionRequired && refused.renewal.tries == 1)
            #expect(club.charges == ["canceled"])
            let contract = try await club.payOnSession(held.id)
            try await club.pay(contract)
            let paid = try await club.find()
            #expect(paid.status == .active && paid.renewal.period_index == 1 && paid.will_renew)
            try await club.advance(60)
            let methods = club.standIn.state.withLock { $0.methods.map { $0.customer != nil } }
            #expect(methods == [false, true], "the old means of payment is detached, the new one is kept")
            #expect(club.standIn.state.withLock { $0.customers.map(\.isDeleted) } == [false])
            try await club.advance(to: paid.expires_at.adding(seconds: 5))
            #expect(try await club.find().renewal.period_index == 2)
            #expect(club.charges == ["canceled", "succeeded"])
        }
    }

    @Test(arguments: TestEngine.allCases, [[:], StripeFixture.sessions])
    func `a mandate that ends at Stripe stops the charges until another is given`(
        _ engine: TestEngine, _ settings: [String: SettingValue]
    ) async throws {
        try await Self.withClub(on: engine, settings) { club in
            let held = try await club.begin()
            let (method, customer) = try #require(
                club.standIn.state.withLock { state -> ([String: Any], String)? in
                    guard let customer = state.methods[0].customer else { return nil }
                    state.methods[0].customer = nil
                    return (state.methods[0].json, customer)
                })
            let body = FakeStripeServer.event(
                "payment_method.detached", method, id: "evt_detached", before: ["customer": customer])
            try await club.stripe.notify(
                body,
                FakeStripeServer.signature(
                    body, at: club.stripe.desk.clock.now.rawValue, secret: StripeFixture.secret))
            #expect(try await club.find().renewal.refusal == .hard)
            #expect(try await club.stripe.desk.count("mandates WHERE state = 'dead'") == 1)
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            #expect(try await club.find().status == .inGracePeriod)
            #expect(club.charges.isEmpty)
            try await club.giveAnother(held.id)
            try await club.advance(60)
            let saved = try await club.find()
            #expect(saved.status == .active && saved.renewal.period_index == 1)
            #expect(club.charges == ["succeeded"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a deleted customer ends the mandates that it kept, and no other`(_ engine: TestEngine) async throws {
        try await Self.withClub(on: engine) { club in
            _ = try await club.begin()
            let customer = try #require(club.standIn.state.withLock { $0.customers.first })
            let earlier = FakeStripeServer.Customer(id: "cus_earlier", metadata: customer.metadata, created: 0)
            for (deleted, dead) in [(earlier, 0 as Int64), (customer, 1)] {
                try await club.stripe.notify("customer.deleted", deleted.json, id: "evt_\(deleted.id)")
                #expect(try await club.find().renewal.refusal == (dead == 0 ? nil : .hard))
                #expect(try await club.stripe.desk.count("mandates WHERE state = 'dead'") == dead)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge that finds its mandate gone ends it`(_ engine: TestEngine) async throws {
        try await Self.withClub(on: engine) { club in
            let held = try await club.begin()
            club.standIn.state.withLock { $0.methods[0].customer = nil }
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            let refused = try await club.find()
            #expect(refused.renewal.refusal == .hard && refused.renewal.tries == 1)
            #expect(try await club.stripe.desk.count("mandates WHERE state = 'dead'") == 1)
            #expect(club.charges.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge whose reply was lost is one charge`(_ engine: TestEngine) async throws {
        try await Self.withClub(on: engine) { club in
            let held = try await club.begin()
            club.standIn.state.withLock { $0.losesIntents = true }
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            #expect(club.charges == ["succeeded"])
            club.standIn.state.withLock { $0.losesIntents = false }
            try await club.advance(Self.day)
            #expect(try await club.find().renewal.period_index == 1)
            #expect(club.charges == ["succeeded"])
        }
    }

    /// Stripe repeats its own error under the charge's key for a day, so another payment has to charge.
    @Test(arguments: TestEngine.allCases)
    func `Stripe's own error costs no period`(_ engine: TestEngine) async throws {
        try await Self.withClub(on: engine) { club in
            let held = try await club.begin()
            club.standIn.state.withLock { $0.failing = ["payment_intents": 1] }
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            #expect(club.charges.isEmpty)
            try await club.stripe.desk.pass(seconds: 700)
            try await club.stripe.work()
            try await club.advance(Self.day)
            let renewed = try await club.find()
            #expect(renewed.renewal.period_index == 1 && renewed.status == .active && renewed.renewal.tries == 0)
            #expect(club.charges == ["succeeded"])
        }
    }

    @Test(arguments: TestEngine.allCases, [[:], StripeFixture.sessions])
    func `a trial charges nothing until its end`(
        _ engine: TestEngine, _ settings: [String: SettingValue]
    ) async throws {
        try await Self.withClub(on: engine, settings, trial: 7) { club in
            let contract = try await club.stripe.checkout("club")
            let setup = try #require(contract.renewal?.setup)
            #expect(contract.payment == nil)
            try await club.give(setup)
            let held = try await club.find()
            #expect(held.status == .active && held.renewal.trial)
            #expect(club.standIn.state.withLock { $0.intents.isEmpty })
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            let paid = try await club.find()
            #expect(!paid.renewal.trial && paid.renewal.period_index == 1 && club.charges == ["succeeded"])
        }
    }
}
