import ServiceLifecycle
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Webhooks: dead endpoints and healthy ones")
struct WebhookLaneTests {
    @Test(arguments: TestEngine.allCases)
    func `however many endpoints hang, a healthy one is served at once`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let (dead, healthy) = ((0..<6).map { "https://dead.example/\($0)" }, "https://healthy.example/")
            for url in dead { try await desk.subscribe(url) }
            try await desk.subscribe(healthy)
            for url in dead { desk.endpoints.answer(url) { _ in .failed(.timeout) } }
            try await desk.append("ord_first")
            try await desk.work()
            #expect(try await desk.count("webhooks WHERE failing_since IS NOT NULL") == 6)
            try await desk.pass(seconds: DeliverySchedule.failingGrace + 2)

            let before = dead.map { desk.endpoints.received($0).count }
            // From now on they hang for as long as the test lasts.
            let gate = Gate()
            for url in dead {
                desk.endpoints.answer(url) { _ in
                    await gate.pass()
                    return .failed(.timeout)
                }
            }
            let lanes = JobRunner.Lane.delivering(widths: (first: 2, further: 2, failing: 2))
            let group = ServiceGroup(
                services: [JobRunner(gateway: desk.gateway, lanes: lanes)], logger: desk.gateway.logger)
            let running = Task { try await group.run() }
            for number in 0..<3 {
                try await desk.append("ord_\(number)")
                try await desk.dispatch()
                await desk.endpoints.arrival(of: number + 2, at: healthy)
            }
            await gate.arrivals(2)
            let reached = zip(dead, before).filter { desk.endpoints.received($0).count > $1 }
            #expect(reached.count <= 2, "a lane of two held \(reached)")
            await group.triggerGracefulShutdown()
            gate.open()
            try await running.value
            #expect(desk.endpoints.received(healthy).count == 4)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an endpoint that lets its first messages hang gives its place back and loses nothing`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook) { _ in .failed(.timeout) }
            try await desk.append(many: (0..<60).map { "ord_\($0 / 2)" })
            try await desk.dispatch()
            try await desk.perform(.deliverWebhook)
            #expect((1...16).contains(desk.endpoints.received(GatewayFixture.hook).count))
            #expect(try await desk.count("jobs WHERE kind = 'deliver_webhook' AND lease_until = 0") == 1)
            desk.endpoints.answer(GatewayFixture.hook, status: 200)
            try await desk.work()
            try await desk.pass(seconds: 6)
            try await desk.work()
            #expect(try await desk.deliveries(hook).count(where: { $0.status == "succeeded" }) == 60)
            #expect(try await desk.count("webhooks WHERE failing_since IS NULL") == 1)
        }
    }

    static let states: [(past: Int64?, isHealthy: Bool)] = [
        (nil, true), (0, true), (DeliverySchedule.failingGrace - 3, true), (DeliverySchedule.failingGrace + 3, false),
        (86_400, false),
    ]

    @Test(arguments: TestEngine.allCases, states)
    func `an endpoint is served apart once it has failed for a while`(
        _ engine: TestEngine, _ state: (past: Int64?, isHealthy: Bool)
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.subscribe()
            try await desk.append("ord_a")
            try await desk.dispatch()
            if let past = state.past {
                let since = try await desk.databaseTime() - past
                try await desk.store.write { tx in try tx.execute("UPDATE webhooks SET failing_since = ?", since) }
            }
            let grace = DeliverySchedule.failingGrace
            let (mine, other): (WebhookHealth, WebhookHealth) =
                state.isHealthy
                ? (.healthy(grace: grace), .failing(grace: grace)) : (.failing(grace: grace), .healthy(grace: grace))
            try await desk.perform(.deliverWebhook, of: other)
            #expect(desk.endpoints.received(GatewayFixture.hook).isEmpty)
            try await desk.perform(.deliverWebhook, of: mine)
            #expect(desk.endpoints.received(GatewayFixture.hook).count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a hanging message keeps only its own subject, however much of it waits`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.subscribe()
            let gate = Gate()
            desk.endpoints.answer(GatewayFixture.hook) { received in
                if received.member("subject") == "ord_slow" && received.member("sequence") == "1" { await gate.pass() }
                return .replied(status: 200)
            }
            // The first page is half of the subject that hangs.
            try await desk.append(many: Array(repeating: "ord_slow", count: 101) + (0..<300).map { "ord_\($0)" })
            async let work: Void = desk.work()
            await desk.endpoints.arrival(of: 301, at: GatewayFixture.hook)
            #expect(desk.endpoints.received(GatewayFixture.hook).count { $0.member("subject") == "ord_slow" } == 1)
            gate.open()
            try await work
            let slow = desk.endpoints.received(GatewayFixture.hook).filter { $0.member("subject") == "ord_slow" }
            #expect(slow.map { $0.member("sequence") } == (1...101).map(String.init))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a further attempt that hangs keeps no other`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            let gate = Gate()
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            try await desk.append(many: (0..<450).map { "ord_\($0)" })
            try await desk.work()
            let before = desk.endpoints.received(GatewayFixture.hook).count
            desk.endpoints.answer(GatewayFixture.hook) { received in
                if received.member("seq") == "1" { await gate.pass() }
                return .replied(status: 200)
            }
            // All of them are due at once, however long the first attempts took.
            try await desk.store.write { tx in
                try tx.execute("UPDATE deliveries SET next_at = 1")
                try tx.execute("UPDATE jobs SET run_at = 0 WHERE kind = 'retry_deliveries'")
            }
            async let work: Void = desk.work()
            await desk.endpoints.arrival(of: before + 450, at: GatewayFixture.hook)
            gate.open()
            try await work
            #expect(try await desk.count("deliveries WHERE state = 'succeeded' AND attempts > 1") == 450)
            #expect(desk.endpoints.received(GatewayFixture.hook).count == before + 450)
            #expect(try await desk.status(hook) == "enabled")
        }
    }
}
