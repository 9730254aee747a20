import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Jobs: finding what is due")
struct FindWorkTests {
    /// A provider payment, and whether somebody is to ask about it.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var payment = Payment.State.pending
        var order = Order.State.open
        var age: Int64 = 60
        let isDue: Bool
    }

    static let day: Int64 = 86_400
    static let cases = [
        Case(testDescription: "one that was made just now", age: 59, isDue: false),
        Case(testDescription: "one of an open order", isDue: true),
        Case(testDescription: "an unknown one of an open order", payment: .unknown, isDue: true),
        Case(testDescription: "one of an order that is open for long", age: 20 * day, isDue: true),
        Case(testDescription: "one that was never opened", payment: .created, age: 600, isDue: false),
        Case(testDescription: "one of an order whose time is over", age: 30 * day, isDue: false),
        Case(testDescription: "one of a closed order", order: .closed, age: 7 * day - 1, isDue: true),
        Case(testDescription: "one that hangs about a closed order", order: .closed, age: 7 * day, isDue: false),
        Case(testDescription: "a very old one of a closed order", order: .closed, age: 29 * day, isDue: false),
        Case(
            testDescription: "a very old unknown one of a closed order", payment: .unknown, order: .closed,
            age: 29 * day, isDue: true),
        Case(testDescription: "one that has ended", payment: .succeeded, order: .paid, age: day, isDue: false),
    ]

    @Test(arguments: TestEngine.allCases, cases)
    func `payments are asked about while they may still be paid`(_ engine: TestEngine, _ example: Case) async throws {
        let setup = GatewayFixtureSetup(policies: OrderPolicies(expireAfterMinutes: 30 * 1_440))
        try await withDesk(on: engine, setup) { desk in
            desk.scripted.openings(example.payment == .created ? .unavailable : nil)
            _ = try? await desk.checkout(provider: "scripted")
            let order = try await desk.onlyOrder()
            let payment = try #require(try await desk.payments(order).first).payment
            if example.order == .closed {
                _ = try await desk.gateway.orderClosing.close(order.rawValue, context: .test)
            }
            if example.payment == .unknown {
                try await desk.gateway.settlements.run(AuditContext(actor: .user, requestID: "req_test")) {
                    try $0.payments.markUnknown(payment.id)
                }
            }
            if example.order == .paid {
                try await desk.state("paid", .payment(.init(payment: payment.id, outcome: .succeeded(payment.amount))))
            }
            #expect(try await desk.payments(order).map(\.payment.state) == [example.payment])
            #expect(try await desk.order(order).order.state == example.order)
            try await desk.pass(seconds: example.age)
            for _ in 0..<2 {
                _ = try await desk.gateway.workFinder.find()
                let jobs = try await desk.count(
                    "jobs WHERE kind = 'reconcile_payment' AND subject = ?", "\(payment.id)")
                #expect(jobs == (example.isDue ? 1 : 0))
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `work of one kind that cannot be looked for keeps back no other`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            try await desk.pass(seconds: 1_800)
            try await desk.store.write { tx in try tx.execute("ALTER TABLE notifications RENAME TO hidden") }
            try await desk.work()
            #expect(try await desk.order(contract.order).status == .closed)
            let jobs = try await desk.gateway.jobs.list(.waiting, cursor: nil, limit: 50).items
            #expect(jobs.first { $0.kind == "find_work" }?.error.isEmpty == false)
            try await desk.store.write { tx in try tx.execute("ALTER TABLE hidden RENAME TO notifications") }
        }
    }
}
