import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// A run under an idempotency key that was cut short goes on with what it made.
@Suite("Resuming a cut checkout")
struct ResumeTests {
    /// Where a run is cut.
    enum Cut: String, CaseIterable, CustomTestStringConvertible {
        case providerUnavailable, providerReplyLost, recordedButNotAnswered

        var testDescription: String { rawValue }
        var trouble: FaultInjection? {
            switch self {
            case .providerUnavailable: .unavailable
            case .providerReplyLost: .lostReply
            case .recordedButNotAnswered: nil
            }
        }
    }

    @Test(arguments: TestEngine.allCases, Cut.allCases)
    func `one key has one order, one payment and one payment upstream`(_ engine: TestEngine, _ cut: Cut) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, cut.trouble)
            let first = try await desk.run("key")
            if cut == .recordedButNotAnswered {
                _ = try await desk.checkout(context: first)
            } else {
                await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout(context: first) }
            }
            desk.line.set(.open, nil)
            try await desk.crash()
            let contract = try await desk.checkout(context: try await desk.run("key"))
            #expect(contract.status == .pending)
            #expect(try await desk.count("orders") == 1)
            #expect(try await desk.count("payments") == 1)
            #expect(try await desk.count("account_book") == 1)
            try await desk.crash()
            #expect(try await desk.checkout(context: try await desk.run("key")) == contract)
            #expect(desk.line.count(.open) == (cut == .recordedButNotAnswered ? 1 : 2))
            try await desk.notify("payment.succeeded", contract)
            #expect(try await desk.order(contract.order).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `what nobody should pay any more is opened no more`(_ engine: TestEngine, _ isClosed: Bool) async throws {
        try await withDesk(on: engine) { desk in
            desk.scripted.openings(.outcomeUnknown)
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.checkout(provider: "scripted", context: try await desk.run("key"))
            }
            desk.scripted.openings(nil)
            let order = try await desk.onlyOrder()
            let opened = desk.scripted.opened.count
            if isClosed {
                _ = try await desk.gateway.orderClosing.cancel(
                    order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            } else {
                try await desk.pass(seconds: 86_400)
            }
            try await desk.crash()
            await #expect(throws: GatewayError.orderNotOpen) {
                try await desk.checkout(provider: "scripted", context: try await desk.run("key"))
            }
            #expect(desk.scripted.opened.count == opened)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a lost reply leaves an unknown payment that a refresh finds`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .lostReply)
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout() }
            let order = try await desk.onlyOrder()
            #expect(try await desk.payments(order).map(\.payment.state) == [.unknown])
            #expect(try await desk.order(order).status == .open)
            _ = try await desk.gateway.reconciliation.refresh(
                order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await desk.payments(order).map(\.payment.state) == [.pending])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a lost reply of an opening that paid is answered by the contract that asks for nothing`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .lostReply)
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.checkout(
                    provider: "box-none", accept: [ContractType.none], context: try await desk.run("key"))
            }
            desk.line.set(.open, nil)
            let order = try await desk.onlyOrder()
            _ = try await desk.gateway.reconciliation.refresh(
                order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await desk.order(order).status == .paid)
            try await desk.crash()
            let contract = try await desk.checkout(
                provider: "box-none", accept: [ContractType.none], context: try await desk.run("key"))
            #expect(contract.order == order)
            #expect(contract.status == .succeeded)
            #expect(contract.instruction == PaymentInstruction.none)
            #expect(desk.line.count(.open) == 1)
            await #expect(throws: GatewayError.contractGone) {
                try await desk.gateway.contracts.find(order.rawValue, user: GatewayFixture.user("alice"))
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a payment that never arrived can never be paid after it was asked about`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .unavailable)
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout() }
            desk.line.set(.open, nil)
            let order = try await desk.onlyOrder()
            _ = try await desk.gateway.reconciliation.refresh(
                order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await desk.payments(order).map(\.payment.state) == [.cancelled])
            let next = try await desk.retry(order)
            try await desk.notify("payment.succeeded", next)
            #expect(try await desk.order(order).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refusal of the provider fails the payment and leaves the order open`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .refused)
            await #expect(throws: GatewayError.providerRejected(reason: "refused_by_test")) {
                try await desk.checkout()
            }
            desk.line.set(.open, nil)
            let order = try await desk.onlyOrder()
            #expect(try await desk.payments(order).map(\.payment.state) == [.failed])
            #expect(try await desk.order(order).status == .open)
            let next = try await desk.retry(order)
            #expect(next.order == order)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another attempt under one key is opened once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            desk.line.set(.open, .lostReply)
            let run = try await desk.run("again")
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.retry(contract.order, context: run)
            }
            desk.line.set(.open, nil)
            try await desk.crash()
            let second = try await desk.retry(contract.order, context: try await desk.run("again"))
            #expect(second.provider?.rawValue == "box-qr")
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.cancelled, .pending])
            #expect(try await desk.count("account_book") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund and a grant are made once under one key`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            desk.line.set(.refund, .lostReply)
            let run = try await desk.run("refund")
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.refund(contract.order, 1000, context: run)
            }
            desk.line.set(.refund, nil)
            try await desk.crash()
            let refund = try await desk.refund(contract.order, 1000, context: try await desk.run("refund"))
            #expect(refund.refund.state == .succeeded)
            #expect(try await desk.refunds(contract.order).map(\.amount.value) == [1000])

            let request = GrantRequest(sku: "vip_year", durationDays: nil, expiresAt: nil, reason: "a gift")
            let first = try await desk.gateway.grants.create(
                request, to: GatewayFixture.user("bob"), by: .admin, context: try await desk.run("grant"))
            try await desk.crash()
            let second = try await desk.gateway.grants.create(
                request, to: GatewayFixture.user("bob"), by: .admin, context: try await desk.run("grant"))
            #expect(first == second)
            #expect(try await desk.snapshot("bob").entitlements.count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a key belongs to its caller, its request and its lease`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let gateway = desk.gateway
            let run = try await desk.run("key")
            await #expect(throws: GatewayError.requestInProgress) { try await desk.run("key") }
            _ = try await desk.run("key", user: "bob")
            await #expect(throws: GatewayError.idempotencyKeyReused) {
                try await gateway.idempotency.begin(
                    key: "key", caller: .user(GatewayFixture.user("alice")), request: [.init("another".utf8)])
            }
            let finished = try #require(run.idempotency)
            try await gateway.idempotency.finish(finished, status: 200, answer: .init("the answer".utf8))
            let again = try await gateway.idempotency.begin(
                key: "key", caller: .user(GatewayFixture.user("alice")), request: [.init("the same".utf8)])
            guard case .replay(let status, let answer) = again else {
                Issue.record("a finished run is not replayed")
                return
            }
            #expect(status == 200)
            #expect(String(decoding: answer, as: UTF8.self) == "the answer")
        }
    }
}

extension GatewayFixture {
    /// The order of a desk that has one.
    func onlyOrder() async throws -> ID<Order> {
        let orders = try await gateway.orders.list(OrderQuery(), cursor: nil, limit: 10).items
        return try #require(orders.count == 1 ? orders.first : nil).order.id
    }
}
