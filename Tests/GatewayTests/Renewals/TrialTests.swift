import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Trials of managed subscriptions")
struct TrialTests {
    @Test(arguments: TestEngine.allCases)
    func `a card that had a trial at one account has none at another of its kind`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, trial: 7) { club in
            _ = try await club.begin("alice", ["instrument": "card"])
            let contract = try await club.desk.checkout("club", user: "bob", provider: "box-qr")
            try await club.play(contract, ["instrument": "card"])
            try await club.advance(120)
            #expect(try await club.list("bob").isEmpty)
            #expect(try await club.desk.count("setups WHERE state = 'failed' AND failure = 'trial_used'") == 1)
            #expect(try await club.desk.count("mandates WHERE state = 'revoked'") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `of two who give one card at once, one begins`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, trial: 7) { club in
            var contracts: [PaymentContract] = []
            for user in ["alice", "bob", "carol", "dave"] {
                contracts.append(try await club.desk.checkout("club", user: user))
            }
            try await withThrowingTaskGroup { group in
                for contract in contracts {
                    group.addTask { try await club.play(contract, ["instrument": "card"]) }
                }
                try await group.waitForAll()
            }
            try await club.advance(120)
            #expect(try await club.desk.count("managed_subscriptions WHERE state = 'running'") == 1)
            #expect(try await club.desk.count("trial_claims WHERE kind = 'instrument'") == 1)
            #expect(try await club.desk.count("trial_claims WHERE kind = 'user'") == 4)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what was bought since the checkout ends the right to a trial`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, trial: 7) { club in
            let pass = """
                {"id":"club_pass","name":"Club pass","kind":"non_renewing","tier":"Club","rank":40,"stack_group":"club",
                 "duration_days":30,"prices":[{"currency":"CNY","value":1000}]}
                """
            _ = try await club.gateway.catalogue.create(
                try JSONDecoder().decode(SKU.self, from: Data(pass.utf8)), context: .test)
            let contract = try await club.desk.checkout("club")
            #expect(contract.renewal?.setup != nil)
            try await club.desk.buy("club_pass")
            try await club.play(contract)
            try await club.advance(120)
            #expect(try await club.list().isEmpty)
            #expect(try await club.desk.order(contract.order).status == .closed)
            #expect(try await club.desk.checkout("club").renewal?.setup == nil)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `trials count among the orders that a user may have open`(_ engine: TestEngine) async throws {
        try await withClub(on: engine, trial: 7) { club in
            for _ in 0..<OrderWriter.openOrders { _ = try await club.desk.checkout("club") }
            await #expect(throws: GatewayError.self) { try await club.desk.checkout("club") }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a trial and an import are no sales`(_ engine: TestEngine) async throws {
        // The sandbox's orders are moved to Production by hand.
        try await withClub(on: engine, trial: 7, checksInvariants: false) { club in
            _ = try await club.begin()
            let imported = ImportedSubscription(
                externalID: "old", user: GatewayFixture.user("moved"), sku: "club", account: "box-url",
                reference: "imported_1", customer: nil, periodStart: nil,
                periodEnd: club.gateway.time.now.adding(days: 9), price: nil)
            _ = try await club.gateway.subscriptionImport.run(imported, isDry: false, context: .test)
            let now = club.gateway.time.now
            for environment in [Environment.sandbox, .production] {
                try await club.desk.store.write { tx in
                    try tx.execute("UPDATE orders SET environment = ?", environment.rawValue)
                }
                for step in [StatsStep.day, .sku, .account] {
                    let sums = try await club.gateway.reports.sumOrders(
                        StatsQuery(
                            step, from: now.adding(days: -2), to: now.adding(days: 2), environment: environment))
                    #expect(sums.allSatisfy { $0.orders_opened == 0 && $0.orders_paid == 0 }, "\(environment) \(step)")
                }
            }
            #expect(try await club.desk.count("order_sums WHERE opened <> 0 OR paid <> 0") == 0)
        }
    }
}
