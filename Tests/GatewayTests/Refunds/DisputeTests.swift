import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Disputes")
struct DisputeTests {
    @Test(arguments: TestEngine.allCases)
    func `opening suspends, winning gives back`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            let before = try await desk.snapshot()
            try await desk.notify("dispute.opened", contract)
            let during = try await desk.snapshot()
            #expect(!during.active)
            #expect(during.entitlements.map(\.status) == [.suspended])
            #expect(try await desk.order(contract.order).status == .paid)
            try await desk.notify("dispute.won", contract)
            let after = try await desk.snapshot()
            #expect(after.entitlements == before.entitlements)
            #expect(
                try await desk.events(contract.order.rawValue).suffix(2) == ["dispute.opened", "dispute.closed"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `losing revokes and counts as money gone`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            try await desk.notify("dispute.opened", contract)
            try await desk.notify("dispute.lost", contract)
            let order = try await desk.order(contract.order)
            #expect(order.status == .refunded)
            #expect(order.order.lost == 3990)
            #expect(try await desk.grants(contract.order).map(\.revocation?.reason) == [.dispute])
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order) }
            // In the same second the loss counts; a later decision always counts.
            try await desk.notify("dispute.won", contract)
            #expect(try await desk.order(contract.order).status == .refunded)
            try await desk.pass(seconds: 60)
            try await desk.notify("dispute.won", contract, eventID: "appeal")
            let won = try await desk.order(contract.order)
            #expect(won.status == .paid && won.order.lost == 0 && won.order.anomalies.isEmpty)
            #expect(try await desk.snapshot().active)
            try await desk.pass(seconds: 60)
            try await desk.notify("dispute.opened", contract, eventID: "again")
            #expect(try await desk.snapshot().entitlements.map(\.status) == [.suspended])
            // An open dispute reserves its amount, so that no refund of it is accepted.
            await #expect(throws: GatewayError.refundExceedsCaptured) { try await desk.refund(contract.order, 1) }
            #expect(
                try await desk.events(contract.order.rawValue).filter { $0.hasPrefix("dispute.") } == [
                    "dispute.opened", "dispute.closed", "dispute.closed", "dispute.opened",
                ])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a dispute that was open is opened again within the second of its end`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            for (index, type) in ["opened", "won", "opened", "lost", "opened", "won"].enumerated() {
                for repetition in 1...2 {
                    try await desk.notify("dispute.\(type)", contract, eventID: "event \(index)")
                    let state = try await desk.order(contract.order).disputes.map(\.status)
                    #expect(state == [type == "opened" ? "open" : type], "\(index), time \(repetition)")
                }
            }
            #expect(try await desk.snapshot().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a dispute lost after a partial refund never takes more than was captured`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            try await desk.refund(contract.order, 1000)
            try await desk.notify("dispute.lost", contract)
            let record = try #require(try await desk.payments(contract.order).first)
            #expect(record.lost + record.refunding == record.captured)
            #expect(record.refunded <= record.refunding)
            let order = try await desk.order(contract.order)
            #expect(order.status == .refunded)
            #expect(order.order.anomalies == [.contradictingFact])
            #expect(try await !desk.snapshot().active)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a dispute of a part, in the right currency only`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            try await desk.notify("dispute.opened", contract, amount: GatewayFixture.money(500, "USD"))
            let told = try await desk.order(contract.order)
            #expect(told.order.anomalies == [.disputeCurrency])
            #expect(told.disputes.map(\.amount) == [contract.amount])
            #expect(try await desk.snapshot().entitlements.map(\.status) == [.suspended])
            try await desk.pass(seconds: 60)
            try await desk.notify("dispute.lost", contract, amount: GatewayFixture.money(500))
            let order = try await desk.order(contract.order)
            #expect(order.status == .partiallyRefunded)
            #expect(order.order.lost == 500)
            #expect(try await !desk.snapshot().active)
            #expect(try await desk.refund(contract.order).refund.amount == GatewayFixture.money(3490))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a dispute of more than was paid is one of all of it`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            try await desk.notify("dispute.opened", contract, amount: GatewayFixture.money(4012))
            #expect(try await desk.order(contract.order).order.anomalies == [.amountMismatch])
            #expect(try await !desk.snapshot().active)
            try await desk.notify("dispute.lost", contract, amount: GatewayFixture.money(4012))
            let order = try await desk.order(contract.order)
            #expect(order.status == .refunded && order.order.lost == 3990)
            #expect(try await desk.payments(contract.order).first?.lost == 3990)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the grant waits until the last of two disputes has ended`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            let payment = try desk.payment(contract)
            func dispute(_ name: String, _ outcome: DisputeOutcome) async throws {
                try await desk.state(
                    "\(name) \(outcome)",
                    .dispute(
                        .init(payment: payment, reference: name, outcome: outcome, amount: GatewayFixture.money(100))))
            }
            try await desk.state("paid", .payment(.init(payment: payment, outcome: .succeeded(contract.amount))))
            try await dispute("first", .opened)
            try await dispute("second", .opened)
            try await dispute("first", .won)
            #expect(try await !desk.snapshot().active)
            try await dispute("second", .won)
            #expect(try await desk.snapshot().active)
            #expect(try await desk.order(contract.order).disputes.map(\.status) == ["won", "won"])
        }
    }

    /// As after a crash between the call and its answer.
    @Test(arguments: TestEngine.allCases, [true, false])
    func `a refund whose money a lost dispute took has failed only where it was never sent`(
        _ engine: TestEngine, _ wasSent: Bool
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(provider: "scripted")
            let payment = try desk.payment(contract)
            try await desk.state("paid", .payment(.init(payment: payment, outcome: .succeeded(contract.amount))))
            desk.scripted.refunds(.pending)
            try await desk.refund(contract.order, 90)
            try await desk.store.write { tx in
                try tx.execute("UPDATE refunds SET state = 'created', sent_at = \(wasSent ? "sent_at" : "NULL")")
            }
            try await desk.state(
                "lost", .dispute(.init(payment: payment, reference: "d", outcome: .lost, amount: contract.amount)))
            desk.scripted.refunds(.succeeded)
            try await desk.pass(seconds: 3_600)
            try await desk.work()
            #expect(try await desk.refunds(contract.order).map(\.state) == [wasSent ? .succeeded : .failed])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `units of a lost dispute are taken back`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy("coins", quantity: 2)
            try await desk.notify("dispute.lost", contract)
            #expect(try await desk.snapshot().sandbox_balances == ["coins": 0, "stars": 0])
        }
    }
}
