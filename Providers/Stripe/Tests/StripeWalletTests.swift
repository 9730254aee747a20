import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import StripeProvider
import Synchronization
import TestSupport
import Testing

/// Apple Pay tokens that Stripe charges, from the contract to the dispute, on both engines.
struct StripeWalletTests {
    private func withWallet(
        on engine: TestEngine, settings: [String: SettingValue] = [:],
        _ body: (ApplePayGatewayFixture, FakeStripeServer) async throws -> Void
    ) async throws {
        try await withDesk(on: engine) { desk in
            let (standIn, clock) = (FakeStripeServer(), desk.clock)
            let transport = RecordingTransport(changesSomething: { $0.method == "POST" }) { request in
                standIn.answer(request, now: clock.now.rawValue)
            }
            let id = try AccountID.test(StripeGatewayFixture.account)
            let context = ProviderContext(
                http: transport, time: desk.clock.time, random: desk.gateway.random,
                book: StoredBook(store: desk.store, account: id), notifyURL: "", publicURL: GatewayFixture.publicURL)
            let stripe = try StripeProvider(account: StripeFixture.account(settings), context: context, pause: { _ in })
            let setup = ApplePayGatewayFixtureSetup {
                $0.processor = ConfiguredAccount(
                    id: id, provider: stripe, isTest: true, enabled: true, routing: AccountRouting(weight: 0),
                    notifyToken: GatewayFixture.notifyToken(StripeGatewayFixture.account))
            }
            try await body(try ApplePayGatewayFixture(desk, setup), standIn)
        }
    }

    private func notify(_ wallet: ApplePayGatewayFixture, _ type: String, _ object: Any, id: String) async throws {
        let body = FakeStripeServer.event(type, object, id: id)
        let signature = FakeStripeServer.signature(
            body, at: wallet.desk.clock.now.rawValue, secret: StripeFixture.secret)
        _ = try await wallet.gateway.notifications.receive(
            token: GatewayFixture.notifyToken(StripeGatewayFixture.account),
            FakeStripeServer.notification(body, [signature]))
    }

    private func intent(_ standIn: FakeStripeServer) -> [String: Any] { standIn.state.withLock { $0.intents[0].json } }

    @Test(arguments: TestEngine.allCases)
    func `a token is charged, told of, refunded and disputed at Stripe`(_ engine: TestEngine) async throws {
        try await withWallet(on: engine) { wallet, standIn in
            let contract = try await wallet.checkout()
            let token = try wallet.token(contract)
            #expect(try await wallet.pay(contract, token).status == .paid)
            try await notify(wallet, "payment_intent.succeeded", intent(standIn), id: "evt_1")
            #expect(try await wallet.desk.grants(contract.order).count == 1)
            let refund = try await wallet.gateway.refunds.request(
                contract.order.rawValue, amount: GatewayFixture.money(990), reason: "a test", context: .test)
            #expect(refund.refund.state == .succeeded && standIn.state.withLock { $0.refunds.map(\.amount) } == [990])
            let object: [String: Any] = [
                "id": "dp_1", "object": "dispute", "status": "needs_response", "amount": 3_000, "currency": "cny",
                "payment_intent": standIn.state.withLock { $0.intents[0].id },
            ]
            try await notify(wallet, "charge.dispute.created", object, id: "evt_2")
            #expect(try await wallet.desk.grants(contract.order).map(\.suspended) == [true])
            try await notify(
                wallet, "charge.dispute.closed", object.merging(["status": "lost"]) { $1 }, id: "evt_3")
            #expect(try await wallet.desk.grants(contract.order).allSatisfy { $0.revocation != nil })
        }
    }

    @Test(arguments: TestEngine.allCases, [[:], StripeFixture.sessions])
    func `a lost reply is found by asking, whatever the account's mode`(
        _ engine: TestEngine, _ settings: [String: SettingValue]
    ) async throws {
        try await withWallet(on: engine, settings: settings) { wallet, standIn in
            let contract = try await wallet.checkout()
            let token = try wallet.token(contract)
            standIn.state.withLock { $0.losesIntents = true }
            #expect(try await wallet.pay(contract, token).status == .pending)
            standIn.state.withLock { $0.losesIntents = false }
            try await wallet.desk.pass(seconds: 120)
            try await wallet.work()
            #expect(try await wallet.pay(contract, token).status == .paid)
            #expect(standIn.state.withLock { $0.intents.count } == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the event comes before the reply that was lost`(_ engine: TestEngine) async throws {
        try await withWallet(on: engine) { wallet, standIn in
            let contract = try await wallet.checkout()
            standIn.state.withLock { $0.losesIntents = true }
            #expect(try await wallet.pay(contract, try wallet.token(contract)).status == .pending)
            try await notify(wallet, "payment_intent.succeeded", intent(standIn), id: "evt_1")
            let order = try await wallet.desk.order(contract.order)
            #expect(order.status == .paid && order.order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a declined card leads to the next contract`(_ engine: TestEngine) async throws {
        try await withWallet(on: engine) { wallet, standIn in
            let contract = try await wallet.checkout()
            standIn.state.withLock { $0.declines = true }
            #expect(try await wallet.pay(contract, try wallet.token(contract)).status == .failed)
            standIn.state.withLock { $0.declines = false }
            let next = try await wallet.retry(contract.order)
            #expect(try await wallet.pay(next, try wallet.token(next)).status == .paid)
            #expect(standIn.state.withLock { $0.intents.map(\.status) } == ["requires_payment_method", "succeeded"])
        }
    }
}
