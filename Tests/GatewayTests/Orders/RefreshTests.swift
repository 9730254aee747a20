import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Refresh, expiry and cancel")
struct RefreshTests {
    private func refresh(_ desk: GatewayFixture, _ contract: PaymentContract) async throws -> OrderSnapshot {
        try await desk.gateway.reconciliation.refresh(
            contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
    }

    @Test(arguments: TestEngine.allCases)
    func `an order is refreshed at most once in five seconds`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            _ = try await refresh(desk, contract)
            await #expect(throws: GatewayError.rateLimited(retryAfter: 5)) { try await refresh(desk, contract) }
            #expect(desk.line.count(.query) == 1)
            try await desk.pass(seconds: 5)
            _ = try await refresh(desk, contract)
            #expect(desk.line.count(.query) == 2)
            await #expect(throws: GatewayError.orderNotFound(contract.order.rawValue)) {
                try await desk.gateway.reconciliation.refresh(
                    contract.order.rawValue, user: GatewayFixture.user("bob"), context: .test)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an expired order is closed only when its provider says that nothing was paid`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let (unpaid, silent, paid) = (
                try await desk.checkout(), try await desk.checkout(), try await desk.checkout(provider: "scripted")
            )
            desk.scripted.say(try desk.payment(paid), .succeeded(paid.amount))
            try await desk.pass(seconds: 1_800)
            #expect(try await refresh(desk, unpaid).status == .closed)
            #expect(try await desk.payments(unpaid.order).map(\.payment.state) == [.cancelled])
            #expect(try await refresh(desk, paid).status == .paid)
            for operation in [SandboxFaults.Operation.query, .cancel] { desk.line.set(operation, .unavailable) }
            #expect(try await refresh(desk, silent).status == .open)
            for operation in [SandboxFaults.Operation.query, .cancel] { desk.line.set(operation, nil) }
            try await desk.pass(seconds: 5)
            #expect(try await refresh(desk, silent).status == .closed)
            #expect(try await desk.events(silent.order.rawValue) == ["order.opened", "order.closed"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an attempt made while an expired order is being closed is closed with it`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            try await desk.pass(seconds: 1_800)
            let gate = Gate()
            desk.line.hold(.cancel, at: "box-url") { await gate.pass() }
            async let closing = refresh(desk, contract)
            await gate.arrivals()
            desk.line.hold(.cancel, at: "box-url", nil)
            // It was begun while the order's time was not over.
            try await desk.pass(seconds: -10)
            #expect(try await desk.retry(contract.order, provider: "box-qr").status == .pending)
            try await desk.pass(seconds: 10)
            gate.open()
            #expect(try await closing.status == .closed)
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.cancelled, .cancelled])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `cancelling closes an open order, once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            let user = GatewayFixture.user("alice")
            for _ in 0..<2 {
                let order = try await desk.gateway.orderClosing.cancel(
                    contract.order.rawValue, user: user, context: .test)
                #expect(order.status == .closed)
            }
            #expect(try await desk.events(contract.order.rawValue) == ["order.opened", "order.closed"])
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.cancelled])
            let paid = try await desk.buy()
            await #expect(throws: GatewayError.orderNotOpen) {
                try await desk.gateway.orderClosing.cancel(paid.order.rawValue, user: user, context: .test)
            }
            await #expect(throws: GatewayError.orderNotOpen) {
                try await desk.gateway.orderClosing.close(paid.order.rawValue, context: .test)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `cancelling finds a payment that was made meanwhile`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.transport.mode = .drops
            let contract = try await desk.checkout()
            _ = try await desk.gateway.payPages.act(
                kind: "sandbox", payment: try desk.payment(contract).rawValue, form: ["outcome": "succeed"])
            await #expect(throws: GatewayError.orderNotOpen) {
                try await desk.gateway.orderClosing.cancel(
                    contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            }
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.snapshot().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an admin closes anybody's order`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            let order = try await desk.gateway.orderClosing.close(contract.order.rawValue, context: .test)
            #expect(order.status == .closed)
            #expect(order.order.closedAt == desk.clock.now)
        }
    }
}
