import Domain
import Foundation
import Gateway
import ProviderKit
import ProviderTesting
import Store
import Synchronization
import TestSupport
import Testing

/// From the checkout to the paid order and back, on both engines.
struct StripeGatewayTests {
    private func withStripe(
        on engine: TestEngine, settings: [String: SettingValue] = [:],
        _ body: (StripeGatewayFixture, FakeStripeServer, RecordingTransport) async throws -> Void
    ) async throws {
        try await withDesk(on: engine) { desk in
            let standIn = FakeStripeServer()
            let clock = desk.clock
            let transport = RecordingTransport(changesSomething: { $0.method == "POST" }) { request in
                standIn.answer(request, now: clock.now.rawValue)
            }
            try await body(try StripeGatewayFixture(desk, http: transport, settings: settings), standIn, transport)
        }
    }

    @Test(arguments: TestEngine.allCases, [[:], StripeFixture.sessions])
    func `a paid order is paid by its event, once`(engine: TestEngine, settings: [String: SettingValue]) async throws {
        try await withStripe(on: engine, settings: settings) { stripe, standIn, _ in
            let contract = try await stripe.checkout()
            switch contract.instruction {
            case .stripe(let key, let secret, _):
                #expect(settings.isEmpty && key == StripeFixture.publishable && secret.contains("_secret_"))
            case .url(let address): #expect(!settings.isEmpty && address.hasPrefix("https://"))
            default: Issue.record("another contract: \(contract.instruction)")
            }
            let payment = try stripe.desk.payment(contract)
            #expect(standIn.act(succeed: true, on: payment.rawValue))
            for _ in 0..<2 {
                if settings.isEmpty {
                    let intent = standIn.state.withLock { $0.intents[0].json }
                    try await stripe.notify("payment_intent.succeeded", intent, id: "evt_1")
                } else {
                    let (session, intent) = standIn.state.withLock {
                        ($0.sessions[0].json($0, expands: false), $0.intents[0].json)
                    }
                    try await stripe.notify("checkout.session.completed", session, id: "evt_1")
                    try await stripe.notify("payment_intent.succeeded", intent, id: "evt_2")
                }
            }
            #expect(try await stripe.state(contract) == .paid)
            #expect(try await stripe.desk.grants(contract.order).count == 1)
            let refund = try await stripe.gateway.refunds.request(
                contract.order.rawValue, amount: GatewayFixture.money(1_000), reason: "a test", context: .test)
            #expect(refund.refund.state == .succeeded)
            // It bounces a day later.
            let object = standIn.state.withLock { state in
                state.refunds[0].status = "failed"
                return state.refunds[0].json
            }
            try await stripe.notify("refund.failed", object, id: "evt_3")
            #expect(try await stripe.desk.refunds(contract.order).map(\.state) == [.failed])
            #expect(try await stripe.state(contract) == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another amount pays nothing`(engine: TestEngine) async throws {
        try await withStripe(on: engine) { stripe, standIn, _ in
            let contract = try await stripe.checkout()
            let payment = try stripe.desk.payment(contract)
            _ = standIn.act(succeed: true, on: payment.rawValue)
            let object = standIn.state.withLock { state in
                state.intents[0].received = 1
                return state.intents[0].json
            }
            try await stripe.notify("payment_intent.succeeded", object, id: "evt_1")
            #expect(try await stripe.state(contract) == .open)
            #expect(try await stripe.desk.grants(contract.order).isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases, [[:], StripeFixture.sessions])
    func `a lost opening is found by asking, and goes on`(
        engine: TestEngine, settings: [String: SettingValue]
    ) async throws {
        try await withStripe(on: engine, settings: settings) { stripe, standIn, transport in
            transport.behaviour = .lostReplies
            await #expect(throws: GatewayError.providerUnavailable) { try await stripe.checkout() }
            transport.behaviour = .normal
            let id = try #require(
                standIn.state.withLock { state in
                    (state.intents.first?.metadata ?? state.sessions.first?.metadata)?["payment_id"]
                })
            #expect(standIn.act(succeed: true, on: id))
            try await stripe.desk.pass(seconds: 120)
            try await stripe.gateway.work()
            let order = try #require(
                standIn.state.withLock { state in
                    (state.intents.first?.metadata ?? state.sessions.first?.metadata)?["order_id"]
                })
            #expect(try await stripe.gateway.orders.find(order).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a dispute suspends and a won one reinstates`(engine: TestEngine) async throws {
        try await withStripe(on: engine) { stripe, standIn, _ in
            let contract = try await stripe.checkout()
            _ = standIn.act(succeed: true, on: try stripe.desk.payment(contract).rawValue)
            let intent = standIn.state.withLock { $0.intents[0] }
            try await stripe.notify("payment_intent.succeeded", intent.json, id: "evt_1")
            func dispute(_ status: String) -> [String: Any] {
                [
                    "id": "du_1", "amount": intent.amount, "currency": "cny", "status": status,
                    "payment_intent": intent.id,
                ]
            }
            try await stripe.notify("charge.dispute.created", dispute("warning_needs_response"), id: "evt_2")
            #expect(try await stripe.desk.snapshot().active)
            try await stripe.notify("charge.dispute.created", dispute("needs_response"), id: "evt_3")
            #expect(try await !stripe.desk.snapshot().active)
            try await stripe.notify("charge.dispute.closed", dispute("won"), id: "evt_4")
            #expect(try await stripe.desk.snapshot().active)
        }
    }

    @Test(arguments: TestEngine.allCases, [[:], StripeFixture.sessions])
    func `an order that nobody paid is closed at Stripe too`(
        engine: TestEngine, settings: [String: SettingValue]
    ) async throws {
        try await withStripe(on: engine, settings: settings) { stripe, standIn, _ in
            let contract = try await stripe.checkout()
            try await stripe.desk.pass(seconds: 31 * 60)
            try await stripe.gateway.work()
            #expect(try await stripe.state(contract) == .closed)
            #expect(!standIn.act(succeed: true, on: try stripe.desk.payment(contract).rawValue))
        }
    }
}
