import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// A desk that sells a club by the month and by the year, with the acts of its payer.
struct Club: Sendable {
    static let day: Int64 = 86_400

    let desk: GatewayFixture

    var gateway: Gateway { desk.gateway }
    var acts: SubscriptionActs { gateway.subscriptionActs }
    /// Alice, who pays.
    var alice: SubscriptionActor { .user(GatewayFixture.user("alice")) }

    func advance(_ seconds: Int64) async throws {
        desk.clock.tick()
        _ = try await gateway.businessClock.move(ClockRequest(advance_seconds: seconds), context: .test)
    }

    func advance(to time: Timestamp) async throws {
        try await advance(time.rawValue - gateway.time.now.rawValue)
    }

    /// Agrees and succeeds on the sandbox's page of a contract.
    func play(_ contract: PaymentContract, _ form: [String: String] = [:]) async throws {
        let subject = contract.payment?.rawValue ?? contract.renewal?.setup?.rawValue ?? ""
        let fields = ["outcome": "succeed", "terms": "accepted"].merging(form) { $1 }
        _ = try await gateway.payPages.act(kind: "sandbox", payment: subject, form: fields)
        if contract.payment != nil { try await desk.notify("payment.succeeded", contract) }
    }

    /// Buys, agrees and pays on the sandbox's page.
    func begin(_ user: String = "alice", _ form: [String: String] = [:]) async throws -> SubscriptionSnapshot {
        try await play(try await desk.checkout("club", user: user), form)
        try await advance(120)
        return try #require(try await list(user).first)
    }

    /// Goes on to the end of the running period, and a little further.
    func pass(_ held: SubscriptionSnapshot, _ user: String = "alice") async throws -> SubscriptionSnapshot {
        try await advance(to: held.expires_at.adding(seconds: 30))
        return try await find(held.id, user)
    }

    func list(_ user: String = "alice") async throws -> [SubscriptionSnapshot] {
        let name = try #require(ExternalUserID(user))
        return try await gateway.subscriptions.list(user: name, cursor: nil, limit: 10).items
    }

    func find(_ id: ID<Subscription>, _ user: String = "alice") async throws -> SubscriptionSnapshot {
        try await gateway.subscriptions.find(id.rawValue, user: try #require(ExternalUserID(user)))
    }

    func play(_ id: ID<Subscription>, _ renewals: String) async throws {
        try await gateway.payPages.playOn(kind: "sandbox", subscription: id.rawValue, form: ["renewals": renewals])
    }

    func charges(_ id: ID<Subscription>) async throws -> [String] {
        try await gateway.payPages.playedBook(kind: "sandbox", subscription: id.rawValue).charges.map {
            "\($0.period_index) \($0.outcome)"
        }
    }

    /// The open order of a renewal.
    func openOrder(of id: ID<Subscription>) async throws -> ID<Order> {
        let found = try await desk.store.read { db in
            try db.managedSubscriptions.find(id).flatMap { try db.managedSubscriptions.openOrder(of: $0.subscription) }
        }
        return try #require(found)
    }

    /// Has the account report the newest payment of an order.
    func report(_ outcome: PaymentOutcome, of order: ID<Order>, refusal: ChargeRefusal? = nil) async throws {
        let payment = try #require(try await desk.payments(order).last).payment
        try await report(outcome, of: payment, refusal: refusal)
    }

    func report(_ outcome: PaymentOutcome, of payment: Payment, refusal: ChargeRefusal? = nil) async throws {
        try await gateway.settlements.run(CallContext.test.audit) { settlement in
            let report = PaymentReport(payment: payment.id, outcome: outcome, refusal: refusal)
            _ = try settlement.apply(.payment(report), from: payment.account)
        }
    }

    /// Gives the owner of a subscription the same from the App Store, without a purchase behind it.
    func grantByStore(beside id: ID<Subscription>) async throws {
        try await gateway.settlements.run(CallContext.test.audit) { settlement in
            let own = try #require(try settlement.managed.lock(id)?.grant)
            _ = try settlement.tx.grants.upsert(
                Grant(
                    id: settlement.ids.make(), user: own.user, sku: own.sku, kind: own.kind, tier: own.tier,
                    rank: own.rank, source: Grant.Source(kind: .appleSubscription, id: "2000"), order: nil,
                    environment: own.environment, purchasedAt: own.purchasedAt, term: own.term, stackGroup: nil,
                    attributes: [:]))
        }
    }

    /// Opens the contract of another payment method.
    func otherMethod(_ id: ID<Subscription>) async throws -> PaymentContract {
        let wish = RetryRequest(
            platform: .web, currency: nil, provider: nil, accept: ContractType.base, returnURL: nil)
        return try await acts.replacePaymentMethod(id.rawValue, wish, by: alice, context: .test)
    }

    func announce(_ price: Int64) async throws {
        desk.clock.tick()
        _ = try await gateway.priceAnnouncements.announce(
            "club", [GatewayFixture.money(price)], effectiveAt: gateway.time.now, context: .test)
    }
}

/// Runs a test at a desk that sells a club, and then checks every invariant of the resulting facts.
func withClub(
    on engine: TestEngine, trial: Int64 = 0, checksInvariants: Bool = true, policies: OrderPolicies = OrderPolicies(),
    billing: BillingSettings = BillingSettings(), _ body: (Club) async throws -> Void
) async throws {
    var setup = GatewayFixtureSetup(policies: policies)
    setup.billing = billing
    setup.isDevelopment = true
    setup.checksInvariants = checksInvariants
    try await withDesk(on: engine, setup) { desk in
        for (id, unit, price) in [("club", "month", 3_990), ("club_year", "year", 29_900)] {
            let sku = """
                {"id":"\(id)","name":"Club","kind":"subscription","tier":"Club","rank":40,"stack_group":"club",
                 "renewal":"managed","period":{"unit":"\(unit)","count":1},"trial_days":\(trial),
                 "prices":[{"currency":"CNY","value":\(price)}]}
                """
            let made = try JSONDecoder().decode(SKU.self, from: Data(sku.utf8))
            _ = try await desk.gateway.catalogue.create(made, context: .test)
        }
        try await body(Club(desk: desk))
    }
}
