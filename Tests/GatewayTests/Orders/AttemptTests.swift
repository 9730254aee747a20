import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Several attempts to pay one order")
struct AttemptTests {
    @Test(arguments: TestEngine.allCases)
    func `another attempt cancels the old one for certain`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let first = try await desk.checkout()
            let second = try await desk.retry(first.order)
            #expect(second.order == first.order)
            #expect(second.payment != first.payment)
            let records = try await desk.payments(first.order).map(\.payment)
            #expect(records.map(\.state) == [.cancelled, .pending])
            #expect(records.map(\.unfenced) == [false, false])
            let page = try await desk.gateway.payPages.act(
                kind: "sandbox", payment: try desk.payment(first).rawValue, form: ["outcome": "succeed"])
            guard case .html(let text) = page else {
                Issue.record("the page is \(page)")
                return
            }
            #expect(text.contains("cancelled"))
            #expect(try await desk.order(first.order).status == .open)
            try await desk.notify("payment.succeeded", second)
            #expect(try await desk.order(first.order).status == .paid)
            await #expect(throws: GatewayError.orderNotOpen) { try await desk.retry(first.order) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an attempt that cannot be cancelled is marked unfenced`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let first = try await desk.checkout(provider: "scripted")
            let second = try await desk.retry(first.order, provider: "box-url")
            let records = try await desk.payments(first.order).map(\.payment)
            #expect(records.map(\.state) == [.pending, .pending])
            #expect(records.map(\.unfenced) == [true, false])
            #expect(records.first?.reference == "scripted-\(try desk.payment(first))")
            #expect(second.status == .pending)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `fencing that finds the money ends in a paid order and no second attempt`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let first = try await desk.checkout(provider: "scripted")
            desk.scripted.say(try desk.payment(first), .succeeded(first.amount))
            await #expect(throws: GatewayError.orderNotOpen) { try await desk.retry(first.order) }
            #expect(try await desk.order(first.order).status == .paid)
            #expect(try await desk.payments(first.order).count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order is not closed while a payment that could be closed for certain was not`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            // The service refuses to close it (it is being paid), and says of it that it waits.
            desk.line.set(.cancel, .refused)
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.gateway.orderClosing.cancel(
                    contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            }
            #expect(try await desk.order(contract.order).order.state == .open)
            try await desk.notify("payment.succeeded", contract)
            let order = try await desk.order(contract.order)
            #expect(order.status == .paid && order.order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an attempt made while an order is being closed is closed with it`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            let gate = Gate()
            desk.line.hold(.cancel, at: "box-url") { await gate.pass() }
            async let closing = desk.gateway.orderClosing.cancel(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            await gate.arrivals()
            desk.line.hold(.cancel, at: "box-url", nil)
            let other = try await desk.retry(contract.order, provider: "box-qr")
            #expect(other.status == .pending)
            gate.open()
            #expect(try await closing.status == .closed)
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.cancelled, .cancelled])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another currency and a stranger's order are refused`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            let request = RetryRequest(
                platform: .web, currency: Currency("USD"), provider: nil, accept: ContractType.base, returnURL: nil)
            let error = await #expect(throws: GatewayError.self) {
                try await desk.gateway.cashier.retry(
                    contract.order.rawValue, request, user: GatewayFixture.user("alice"), context: .test)
            }
            #expect(error?.withoutReason == .invalidRequest(field: "currency", reason: ""))
            await #expect(throws: GatewayError.orderNotFound(contract.order.rawValue)) {
                try await desk.retry(contract.order, user: "bob")
            }
            #expect(try await desk.payments(contract.order).count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases, [DuplicatePolicy.refund, .hold])
    func `a double success pays once and gives the second back or holds it`(
        _ engine: TestEngine, _ policy: DuplicatePolicy
    ) async throws {
        try await withDesk(on: engine, GatewayFixtureSetup(policies: OrderPolicies(duplicatePayment: policy))) { desk in
            let first = try await desk.checkout(provider: "scripted")
            let second = try await desk.retry(first.order, provider: "box-url")
            try await desk.notify("payment.succeeded", second)
            let before = try await desk.snapshot()
            try await desk.state(
                "late", .payment(.init(payment: try desk.payment(first), outcome: .succeeded(first.amount))))
            let order = try await desk.order(first.order)
            #expect(order.status == .paid)
            #expect(order.order.anomalies == [.duplicatePayment])
            #expect(try await desk.snapshot() == before)
            #expect(try await desk.grants(first.order).count == 1)
            let refunds = try await desk.refunds(first.order)
            switch policy {
            case .refund:
                #expect(refunds.map(\.payment) == [try desk.payment(first)])
                #expect(refunds.map(\.state) == [.succeeded])
                #expect(refunds.map(\.reason) == ["duplicate_payment"])
            case .hold:
                #expect(refunds.isEmpty)
                // Money that is held is given back by an admin, before what paid the order.
                try await desk.refund(first.order)
                #expect(try await desk.refunds(first.order).map(\.payment) == [try desk.payment(first)])
                #expect(try await desk.order(first.order).status == .paid)
                #expect(try await desk.snapshot() == before)
                try await desk.refund(first.order)
                #expect(try await Set(desk.refunds(first.order).map(\.payment)).count == 2)
                #expect(try await desk.order(first.order).status == .refunded)
                await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(first.order) }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refund of a second payment that bounced is made again, and the order stands`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let first = try await desk.checkout(provider: "scripted")
            let second = try await desk.retry(first.order, provider: "box-url")
            try await desk.notify("payment.succeeded", second)
            let before = try await desk.snapshot()
            let payment = try desk.payment(first)
            try await desk.state("late", .payment(.init(payment: payment, outcome: .succeeded(first.amount))))
            let bounced = try #require(try await desk.refunds(first.order).first)
            let report = RefundReport(
                payment: payment, refund: bounced.id, outcome: .failed(reason: "account closed"), amount: bounced.amount
            )
            try await desk.state("bounced", .refund(report))
            try await desk.refund(first.order)
            let refunds = try await desk.refunds(first.order)
            #expect(try refunds.map(\.payment) == [desk.payment(first), desk.payment(first)])
            #expect(Set(refunds.map(\.state)) == [.failed, .succeeded])
            #expect(try await desk.order(first.order).status == .paid)
            #expect(try await desk.snapshot() == before)
        }
    }

    @Test(arguments: TestEngine.allCases, [LatePaymentPolicy.fulfil, .refund, .hold])
    func `a payment of a closed order follows the policy`(
        _ engine: TestEngine, _ policy: LatePaymentPolicy
    ) async throws {
        try await withDesk(on: engine, GatewayFixtureSetup(policies: OrderPolicies(latePayment: policy))) { desk in
            let contract = try await desk.checkout()
            _ = try await desk.gateway.orderClosing.cancel(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            #expect(try await desk.order(contract.order).status == .closed)
            try await desk.notify("payment.succeeded", contract)
            let order = try await desk.order(contract.order)
            #expect(order.order.anomalies == [.latePayment])
            #expect(order.status == (policy == .fulfil ? .paid : .closed))
            #expect(try await desk.snapshot().active == (policy == .fulfil))
            #expect(try await desk.refunds(contract.order).map(\.state) == (policy == .refund ? [.succeeded] : []))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a failed payment that succeeds after all is revived`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            try await desk.notify("payment.failed", contract)
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.failed])
            try await desk.notify("payment.succeeded", contract)
            let order = try await desk.order(contract.order)
            #expect(order.status == .paid)
            #expect(order.order.anomalies == [.revivedPayment])
        }
    }

    @Test(arguments: TestEngine.allCases, ["payment.failed", "payment.cancelled"])
    func `a paid payment that is reported otherwise stays paid`(_ engine: TestEngine, _ type: String) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let before = try await desk.snapshot()
            try await desk.notify(type, contract)
            let order = try await desk.order(contract.order)
            #expect(order.status == .paid)
            #expect(order.order.anomalies == [.contradictingFact])
            #expect(try await desk.snapshot() == before)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a try that failed is history and no state`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            let payment = try desk.payment(contract)
            try await desk.state("try", .payment(.init(payment: payment, outcome: .tryFailed(reason: "card_declined"))))
            try await desk.state("odd", .payment(.init(payment: payment, outcome: .pending(status: "FROZEN"))))
            #expect(try await desk.payments(contract.order).map(\.payment.state) == [.pending])
            #expect(try await desk.order(contract.order).timeline.contains { $0.detail.contains("card_declined") })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a try that failed is told once however often it is asked for`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            let payment = try desk.payment(contract)
            // A reason of the provider's own can be longer than a line, and have what no line may.
            let long = String(repeating: " no\n", count: 400)
            let reasons = ["card_declined", "card_declined", "expired_card", "card_declined", long, long, long]
            for reason in reasons {
                desk.scripted.say(payment, .tryFailed(reason: reason))
                try await desk.pass(seconds: 6)
                _ = try await desk.gateway.reconciliation.refresh(
                    contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            }
            let tries = try await desk.order(contract.order).timeline.filter { $0.type == "payment.try_failed" }
            #expect(
                tries.map { $0.detail.dropFirst(payment.rawValue.count + 1).prefix(13) }
                    == ["card_declined", "expired_card", "card_declined", "no no no no n"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a try that failed says that the provider knows the payment`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            let payment = try desk.payment(contract)
            func state() async throws -> [Payment.State] {
                try await desk.payments(contract.order).map(\.payment.state)
            }
            try await desk.gateway.settlements.run(AuditContext(actor: .user, requestID: "req_test")) {
                try $0.payments.markUnknown(payment)
            }
            #expect(try await state() == [.unknown])
            try await desk.state("try", .payment(.init(payment: payment, outcome: .tryFailed(reason: "declined"))))
            #expect(try await state() == [.pending])
            try await desk.state("paid", .payment(.init(payment: payment, outcome: .succeeded(contract.amount))))
            try await desk.state("late", .payment(.init(payment: payment, outcome: .tryFailed(reason: "declined"))))
            #expect(try await state() == [.succeeded])
            #expect(try await desk.order(contract.order).order.anomalies.isEmpty)
        }
    }

    @Test(arguments: TestEngine.allCases, [DuplicatePolicy.refund, .hold])
    func `a second order of an owned device grants nothing and follows the policy`(
        _ engine: TestEngine, _ policy: DuplicatePolicy
    ) async throws {
        try await withDesk(on: engine, GatewayFixtureSetup(policies: OrderPolicies(duplicatePayment: policy))) { desk in
            let first = try await desk.checkout("walkie")
            let second = try await desk.checkout("walkie")
            try await desk.notify("payment.succeeded", first)
            try await desk.notify("payment.succeeded", second)
            let order = try await desk.order(second.order)
            #expect(order.order.anomalies == [.duplicateOwnership])
            #expect(order.status == (policy == .refund ? .refunded : .paid))
            let snapshot = try await desk.snapshot()
            #expect(snapshot.entitlements.map(\.source.order_id) == [first.order])
            #expect(snapshot.entitlements.map(\.perpetual) == [true])
            #expect(!snapshot.active)
            await #expect(throws: GatewayError.alreadyOwned) { try await desk.checkout("walkie") }
            try await desk.refund(first.order, currency: "USD")
            let third = try await desk.checkout("walkie")
            #expect(third.status == .pending)
        }
    }
}
