import ProviderKit
import Store
import Synchronization
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

private final class Tally: Sendable {
    private let number = Atomic<Int>(0)

    var count: Int { number.load(ordering: .sequentiallyConsistent) }
    func add() { number.add(1, ordering: .sequentiallyConsistent) }
}

@Suite("Jobs: the heartbeat of every run")
struct JobHeartbeatTests {
    /// A node whose heart beats when the test lets it; no other pause ends.
    private static func node(_ desk: GatewayFixture, _ beat: Duration, _ heart: Gate) -> Gateway {
        desk.node { duration in
            if duration == beat { await heart.pass() } else { await Pauses.forever(duration) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a sync that takes longer than its lease keeps it`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            _ = try await desk.checkout(provider: "scripted")
            let (gate, heart) = (Gate(), Gate())
            desk.scripted.hold { await gate.pass() }
            let node = Self.node(desk, .seconds(15), heart)
            async let answer = node.accountReconciliation.sync("scripted", context: .test)
            await gate.arrivals()
            // Its lease is nearly over when its heart beats; the second beat follows a first that was written.
            try await desk.store.write { tx in try tx.execute("UPDATE jobs SET lease_until = 1") }
            heart.open()
            await heart.arrivals(3)
            #expect(try await desk.gateway.jobQueue.claim(.syncAccount, subject: "scripted") == nil)
            gate.open()
            #expect(try await answer == .done(checked: 1, changed: 0))
            #expect(try await desk.count("jobs") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a run that a request drives keeps its lease`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            _ = try await desk.checkout(provider: "scripted")
            let payment = try #require(desk.scripted.opened.first)
            let (id, now) = (desk.gateway.ids.make(Job.self), desk.clock.now)
            try await desk.store.write { tx in
                try tx.jobs.ensure(id, kind: JobKind.reconcilePayment.rawValue, subject: payment.rawValue, at: now)
            }
            let (gate, heart) = (Gate(), Gate())
            desk.scripted.hold { await gate.pass() }
            let node = Self.node(desk, .seconds(15), heart)
            let request = Task {
                try await node.jobQueue.performNow(.reconcilePayment, subject: payment.rawValue) {
                    (job) async throws(GatewayError) in try await node.reconciliation.reconcilePayment(job)
                }
            }
            await gate.arrivals()
            // Nor does a client who hangs up end it.
            request.cancel()
            try await desk.store.write { tx in try tx.execute("UPDATE jobs SET lease_until = 1") }
            heart.open()
            await heart.arrivals(3)
            #expect(try await desk.gateway.jobQueue.claim(.reconcilePayment, subject: payment.rawValue) == nil)
            gate.open()
            try await request.value
            #expect(try await desk.count("jobs WHERE lease_until > 0") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases, ["payments", "refunds"])
    func `a sync whose lease is lost asks about nothing more`(_ engine: TestEngine, _ what: String) async throws {
        try await withDesk(on: engine) { desk in
            for number in 0..<3 {
                let contract = try await desk.checkout(user: "user\(number)", provider: "scripted")
                guard what == "refunds" else { continue }
                let payment = try desk.payment(contract)
                try await desk.state(
                    "paid-\(number)",
                    .payment(PaymentReport(payment: payment, outcome: .succeeded(contract.amount))))
                desk.scripted.refunds(.pending)
                try await desk.refund(contract.order)
            }
            let (gate, asked) = (Gate(), Tally())
            desk.scripted.hold {
                asked.add()
                await gate.pass()
            }
            let answer = Task { try await desk.gateway.accountReconciliation.sync("scripted", context: .test) }
            await gate.arrivals()
            try await desk.store.write { tx in try tx.execute("UPDATE jobs SET lease_until = 0") }
            let holder = try #require(try await desk.gateway.jobQueue.claim(.syncAccount, subject: "scripted"))
            gate.open()
            #expect(try await answer.value == .running(holder.id))
            #expect(asked.count == 1)
            desk.scripted.refunds(.succeeded)
            await desk.gateway.worker.perform(holder)
            #expect(asked.count == 4)
            #expect(try await desk.count("jobs") == 0)
        }
    }
}
