import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("The lengths of the queues")
struct QueueCensusTests {
    @Test(arguments: TestEngine.allCases)
    func `due jobs, the oldest of them and what waits for a webhook are counted`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.work()
            let census = QueueCensus(desk.gateway)
            let job = desk.gateway.ids.make(Job.self)
            let now = desk.clock.now
            try await desk.store.write { tx in
                try tx.jobs.enqueue(job, kind: JobKind.reconcilePayment.rawValue, subject: "pay_1", delay: 0, at: now)
            }
            try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            for number in 0..<3 { try await desk.append("ord_\(number)") }
            try await desk.dispatch()
            await census.take()
            #expect(census.figures.jobsDue > 0 && census.figures.deliveries == 3, "\(census.figures)")

            // A failed attempt waits for the next one.
            try await desk.perform(.deliverWebhook)
            try await desk.pass(seconds: 100)
            let late = try await Self.figures(desk)
            #expect(late.jobsDue == 1 && late.deliveries == 3 && late.oldestSeconds >= 100, "\(late)")

            // A job that a worker holds is not due, and a long backlog is counted up to the bound.
            #expect(try await desk.gateway.jobQueue.claim(.reconcilePayment, subject: "pay_1") != nil)
            var expected = QueueFigures()
            expected.deliveries = 2
            #expect(try await Self.figures(desk, deliveries: 2) == expected)
        }
    }

    private static func figures(_ desk: GatewayFixture, deliveries limit: Int64 = 100) async throws -> QueueFigures {
        let now = desk.gateway.time.reading
        return try await desk.store.report { db in
            try db.jobs.figures(of: [JobKind.reconcilePayment.rawValue], deliveries: limit, at: now)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a hold is seen by a node that did not set it`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let other = desk.node()
            #expect(!other.renewalMeter.isHeld)
            _ = try await desk.gateway.billingHold.begin(reason: "restored", context: .test)
            await QueueCensus(other).take()
            #expect(other.renewalMeter.isHeld)
            _ = try await desk.gateway.billingHold.end(acceptsUnchecked: true, context: .test)
            await QueueCensus(other).take()
            #expect(!other.renewalMeter.isHeld)
        }
    }
}
