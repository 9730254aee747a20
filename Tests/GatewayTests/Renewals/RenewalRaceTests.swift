import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Acts while a renewal is charged")
struct RenewalRaceTests {
    private static let day = Club.day
    private static let price = GatewayFixture.money(3_990)
    private static let holding = OrderPolicies(latePayment: .hold, duplicatePayment: .hold)

    /// Buys, and returns the contract of the first order beside the subscription.
    private static func begin(
        _ club: Club, _ form: [String: String] = [:]
    ) async throws -> (contract: PaymentContract, held: SubscriptionSnapshot) {
        let contract = try await club.desk.checkout("club")
        try await club.play(contract, form)
        try await club.advance(120)
        return (contract, try #require(try await club.list().first))
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `cancelled while it is charged, it has one more period or ends`(
        _ engine: TestEngine, _ succeeds: Bool
    ) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.pass(try await club.begin("alice", ["renewals": "pending"]))
            let order = try await club.openOrder(of: held.id)
            let asked = try await club.acts.cancel(held.id.rawValue, by: club.alice, context: .test)
            #expect(asked.renewal.cancel_at_period_end && asked.status == .inGracePeriod)
            try await club.report(
                succeeds ? .succeeded(Self.price) : .failed(reason: "declined"), of: order, refusal: .soft)
            try await club.advance(60)
            let decided = try await club.find(held.id)
            guard succeeds else {
                #expect(decided.status == .expired && decided.renewal.end_reason == "canceled")
                return try await #expect(!club.desk.snapshot().active)
            }
            #expect(decided.status == .active && decided.renewal.period_index == 1 && !decided.will_renew)
            let over = try await club.pass(decided)
            #expect(over.status == .expired && over.renewal.end_reason == "canceled")
            #expect(over.renewal.ended_at == decided.expires_at)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `refunded while it is charged, the charge goes back`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, policies: Self.holding) { club in
            let (contract, first) = try await Self.begin(club, ["renewals": "pending"])
            let held = try await club.pass(first)
            let order = try await club.openOrder(of: held.id)
            _ = try await club.desk.refund(contract.order)
            #expect(try await club.find(held.id).status == .revoked)
            // The service tells of a charge that it has made.
            let charge = try #require(try await club.desk.payments(order).last).payment
            try await club.report(.succeeded(Self.price), of: charge)
            let returned = try await club.desk.order(order)
            #expect(returned.status == .closed && returned.order.anomalies == [.latePayment])
            #expect(try await club.desk.refunds(order).map(\.amount) == [Self.price])
            #expect(try await club.find(held.id).renewal.period_index == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `disputed while it is charged, a success gives its period`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let (contract, first) = try await Self.begin(club, ["renewals": "pending"])
            let held = try await club.pass(first)
            let order = try await club.openOrder(of: held.id)
            try await club.desk.notify("dispute.opened", contract)
            #expect(try await club.find(held.id).status == .suspended)
            try await club.report(.succeeded(Self.price), of: order)
            let kept = try await club.find(held.id)
            #expect(kept.status == .active && kept.renewal.period_index == 1 && !kept.will_renew)
            #expect(try await club.desk.refunds(order).isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `tries that fall due in a dispute are not made up for`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let (contract, first) = try await Self.begin(club)
            let held = try await club.pass(first)
            try await club.play(held.id, "soft")
            let end = held.expires_at
            try await club.advance(to: end.adding(seconds: 30))
            try await club.desk.notify("dispute.opened", contract)
            try await club.advance(to: end.adding(days: 2))
            try await club.desk.notify("dispute.won", contract)
            try await club.advance(3_600)
            #expect(try await club.charges(held.id) == ["1 succeeded", "2 soft"])
            try await club.advance(to: end.adding(days: 3).adding(seconds: 60))
            #expect(try await club.charges(held.id) == ["1 succeeded", "2 soft", "2 soft"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a try that succeeds after another has done so goes back`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, policies: Self.holding) { club in
            let held = try await club.begin()
            try await club.play(held.id, "soft")
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            let order = try await club.openOrder(of: held.id)
            try await club.play(held.id, "succeed")
            try await club.advance(Self.day)
            let renewed = try await club.find(held.id)
            let first = try #require(try await club.desk.payments(order).first).payment
            #expect(renewed.renewal.period_index == 1 && first.state == .failed)
            try await club.report(.succeeded(Self.price), of: first)
            #expect(try await club.desk.order(order).order.anomalies.contains(.duplicatePayment))
            #expect(try await club.desk.refunds(order).map(\.payment) == [first.id])
            let after = try await club.find(held.id)
            #expect(after.renewal.period_index == 1 && after.expires_at == renewed.expires_at)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an account starts no more charges in a second than it may`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, billing: BillingSettings(perSecond: 2)) { club in
            let (held, _) = try await Self.importSeven(club)
            try await club.desk.pass(seconds: 9 * Self.day)
            let steps = try await withThrowingTaskGroup(of: RenewalStep.self) { group in
                for id in held {
                    group.addTask {
                        try await club.gateway.settlements.run(CallContext.test.audit) { settlement in
                            try settlement.managed.step(id)
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let (charges, waiting) = steps.reduce(into: (0, 0)) { counts, step in
                switch step {
                case .charge: counts.0 += 1
                case .later: counts.1 += 1
                default: break
                }
            }
            #expect(charges == 2 && waiting == 5)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a charge that waits for the next second is made in it`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, billing: BillingSettings(perSecond: 2)) { club in
            let (_, end) = try await Self.importSeven(club)
            try await club.advance(to: end.adding(seconds: 10))
            #expect(try await club.desk.count("managed_subscriptions WHERE period_index = 1") == 7)
            let seconds = """
                (SELECT created_at FROM payments WHERE mandate_id IS NOT NULL GROUP BY created_at HAVING COUNT(*) <= 2) s
                """
            #expect(try await club.desk.count(seconds) == 4)
        }
    }

    /// Imports seven subscriptions whose renewals are due in the same second.
    private static func importSeven(_ club: Club) async throws -> (held: [ID<Subscription>], end: Timestamp) {
        let end = club.gateway.time.now.adding(days: 9)
        var held: [ID<Subscription>] = []
        for number in 1...7 {
            let imported = ImportedSubscription(
                externalID: "old-\(number)", user: GatewayFixture.user("user-\(number)"), sku: "club",
                account: "box-url", reference: "imported_\(number)", customer: nil, periodStart: nil, periodEnd: end,
                price: nil)
            held.append(try await club.gateway.subscriptionImport.run(imported, isDry: false, context: .test).id)
        }
        return (held, end)
    }

    @Test(arguments: TestEngine.allCases)
    func `a trial's first charge is announced as many days before as is said`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, trial: 14, billing: BillingSettings(upcomingDays: 3)) { club in
            let held = try await club.begin()
            for (days, count) in [(4 as Int64, 0), (2, 1), (1, 1)] {
                try await club.advance(to: held.expires_at.adding(days: -days))
                let told = try await club.desk.events(held.id.rawValue)
                    .count { $0 == "subscription.renewal_upcoming" }
                #expect(told == count, "\(days) days before")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a plan that was asked for keeps its price under an announced one`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            _ = try await club.acts.change(held.id.rawValue, to: "club_year", by: club.alice, context: .test)
            try await club.announce(2_990)
            let renewed = try await club.pass(held)
            #expect(renewed.sku == "club_year" && renewed.renewal.period_index == 1)
            #expect(try await club.desk.count("payments WHERE mandate_id IS NOT NULL AND amount = 29900") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases, [(3_000 as Int64, 1 as Int64, [990 as Int64]), (1, 31, [])])
    func `an ended subscription's share is never more than what is left`(
        _ engine: TestEngine, _ row: (refunded: Int64, daysLater: Int64, share: [Int64])
    ) async throws {
        try await withClub(on: engine) { club in
            let (contract, held) = try await Self.begin(club)
            _ = try await club.desk.refund(contract.order, row.refunded)
            let left = held.expires_at.rawValue - club.gateway.time.now.rawValue
            try await club.advance(min(row.daysLater * Self.day, left - 3_600))
            _ = try await club.acts.cancel(held.id.rawValue, at: .now, refund: .prorated, context: .test)
            #expect(try await club.desk.refunds(contract.order).dropFirst().map(\.amount.value) == row.share)
            #expect(try await club.find(held.id).status == .expired)
        }
    }
}
