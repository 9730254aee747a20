import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Renewals of managed subscriptions")
struct RenewalTests {
    private static let day = Club.day

    @Test(arguments: TestEngine.allCases)
    func `a year renews by the calendar, one charge a period`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            var held = try await club.begin()
            let anchor = PeriodAnchor(at: try #require(held.renewal.period_start), index: 0)
            let month = BillingPeriod(unit: .month, count: 1)
            for index in 1...12 as ClosedRange<Int64> {
                try await club.advance(to: held.expires_at.adding(seconds: 5))
                held = try await club.find(held.id)
                #expect(held.renewal.period_index == index && held.status == .active && held.renewal.tries == 0)
                #expect(held.renewal.period_start == anchor.start(of: index, month))
                #expect(held.expires_at == anchor.end(of: index, month))
            }
            #expect(try await club.charges(held.id) == (1...12).map { "\($0) succeeded" })
            #expect(held.orders.count == 13)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refused renewal is tried on its days, then it ends and its mandate with it`(
        _ engine: TestEngine
    ) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            try await club.play(held.id, "soft")
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            let failed = try await club.find(held.id)
            #expect(failed.status == .inGracePeriod && failed.renewal.tries == 1 && failed.renewal.refusal == .soft)
            #expect(try await club.desk.snapshot().active)
            try await club.advance(5 * Self.day)
            #expect(try await club.find(held.id).status == .inBillingRetry)
            #expect(try await !club.desk.snapshot().active)
            try await club.advance(3 * Self.day)
            let over = try await club.find(held.id)
            #expect(over.status == .expired && over.renewal.end_reason == "payment_failed" && over.renewal.tries == 5)
            try await club.advance(40 * Self.day)
            #expect(try await club.charges(held.id) == Array(repeating: "1 soft", count: 5))
            #expect(try await club.desk.count("mandates WHERE state = 'revoked'") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases, ["lost", "never_arrived"])
    func `a lost reply is one charge`(_ engine: TestEngine, _ played: String) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin("alice", ["renewals": played])
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            #expect(try await club.desk.snapshot().active)
            if played == "never_arrived" { try await club.play(held.id, "succeed") }
            try await club.advance(Self.day)
            let renewed = try await club.find(held.id)
            #expect(renewed.renewal.period_index == 1 && renewed.status == .active && renewed.renewal.tries == 0)
            #expect(renewed.renewal.period_start == held.expires_at)
            #expect(try await club.charges(held.id) == ["1 succeeded"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a cancelled one runs to its end, and nothing is charged`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            let alice = SubscriptionActor.user(try #require(ExternalUserID("alice")))
            let acts = club.gateway.subscriptionActs
            let off = try await acts.cancel(held.id.rawValue, by: alice, context: .test)
            #expect(off.status == .active && !off.will_renew && off.renewal.cancel_at_period_end)
            let on = try await acts.resume(held.id.rawValue, by: alice, context: .test)
            #expect(on.will_renew)
            _ = try await acts.cancel(held.id.rawValue, by: alice, context: .test)
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            let over = try await club.find(held.id)
            #expect(over.status == .expired && over.renewal.end_reason == "canceled")
            #expect(over.renewal.ended_at == held.expires_at)
            #expect(try await club.charges(held.id) == [])
            await #expect(throws: GatewayError.self) {
                try await acts.resume(held.id.rawValue, by: alice, context: .test)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a trial is once for a user and once for a card`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, trial: 7) { club in
            let held = try await club.begin("alice", ["instrument": "card"])
            #expect(
                held.renewal.trial && held.expires_at.rawValue - held.renewal.period_start!.rawValue == 7 * Self.day)
            let contract = try await club.desk.checkout("club", user: "bob")
            let setup = try #require(contract.renewal?.setup)
            _ = try await club.gateway.payPages.act(
                kind: "sandbox", payment: setup.rawValue,
                form: ["outcome": "succeed", "terms": "yes", "instrument": "card"])
            try await club.advance(120)
            #expect(try await club.list("bob").isEmpty)
            #expect(try await club.desk.order(contract.order).status == .closed)
            #expect(try await club.desk.checkout("club", user: "bob").renewal?.setup == nil)
            try await club.advance(to: held.expires_at.adding(seconds: 5))
            #expect(try await club.charges(held.id) == ["1 succeeded"])
            #expect(try await !club.find(held.id).renewal.trial)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a whole refund of the running period takes it back`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            _ = try await club.desk.refund(try #require(held.orders.last))
            let over = try await club.find(held.id)
            #expect(over.status == .revoked && over.renewal.end_reason == "refunded" && !over.will_renew)
            #expect(try await !club.desk.snapshot().active)
            try await club.advance(60 * Self.day)
            #expect(try await club.charges(held.id) == [])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the acts of admins are audited`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            let (id, acts) = (held.id.rawValue, club.gateway.subscriptionActs)
            _ = try await acts.cancel(id, at: .periodEnd, refund: .none, context: .test)
            _ = try await acts.resume(id, by: .admin, context: .test)
            _ = try await acts.extend(id, days: 3, context: .test)
            try await club.play(held.id, "hard")
            try await club.advance(to: held.expires_at.adding(days: 4))
            _ = try await acts.retry(id, context: .test)
            _ = try await acts.cancel(id, at: .now, refund: .prorated, context: .test)
            let price = Money(value: 2_990, currency: .cny)
            _ = try await club.gateway.priceAnnouncements.announce(
                "club", [price], effectiveAt: club.gateway.time.now, context: .test)
            let imported = ImportedSubscription(
                externalID: "old", user: try #require(ExternalUserID("moved")), sku: "club", account: "box-url",
                reference: "imported_1", customer: nil, periodStart: nil,
                periodEnd: club.gateway.time.now.adding(days: 9), price: nil)
            let moved = try await club.gateway.subscriptionImport.run(imported, isDry: false, context: .test)
            #expect(moved.status == .active && moved.renewal.period_index == 0)
            _ = try await club.gateway.billingHold.begin(reason: "restored", context: .test)
            _ = try await club.gateway.billingHold.end(acceptsUnchecked: true, context: .test)
            for action in [
                "subscription.cancel_requested", "subscription.resumed", "subscription.extended",
                "subscription.retried",
                "subscription.expired", "sku.price_announced", "subscription.imported", "billing.held",
                "billing.released",
            ] {
                #expect(try await club.desk.count("audit WHERE action = ?", action) == 1, "\(action)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an adopted charge is reported as the first order is`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, checksInvariants: false) { club in
            let held = try await club.begin()
            let token: ID<ExternalToken> = club.gateway.ids.make()
            try await club.desk.store.write { tx in
                try tx.execute(
                    """
                    INSERT INTO external_tokens (id, account, environment, external_purchase_id, bundle_id, app_apple_id,
                        token_created_at, source, due_at, state, created_at)
                    VALUES (?, 'apple', 'Sandbox', 'token', 'app', 1, 1, 'checkout', 1, 'due', 1)
                    """, token)
                try tx.execute(
                    "UPDATE orders SET external_token_id = ?, storefront = 'FRA', tax_rate = 2000, platform = 'ios'",
                    token)
            }
            let charge = MandateChargeReport(
                payment: club.gateway.ids.make(), order: club.gateway.ids.make(), periodIndex: 1,
                amount: GatewayFixture.money(3_990), reference: "charge_1", at: club.gateway.time.now)
            try await club.gateway.settlements.run(CallContext.test.audit) { settlement in
                try settlement.managed.adopt(charge, of: held.id, settlement.payments)
            }
            #expect(
                try await club.desk.count(
                    """
                    orders WHERE id = ? AND external_token_id = ? AND storefront = 'FRA' AND tax_rate = 2000
                        AND platform = 'ios'
                    """, charge.order.rawValue, token.rawValue) == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an erased user is charged no more`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            _ = try await club.gateway.users.erase(try #require(ExternalUserID("alice")), context: .test)
            try await club.advance(60 * Self.day)
            #expect(try await club.charges(held.id) == [])
            #expect(try await club.desk.count("managed_subscriptions WHERE end_reason = 'erased'") == 1)
            #expect(try await club.desk.count("mandates WHERE state = 'revoked'") == 1)
        }
    }
}
