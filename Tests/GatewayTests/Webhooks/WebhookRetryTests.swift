import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Further attempts of webhooks")
struct WebhookRetryTests {
    @Test(arguments: TestEngine.allCases)
    func `an event is tried ten times by the schedule`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            // Another event is taken now and then, so that the endpoint is not switched off.
            desk.endpoints.answer(GatewayFixture.hook) { received in
                received.member("subject") == "ord_bad" ? .failed(.connection) : .replied(status: 200)
            }
            try await desk.append("ord_bad")
            func attempts() -> Int {
                desk.endpoints.received(GatewayFixture.hook).count { $0.member("subject") == "ord_bad" }
            }
            try await desk.work()
            #expect(attempts() == 1)
            for (index, delay) in [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400].enumerated() {
                let margin = Int64(min(60, delay - 1))
                try await desk.pass(seconds: Int64(delay) - margin)
                try await desk.append("ord_good")
                try await desk.work()
                #expect(attempts() == index + 1, "before \(delay)")
                try await desk.pass(seconds: margin)
                try await desk.work()
                #expect(attempts() == index + 2, "after \(delay)")
            }
            let delivery = try #require(try await desk.deliveries(hook).first)
            #expect(delivery.status == "failed" && delivery.attempts == 10 && delivery.last_error == "connection")
            try await desk.pass(seconds: 30 * 86_400)
            try await desk.work()
            #expect(attempts() == 10)
            #expect(
                Set(desk.endpoints.received(GatewayFixture.hook).filter { $0.member("subject") == "ord_bad" }.map(\.id))
                    .count
                    == 1)
        }
    }

    struct Pause: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let status: Int
        let retryAfter: @Sendable (Timestamp) -> String
        let wait: Int64

        init(_ description: String, _ status: Int, _ wait: Int64, _ text: @escaping @Sendable (Timestamp) -> String) {
            testDescription = description
            self.status = status
            self.wait = wait
            retryAfter = text
        }
    }

    static let pauses = [
        Pause("seconds", 429, 120) { _ in "120" }, Pause("less than the schedule", 503, 5) { _ in "1" },
        Pause("more than a day", 502, 86_400) { _ in "999999" }, Pause("another status", 500, 5) { _ in "120" },
        Pause("nonsense", 504, 5) { _ in "soon" }, Pause("negative", 504, 5) { _ in "-60" },
        Pause("a date that is over", 503, 5) { _ in "Sun, 06 Nov 1994 08:49:37 GMT" },
        Pause("a number beyond all", 429, 86_400) { _ in "99999999999999999999999" },
    ]

    @Test(arguments: TestEngine.allCases, pauses)
    func `an endpoint may ask for patience`(_ engine: TestEngine, _ pause: Pause) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.subscribe()
            desk.endpoints.answer(
                GatewayFixture.hook, status: pause.status, retryAfter: pause.retryAfter(desk.clock.now))
            try await desk.append("ord_a")
            try await desk.work()
            let margin = min(60, pause.wait - 1)
            try await desk.pass(seconds: pause.wait - margin)
            try await desk.work()
            #expect(desk.endpoints.received(GatewayFixture.hook).count == 1)
            try await desk.pass(seconds: margin)
            try await desk.work()
            #expect(desk.endpoints.received(GatewayFixture.hook).count == 2)
        }
    }

    @Test(arguments: TestEngine.allCases, [301, 302, 307, 400, 401, 404, 500])
    func `what is not 2xx is a failure`(_ engine: TestEngine, _ status: Int) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook, status: status)
            try await desk.append("ord_a")
            try await desk.work()
            let delivery = try #require(try await desk.deliveries(hook).first)
            #expect(delivery.status == "pending" && delivery.attempts == 1 && delivery.last_error == "status")
            #expect(delivery.last_status == Int64(status))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `410 ends everything`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            for number in 0..<3 { try await desk.append("ord_\(number)") }
            try await desk.work()
            desk.endpoints.answer(GatewayFixture.hook, status: 410)
            try await desk.append("ord_last")
            try await desk.work()
            #expect(try await desk.status(hook) == "gone")
            #expect(try await desk.count("deliveries WHERE state = 'failed'") == 4)
            let count = desk.endpoints.received(GatewayFixture.hook).count
            try await desk.append("ord_later")
            try await desk.pass(seconds: 86_400)
            try await desk.work()
            #expect(desk.endpoints.received(GatewayFixture.hook).count == count)
            #expect(try await desk.count("jobs WHERE subject <> ''") == 0)
            #expect(
                try await desk.count("audit WHERE subject = ? AND action = 'webhook.disabled'", hook.id.rawValue) == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `five days of nothing but failures switch an endpoint off`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            func day() async throws {
                try await desk.append("ord_daily")
                try await desk.work()
                try await desk.pass(seconds: 86_400)
            }
            for _ in 0..<4 { try await day() }
            // One success begins the count anew.
            desk.endpoints.answer(GatewayFixture.hook, status: 200)
            try await day()
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            for _ in 0..<5 {
                try await day()
                #expect(try await desk.status(hook) == "enabled")
            }
            try await day()
            #expect(try await desk.status(hook) == "failing")
            #expect(try await desk.count("deliveries WHERE state = 'pending'") == 0)

            // Switched on again, it gets what happens from then on.
            let key = try await desk.partnerKey()
            _ = try await desk.gateway.webhooks.change(
                hook.id.rawValue, WebhookChange(status: .enabled), by: key, context: .test)
            #expect(try await desk.status(hook) == "enabled")
            let before = desk.endpoints.received(GatewayFixture.hook).count
            desk.endpoints.answer(GatewayFixture.hook, status: 200)
            try await desk.append("ord_new")
            try await desk.work()
            #expect(desk.endpoints.received(GatewayFixture.hook).count == before + 1)
        }
    }

    /// Seconds without an attempt after everything had failed for good, and what another failure makes of the endpoint.
    static let silences: [(seconds: Int64, status: String)] = [
        (86_400, "failing"), (86_400 + 3_660, "enabled"), (40 * 86_400, "enabled"),
    ]

    @Test(arguments: TestEngine.allCases, silences)
    func `a failure after a long silence begins five days of its own`(
        _ engine: TestEngine, _ silence: (seconds: Int64, status: String)
    ) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            func fail(after seconds: Int64) async throws {
                try await desk.pass(seconds: seconds)
                try await desk.append("ord_new")
                try await desk.work()
            }
            try await desk.append("ord_old")
            try await desk.work()
            for delay in DeliverySchedule.delays {
                try await desk.pass(seconds: delay)
                try await desk.work()
            }
            #expect(try await desk.deliveries(hook).map(\.status) == ["failed"])
            #expect(try await desk.status(hook) == "enabled")
            // The schedule alone is over before the limit is reached.
            try await desk.store.write { tx in
                try tx.execute("UPDATE webhooks SET failing_since = failing_since - ?", DeliverySchedule.failingLimit)
            }
            try await fail(after: silence.seconds)
            #expect(try await desk.status(hook) == silence.status)
            guard silence.status == "enabled" else { return }
            for day in 1...5 {
                try await fail(after: 86_400)
                #expect(try await desk.status(hook) == (day < 5 ? "enabled" : "failing"), "day \(day)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases, [200, 500])
    func `an attempt that was under way does not end what its partner began anew`(
        _ engine: TestEngine, _ status: Int
    ) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            try await desk.append("ord_a")
            try await desk.work()
            // The last attempt of the schedule is due.
            try await desk.store.write { tx in
                try tx.execute("UPDATE deliveries SET attempts = 9, next_at = 1")
                try tx.execute("UPDATE jobs SET run_at = 0 WHERE kind = 'retry_deliveries'")
            }
            let gate = Gate()
            desk.endpoints.answer(GatewayFixture.hook) { _ in
                await gate.pass()
                return .replied(status: status)
            }
            async let run: Void = desk.perform(.retryDeliveries)
            defer { gate.open() }
            await gate.arrivals()
            let delivery = try #require(try await desk.deliveries(hook).first)
            _ = try await desk.gateway.webhooks.redeliver(
                delivery.id.rawValue, by: try await desk.partnerKey(), context: .test)
            gate.open()
            try await run
            let hasArrived = status == 200
            let then = try #require(try await desk.deliveries(hook).first)
            #expect(then.status == (hasArrived ? "succeeded" : "pending"))
            #expect(then.attempts == (hasArrived ? 10 : 0))
            desk.endpoints.answer(GatewayFixture.hook, status: 200)
            try await desk.pass(seconds: 2)
            try await desk.work()
            let last = try #require(try await desk.deliveries(hook).first)
            #expect(last.status == "succeeded" && last.attempts == (hasArrived ? 10 : 1))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a delivery is sent again when its partner asks`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            try await desk.append("ord_a", data: #"{"n":1}"#)
            try await desk.work()
            let delivery = try #require(try await desk.deliveries(hook).first)
            #expect(delivery.status == "succeeded")
            let key = try await desk.partnerKey()
            let again = try await desk.gateway.webhooks.redeliver(delivery.id.rawValue, by: key, context: .test)
            #expect(again.status == "pending" && again.attempts == 0)
            try await desk.work()
            let received = desk.endpoints.received(GatewayFixture.hook)
            #expect(received.count == 2 && Set(received.map(\.id)).count == 1 && received[0].body == received[1].body)
            #expect(try await desk.deliveries(hook).first?.status == "succeeded")
            await expectNotFound {
                try await desk.gateway.webhooks.redeliver(
                    delivery.id.rawValue, by: try await desk.partnerKey("other"), context: .test)
            }
            _ = try await desk.gateway.webhooks.change(
                hook.id.rawValue, WebhookChange(status: .disabled), by: key, context: .test)
            await #expect(throws: GatewayError.self) {
                try await desk.gateway.webhooks.redeliver(delivery.id.rawValue, by: key, context: .test)
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an address that is refused fails without being dialled`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let hook = try await desk.subscribe()
            desk.endpoints.refuse(GatewayFixture.hook, .blockedAddress)
            try await desk.append("ord_a")
            try await desk.work()
            let delivery = try #require(try await desk.deliveries(hook).first)
            #expect(delivery.last_error == "blocked_address" && delivery.attempts == 1)
            #expect(desk.endpoints.received(GatewayFixture.hook).isEmpty)
            desk.endpoints.refuse(GatewayFixture.hook, nil)
            try await desk.pass(seconds: 6)
            try await desk.work()
            #expect(try await desk.deliveries(hook).first?.status == "succeeded")
        }
    }
}
