import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Money beside a payment")
struct SecondPaymentTests {
    @Test(arguments: TestEngine.allCases, [DuplicatePolicy.refund, .hold])
    func `a success under another reference is a second payment`(
        _ engine: TestEngine, _ policy: DuplicatePolicy
    ) async throws {
        try await withDesk(on: engine, GatewayFixtureSetup(policies: OrderPolicies(duplicatePayment: policy))) { desk in
            let contract = try await desk.checkout("coins", provider: "scripted")
            let payment = try desk.payment(contract)
            func paid(_ event: String, _ reference: String?) async throws {
                try await desk.state(
                    event,
                    .payment(.init(payment: payment, outcome: .succeeded(contract.amount), reference: reference)))
            }
            // The first money is the payment's, whatever reference it was opened with.
            try await paid("first", "trade-1")
            try await paid("again", "trade-1")
            try await paid("without", nil)
            #expect(try await desk.order(contract.order).order.anomalies.isEmpty)
            try await paid("second", "trade-2")
            try await paid("second again", "trade-2")
            try await desk.state(
                "other", .payment(.init(payment: payment, outcome: .cancelled, reference: "trade-3")))
            let order = try await desk.order(contract.order)
            #expect(order.status == .paid && order.order.anomalies == [.duplicatePayment])
            #expect(try await desk.snapshot().balances == ["coins": 100, "stars": 1])
            let payments = try await desk.payments(contract.order).map(\.payment)
            #expect(payments.map(\.state) == [.succeeded, .succeeded])
            #expect(payments.map(\.reference) == ["trade-1", "trade-2"])
            #expect(payments.map(\.number) == [payment, payment])
            let refunds = try await desk.refunds(contract.order)
            #expect(refunds.map(\.payment) == (policy == .refund ? [payments[1].id] : []))
            #expect(refunds.allSatisfy { $0.state == .succeeded })
        }
    }

    @Test(arguments: TestEngine.allCases, Mismatch.Act.allCases)
    func `an admin accepts another amount or gives it back`(_ engine: TestEngine, _ act: Mismatch.Act) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            let payment = try desk.payment(contract)
            let came = GatewayFixture.money(4025)
            for event in ["once", "again"] {
                try await desk.state(
                    event, .payment(.init(payment: payment, outcome: .succeeded(came), reference: "trade-1")))
            }
            let id = contract.order.rawValue
            let shown = try #require(try await desk.gateway.orders.find(id).mismatches)
            #expect(shown.map(\.n) == [1] && shown.map(\.amount) == [came] && shown.map(\.state) == ["open"])
            await #expect(throws: GatewayError.notFound) {
                try await desk.gateway.mismatches.settle(id, 2, act, reason: "fee", context: .test)
            }
            let done = try await desk.gateway.mismatches.settle(id, 1, act, reason: "fee", context: .test)
            #expect(done.mismatches?.map(\.state) == [act.state.rawValue])
            #expect(done.status == (act == .accept ? .paid : .open))
            #expect(done.order.charged == (act == .accept ? came : nil))
            #expect(done.refunds.map(\.amount) == (act == .accept ? [] : [came]))
            #expect(try await desk.snapshot().active == (act == .accept))
            await #expect(throws: (any Error).self) {
                try await desk.gateway.mismatches.settle(id, 1, .giveBack, reason: "again", context: .test)
            }
            try await desk.work()
            if act == .accept {
                await #expect(throws: GatewayError.refundExceedsCaptured) {
                    try await desk.refund(contract.order, 4026)
                }
                #expect(try await desk.payments(contract.order).map(\.payment.state) == [.cancelled, .succeeded])
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the other attempts of a paid order are cancelled`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let first = try await desk.checkout(provider: "box-url")
            let second = try await desk.retry(first.order, provider: "scripted")
            let third = try await desk.retry(first.order, provider: "box-qr")
            let payment = try desk.payment(second)
            try await desk.state("paid", .payment(.init(payment: payment, outcome: .succeeded(second.amount))))
            try await desk.work()
            let states = try await desk.payments(first.order).map(\.payment.state)
            #expect(states == [.cancelled, .succeeded, .cancelled])
            try await desk.notify("payment.succeeded", third)
            #expect(try await desk.order(first.order).order.anomalies == [.duplicatePayment])
        }
    }
}
