import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// Tests which accounts take the orders of a managed SKU that the App Store sells as well.
@Suite("Accounts of managed subscriptions")
struct ManagedAccountTests {
    private static func withBoth(on engine: TestEngine, _ body: (Club) async throws -> Void) async throws {
        try await withClub(on: engine) { club in
            let sku = """
                {"id":"both","name":"Both","kind":"subscription","tier":"Club","rank":40,"stack_group":"both",
                 "renewal":"managed","period":{"unit":"month","count":1},"apple_product_ids":["com.example.both"],
                 "prices":[{"currency":"CNY","value":3990}]}
                """
            _ = try await club.gateway.catalogue.create(
                try JSONDecoder().decode(SKU.self, from: Data(sku.utf8)), context: .test)
            try await body(club)
        }
    }

    private static func retry(
        _ order: ID<Order>, _ platform: Platform, accepts: Set<ContractType>, _ club: Club
    ) async throws -> PaymentContract {
        club.desk.clock.tick()
        let request = RetryRequest(
            platform: platform, currency: nil, provider: nil, accept: accepts, returnURL: nil)
        return try await club.gateway.cashier.retry(
            order.rawValue, request, user: GatewayFixture.user("alice"), context: .test)
    }

    private static func isRefused(_ error: any Error) -> Bool {
        if case .noProvider(let refusal)? = error as? GatewayError { refusal.reason == .notRecurring } else { false }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that awaits the store's renewals is paid nowhere else`(_ engine: TestEngine) async throws {
        try await Self.withBoth(on: engine) { club in
            let contract = try await club.desk.checkout("both", platform: .ios, accept: [.appleIAP])
            #expect(contract.provider?.rawValue == "apple-iap" && contract.renewal == nil)
            await #expect {
                _ = try await Self.retry(contract.order, .web, accepts: ContractType.base, club)
            } throws: {
                Self.isRefused($0)
            }
            let again = try await Self.retry(contract.order, .ios, accepts: [.appleIAP], club)
            #expect(again.provider?.rawValue == "apple-iap")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order that begins a subscription of Paydesk's is not paid at the store`(
        _ engine: TestEngine
    ) async throws {
        try await Self.withBoth(on: engine) { club in
            let contract = try await club.desk.checkout("both")
            #expect(contract.renewal != nil)
            await #expect {
                _ = try await Self.retry(contract.order, .ios, accepts: [.appleIAP], club)
            } throws: {
                Self.isRefused($0)
            }
            let again = try await Self.retry(contract.order, .web, accepts: ContractType.base, club)
            #expect(again.renewal != nil)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a renewal is paid at the account of its mandate alone`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            try await club.play(try await club.desk.checkout("club", provider: "box-qr"))
            try await club.advance(120)
            let held = try #require(try await club.list().first)
            try await club.play(held.id, "hard")
            try await club.advance(to: held.expires_at.adding(seconds: 30))
            // Another account would come first.
            let wish = RetryRequest(
                platform: .web, currency: nil, provider: nil, accept: ContractType.base, returnURL: nil)
            let contract = try await club.acts.pay(held.id.rawValue, wish, by: club.alice, context: .test)
            #expect(contract.provider?.rawValue == "box-qr")
            for operation in [SandboxFaults.Operation.cancel, .open] {
                club.desk.line.set(operation, .unavailable, at: "box-qr")
            }
            club.desk.clock.tick()
            await #expect(throws: GatewayError.self) {
                try await club.acts.pay(held.id.rawValue, wish, by: club.alice, context: .test)
            }
            #expect(try await club.desk.count("payments WHERE account <> 'box-qr'") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another payment method needs a contract that the client accepts`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let held = try await club.begin()
            let wish = RetryRequest(platform: .web, currency: nil, provider: nil, accept: [.qr], returnURL: nil)
            await #expect {
                _ = try await club.acts.replacePaymentMethod(
                    held.id.rawValue, wish, by: club.alice, context: .test)
            } throws: {
                if case .noProvider(let refusal)? = $0 as? GatewayError { refusal.reason == .accept } else { false }
            }
            #expect(try await club.desk.count("setups") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what was imported once is answered again, whatever became of it`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { club in
            let imported = ImportedSubscription(
                externalID: "old", user: GatewayFixture.user("alice"), sku: "club", account: "box-url",
                reference: "imported_1", customer: nil, periodStart: nil,
                periodEnd: club.gateway.time.now.adding(days: 9), price: nil)
            let first = try await club.gateway.subscriptionImport.run(imported, isDry: false, context: .test)
            try await club.advance(10 * Club.day)
            for isDry in [true, false] {
                let again = try await club.gateway.subscriptionImport.run(imported, isDry: isDry, context: .test)
                #expect(again.id == first.id && again.renewal.period_index == 1)
            }
            #expect(try await club.desk.count("managed_subscriptions") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a new mandate renews nothing beside a store's subscription`(_ engine: TestEngine) async throws {
        // No purchase stands behind the store's grant.
        try await withClub(on: engine, checksInvariants: false) { club in
            let held = try await club.begin()
            try await club.gateway.settlements.run(CallContext.test.audit) { settlement in
                var standing = try #require(try settlement.managed.lock(held.id))
                standing.subscription.cancellation = .mandateEnded
                try settlement.managed.save(standing, nil)
            }
            try await club.grantByStore(beside: held.id)
            try await club.play(try await club.otherMethod(held.id))
            try await club.advance(120)
            let replaced = try await club.find(held.id)
            #expect(!replaced.will_renew && replaced.renewal.cancel_at_period_end)
        }
    }
}
