import Foundation
import TestSupport
import Testing

@testable import Domain
@testable import Gateway
@testable import Store

@Suite("Webhooks that are stopped in the middle of a run")
struct WebhookStopTests {
    struct Act: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (GatewayFixture, WebhookView) async throws -> Void
        /// The number of messages that go out besides the first, and the result of the first delivery that failed.
        let later: Int
        let end: String?

        init(
            _ description: String, later: Int = 0, end: String? = nil,
            _ run: @escaping @Sendable (GatewayFixture, WebhookView) async throws -> Void
        ) {
            testDescription = description
            self.later = later
            self.end = end
            self.run = run
        }
    }

    static let acts = [
        Act("disable", end: "disabled") { try await $0.change($1, WebhookChange(status: .disabled)) },
        Act("delete") { desk, hook in
            try await desk.gateway.webhooks.delete(hook.id.rawValue, by: try await desk.partnerKey(), context: .test)
        },
        Act("revoke the keys", end: "forbidden") { desk, _ in
            for key in try await desk.gateway.keys.list(cursor: nil, limit: 50).items {
                try await desk.gateway.keys.revoke(key.id.rawValue, context: .test)
            }
        },
        Act("move") { try await $0.change($1, WebhookChange(url: "https://elsewhere.example/")) },
        Act("rotate the secret", later: 24) { desk, hook in
            _ = try await desk.gateway.webhooks.rotateSecret(
                of: hook.id.rawValue, by: try await desk.partnerKey(), context: .test)
        },
    ]

    @Test(arguments: TestEngine.allCases, acts)
    func `nothing starts after the act`(_ engine: TestEngine, _ act: Act) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            let gate = Gate()
            desk.endpoints.answer(GatewayFixture.hook) { _ in
                await gate.pass()
                return .replied(status: 200)
            }
            try await desk.append(many: (0..<40).map { "ord_\($0)" })
            try await desk.dispatch()
            async let run: Void = desk.perform(.deliverWebhook)
            await gate.arrivals(16)
            try await act.run(desk, hook)
            gate.open()
            try await run
            #expect(desk.endpoints.received(GatewayFixture.hook).count == 16)
            try await desk.work()
            #expect(desk.endpoints.received(GatewayFixture.hook).count == 16 + act.later)
            if let end = act.end {
                #expect(try await desk.count("deliveries WHERE state = 'failed' AND last_error = ?", end) >= 24)
                #expect(try await desk.count("webhooks WHERE failing_since IS NOT NULL") == 0)
            }
            if act.testDescription == "move" {
                #expect(desk.endpoints.received("https://elsewhere.example/").count == 24)
            }
        }
    }

    @Test(arguments: TestEngine.allCases, [200, 410, 500])
    func `what the old address answers is not held against the new one`(
        _ engine: TestEngine, _ status: Int
    ) async throws {
        try await withDesk(on: engine) { desk in
            let (hook, moved) = (try await desk.subscribe(), "https://elsewhere.example/")
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            try await desk.append("ord_a")
            try await desk.work()
            // One failure more would switch it off.
            let since = try await desk.databaseTime() - DeliverySchedule.failingLimit
            try await desk.store.write { tx in try tx.execute("UPDATE webhooks SET failing_since = ?", since) }
            let gate = Gate()
            desk.endpoints.answer(GatewayFixture.hook) { _ in
                await gate.pass()
                return .replied(status: status)
            }
            try await desk.append("ord_b")
            try await desk.dispatch()
            async let run: Void = desk.perform(.deliverWebhook)
            defer { gate.open() }
            await gate.arrivals()
            try await desk.change(hook, WebhookChange(url: moved))
            gate.open()
            try await run
            #expect(try await desk.status(hook) == "enabled")
            #expect(try await desk.count("webhooks WHERE failing_since IS NULL") == 1)
            try await desk.pass(seconds: 6)
            try await desk.work()
            #expect(try await desk.deliveries(hook).map(\.status) == ["succeeded", "succeeded"])
            #expect(desk.endpoints.received(moved).count == (status == 200 ? 1 : 2))
        }
    }

    private static func lines(_ count: Int) -> DeliveryLines {
        var lines = DeliveryLines(width: 4)
        let ids = IDSource(
            time: TimeSource { 0 }, random: RandomSource { Array(repeating: 1, count: $0) })
        _ = lines.wantsPage()
        lines.add(
            (1...count).map {
                PreparedDelivery(
                    id: ids.make(), event: ids.make(), type: EventType.orderPaid.rawValue,
                    place: AttemptPosition(nextAt: Timestamp(0), seq: Int64($0)), line: "ord_\($0)", attempts: 0,
                    body: Data())
            }, isLast: true)
        return lines
    }

    private static func result(
        _ delivery: PreparedDelivery, _ status: Int64?, _ fault: Delivery.Fault?
    ) -> DeliveryResult {
        DeliveryResult(delivery: delivery.id, attempts: 1, status: status, fault: fault, delay: fault == nil ? nil : 5)
    }

    static let ends: [(status: Int64?, fault: Delivery.Fault?, isHeld: Bool)] = [
        (200, nil, false), (410, .status, true), (500, .status, false), (nil, .timeout, true),
        (nil, .connection, false),
    ]

    @Test(arguments: ends)
    func `the first answer decides whether others start`(
        _ end: (status: Int64?, fault: Delivery.Fault?, isHeld: Bool)
    ) throws {
        var lines = Self.lines(9)
        let all = DeliveryPermit.types(Set(EventType.allCases))
        let (first, second) = (lines.wantsPermit(), lines.wantsPermit())
        #expect(first && !second)
        let started = lines.startable(by: all)
        #expect(started.map(\.place.seq) == [1, 2, 3, 4])
        let isFull = !lines.wantsPermit()
        #expect(isFull)
        lines.end(started[0], Self.result(started[0], end.status, end.fault))
        #expect(lines.isHeld == end.isHeld)
        // What waited for a permit meanwhile does not start either.
        let isWanted = lines.wantsPermit()
        #expect(isWanted)
        let next = lines.startable(by: all)
        #expect(next.map(\.place.seq) == (end.isHeld ? [] : [5]))
        #expect(!lines.isExhausted)
    }

    @Test func `a late timeout of an endpoint that took others holds nothing`() {
        var lines = Self.lines(9)
        let all = DeliveryPermit.types(Set(EventType.allCases))
        _ = lines.wantsPermit()
        let started = lines.startable(by: all)
        lines.end(started[0], Self.result(started[0], 200, nil))
        lines.end(started[1], Self.result(started[1], nil, .timeout))
        #expect(!lines.isHeld)
    }
}
