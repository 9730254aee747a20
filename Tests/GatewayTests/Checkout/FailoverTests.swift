import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Failing over to another account")
struct FailoverTests {
    @Test(arguments: TestEngine.allCases, [FaultInjection.unavailable, .lostReply])
    func `an account that does not answer gives way to the next`(
        _ engine: TestEngine, _ trouble: FaultInjection
    ) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, trouble, at: "box-url")
            let contract = try await desk.checkout(provider: nil)
            #expect(contract.provider?.rawValue == "box-qr" && contract.status == .pending)
            let payments = try await desk.payments(contract.order).map(\.payment)
            #expect(payments.map(\.account.rawValue) == ["box-url", "box-qr"])
            #expect(payments.map(\.state) == [.cancelled, .pending])
            #expect(payments.map(\.unfenced) == [false, false])
            #expect(desk.line.count(.cancel) == 1 && desk.line.count(.open) == 2)
            try await desk.notify("payment.succeeded", contract)
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.count("orders") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases, [FaultInjection.unavailable, .lostReply])
    func `one that cannot even be asked is marked unfenced`(
        _ engine: TestEngine, _ trouble: FaultInjection
    ) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, trouble, at: "box-url")
            for operation in [SandboxFaults.Operation.cancel, .query] {
                desk.line.set(operation, .unavailable, at: "box-url")
            }
            let contract = try await desk.checkout(provider: nil)
            #expect(contract.provider?.rawValue == "box-qr")
            let payments = try await desk.payments(contract.order).map(\.payment)
            #expect(payments.map(\.state) == [trouble == .lostReply ? .unknown : .created, .pending])
            #expect(payments.map(\.unfenced) == [true, false])
        }
    }

    @Test(arguments: TestEngine.allCases, [ProviderError.unavailable, .outcomeUnknown])
    func `one that cannot cancel is asked, and a double success pays once`(
        _ engine: TestEngine, _ error: ProviderError
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.prefer("scripted")
            desk.scripted.openings(error)
            let contract = try await desk.checkout(provider: nil)
            #expect(contract.provider?.rawValue == "box-url")
            let payments = try await desk.payments(contract.order).map(\.payment)
            #expect(payments.map(\.state) == [.pending, .pending] && payments.map(\.unfenced) == [true, false])
            try await desk.notify("payment.succeeded", contract)
            try await desk.state("late", .payment(.init(payment: payments[0].id, outcome: .succeeded(contract.amount))))
            let order = try await desk.order(contract.order)
            #expect(order.status == .paid && order.order.anomalies == [.duplicatePayment])
            #expect(try await desk.grants(contract.order).count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `fencing that finds the money opens nothing more`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.prefer("scripted")
            desk.scripted.openings(.outcomeUnknown)
            desk.scripted.say(otherwise: .succeeded(GatewayFixture.money(3990)))
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout(provider: nil) }
            let order = try await desk.onlyOrder()
            #expect(try await desk.order(order).status == .paid)
            #expect(try await desk.payments(order).count == 1 && desk.line.count(.open) == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `it ends after two further accounts`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .unavailable)
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout(provider: nil) }
            let order = try await desk.onlyOrder()
            let payments = try await desk.payments(order).map(\.payment)
            #expect(payments.map(\.account.rawValue) == ["box-url", "box-qr", "box-stripe"])
            // What was tried last may be gone on with.
            #expect(payments.map(\.state) == [.cancelled, .cancelled, .created])
            #expect(desk.scripted.opened.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refusal is final`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .refused, at: "box-url")
            await #expect(throws: GatewayError.providerRejected(reason: "refused_by_test")) {
                try await desk.checkout(provider: nil)
            }
            #expect(desk.line.count(.open) == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `who insists on an account stays there, who names a kind within it`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .unavailable, at: "box-url")
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout(provider: "box-url") }
            #expect(desk.line.count(.open) == 1)
            let contract = try await desk.checkout(provider: "sandbox")
            #expect(contract.provider?.rawValue == "box-qr")
            desk.line.set(.open, .unavailable)
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout(provider: "sandbox") }
            #expect(desk.scripted.opened.isEmpty)
        }
    }

    // MARK: Under one key

    @Test(arguments: TestEngine.allCases)
    func `a resumed run goes on with the newest payment and opens no other`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .unavailable)
            desk.line.set(.open, .lostReply, at: "box-stripe")
            let first = try await desk.run("key")
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.checkout(provider: nil, context: first)
            }
            try await desk.crash()
            let second = try await desk.run("key")
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.checkout(provider: nil, context: second)
            }
            desk.line.set(.open, nil)
            desk.line.set(.open, nil, at: "box-stripe")
            try await desk.crash()
            let contract = try await desk.checkout(provider: nil, context: try await desk.run("key"))
            #expect(contract.provider?.rawValue == "box-stripe")
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.cancelled, .cancelled, .pending])
            #expect(try await desk.count("orders") == 1)
            #expect(desk.line.count(.open, at: "box-url") == 1 && desk.line.count(.open, at: "box-stripe") == 3)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what an abandoned run made is gone on with by its newest payment`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .unavailable, at: "box-url")
            desk.line.set(.open, .lostReply, at: "box-qr")
            desk.line.set(.open, .lostReply, at: "box-stripe")
            _ = try? await desk.checkout(provider: nil, context: try await desk.run("key"))
            desk.line.set(.open, nil, at: "box-stripe")
            try await desk.crash()
            try await desk.pass(seconds: 10)
            try await desk.work()
            let order = try await desk.onlyOrder()
            #expect(try await desk.payments(order).map(\.payment.state) == [.cancelled, .cancelled, .pending])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a run that was cut after its fence goes to the next account`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            for account in ["box-qr", "box-stripe", "scripted"] { try await desk.enable(account, false) }
            desk.line.set(.open, .unavailable, at: "box-url")
            let first = try await desk.run("key")
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.checkout(provider: nil, context: first)
            }
            let order = try await desk.onlyOrder()
            try await desk.gateway.paymentAttempts.cancel(
                of: order, audit: AuditContext(actor: .user, requestID: "req_test"))
            try await desk.enable("box-qr", true)
            try await desk.crash()
            let contract = try await desk.checkout(provider: nil, context: try await desk.run("key"))
            #expect(contract.order == order && contract.provider?.rawValue == "box-qr")
            #expect(try await desk.payments(order).map(\.payment.state) == [.cancelled, .pending])
            try await desk.crash()
            #expect(try await desk.checkout(provider: nil, context: try await desk.run("key")) == contract)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another attempt that was cut after its fence goes to the next account`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let order = try await desk.checkout(provider: "box-stripe").order
            for account in ["box-qr", "box-stripe", "scripted"] { try await desk.enable(account, false) }
            desk.line.set(.open, .unavailable, at: "box-url")
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.retry(order, provider: nil, context: try await desk.run("again"))
            }
            try await desk.gateway.paymentAttempts.cancel(
                of: order, audit: AuditContext(actor: .user, requestID: "req_test"))
            try await desk.crash()
            // Nobody else can take it now, which an admin may change.
            await #expect(throws: GatewayError.noProviderAvailable) {
                try await desk.retry(order, provider: nil, context: try await desk.run("again"))
            }
            try await desk.enable("box-qr", true)
            try await desk.crash()
            let contract = try await desk.retry(order, provider: nil, context: try await desk.run("again"))
            #expect(contract.order == order && contract.provider?.rawValue == "box-qr")
            let states = try await desk.payments(order).map(\.payment.state)
            #expect(states == [.cancelled, .cancelled, .pending])
            try await desk.crash()
            #expect(try await desk.retry(order, provider: nil, context: try await desk.run("again")) == contract)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another attempt that others took the place of ends for good`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let order = try await desk.checkout(provider: "box-stripe").order
            desk.line.set(.open, .unavailable, at: "box-url")
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.retry(order, provider: "box-url", context: try await desk.run("again"))
            }
            let other = try await desk.retry(order, provider: "box-qr")
            try await desk.crash()
            await #expect(throws: GatewayError.providerRejected(reason: "the payment has cancelled")) {
                try await desk.retry(order, provider: "box-url", context: try await desk.run("again"))
            }
            #expect(try await desk.payments(order).map(\.payment.state) == [.cancelled, .cancelled, .pending])
            #expect(try await desk.payments(order).last?.payment.id == other.payment)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another attempt fails over under its own key`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "box-stripe")
            desk.line.set(.open, .unavailable, at: "box-url")
            desk.line.set(.open, .lostReply, at: "box-qr")
            try await desk.enable("box-stripe", false)
            try await desk.enable("scripted", false)
            let first = try await desk.run("again")
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.retry(contract.order, provider: nil, context: first)
            }
            desk.line.set(.open, nil, at: "box-qr")
            try await desk.crash()
            let second = try await desk.retry(contract.order, provider: nil, context: try await desk.run("again"))
            #expect(second.provider?.rawValue == "box-qr")
            let states = try await desk.payments(contract.order).map(\.payment.state)
            #expect(states == [.cancelled, .cancelled, .pending])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a run that lost its key meanwhile goes nowhere`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let gate = Gate()
            desk.line.set(.open, .unavailable, at: "box-url")
            desk.line.hold(.open, at: "box-url") { await gate.pass() }
            let run = try await desk.run("key")
            let slow = Task { try await desk.checkout(provider: nil, context: run) }
            await gate.arrivals()
            try await desk.crash()
            let other = try await desk.run("key")
            gate.open()
            await #expect(throws: GatewayError.requestInProgress) { try await slow.value }
            let order = try await desk.onlyOrder()
            #expect(try await desk.payments(order).count == 1)
            let contract = try await desk.checkout(provider: nil, context: other)
            #expect(contract.order == order && contract.provider?.rawValue == "box-qr")
        }
    }
}

extension GatewayFixture {
    /// Makes an account the first choice.
    func prefer(_ account: String) async throws {
        let change = AccountChange(routing: .object(["priority": .integer(1_000)]))
        _ = try await gateway.accounts.change(account, change, context: .test)
    }

    func enable(_ account: String, _ isEnabled: Bool) async throws {
        _ = try await gateway.accounts.change(account, AccountChange(enabled: isEnabled), context: .test)
    }
}
