import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Moving the clock")
struct ClockMoveTests {
    private static let day: Int64 = 86_400

    private static func withMovable(
        on engine: TestEngine, _ body: (GatewayFixture) async throws -> Void
    ) async throws {
        var setup = GatewayFixtureSetup()
        setup.isDevelopment = true
        try await withDesk(on: engine, setup, body)
    }

    @discardableResult
    private static func advance(
        _ desk: GatewayFixture, _ seconds: Int64, at node: Gateway? = nil, context: CallContext = .test
    ) async throws -> ClockView {
        desk.clock.tick()
        return try await (node ?? desk.gateway).businessClock.move(
            ClockRequest(advance_seconds: seconds), context: context)
    }

    @Test(
        arguments: [
            (10, [nil, nil], 20, 20), (10, [15, 12], 20, 12), (10, [10, 9], 20, 20), (10, [30], 20, 20),
            (20, [25], 20, nil),
            (10, [20], 20, 20), (25, [nil], 20, nil),
        ] as [(Int64, [Int64?], Int64, Int64?)])
    func `a step goes to the least due time, at most to the end`(
        _ now: Int64, _ due: [Int64?], _ limit: Int64, _ next: Int64?
    ) {
        let found = ClockGoal.nextStep(
            after: Timestamp(now), due: due.map { $0.map { Timestamp($0) } }, limit: Timestamp(limit))
        #expect(found == next.map { Timestamp($0) })
    }

    @Test func `a goal is kept by its idempotency key`() throws {
        for goal in [ClockGoal(time: Timestamp(5), offset: 3), ClockGoal(time: Timestamp(5), offset: nil)] {
            #expect(ClockGoal(resource: goal.resource) == goal)
        }
        for text in ["", "ord_1", "clock/x/1", "clock/1"] { #expect(ClockGoal(resource: text) == nil) }
    }

    @Test(arguments: TestEngine.allCases)
    func `an order closes and a boundary is announced at its own second`(_ engine: TestEngine) async throws {
        try await Self.withMovable(on: engine) { desk in
            try await desk.buy()
            let open = try await desk.checkout("coins")
            let end = try #require(try await desk.snapshot().next_change_at)
            let moved = try await Self.advance(desk, 40 * Self.day)
            #expect(moved.pending == 0 && moved.jobs_run > 0 && moved.offset_seconds == 40 * Self.day)
            #expect(desk.gateway.time.now == desk.clock.now.adding(days: 40))
            let closed = try await desk.order(open.order)
            #expect(closed.status == .closed && closed.order.closedAt == open.expiresAt)
            let told = try await desk.store.read { db in
                try db.rows("SELECT at FROM events WHERE type = 'entitlements.changed' ORDER BY at DESC").map {
                    try $0.int("at")
                }
            }
            #expect(told.first == end.rawValue && told.count == 2)
            #expect(try await desk.count("events WHERE seq IS NULL") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an endpoint that fails gets every attempt at its time`(_ engine: TestEngine) async throws {
        try await Self.withMovable(on: engine) { desk in
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            let webhook = try await desk.subscribe(types: [.orderOpened])
            _ = try await desk.checkout()
            try await Self.advance(desk, 6 * Self.day)
            let attempts = desk.endpoints.received(GatewayFixture.hook)
            #expect(attempts.count == 10 && Set(attempts.map(\.body)).count == 1)
            // The window of the signature is real time.
            #expect(Set(attempts.map { $0.headers["webhook-timestamp"] }) == [String(desk.clock.now.rawValue)])
            #expect(try await desk.deliveries(webhook).map(\.status) == ["failed"])
            try await Self.advance(desk, 10 * Self.day)
            #expect(desk.endpoints.received(GatewayFixture.hook).count == 10)
        }
    }

    /// The life of a desk: what is sold, expires, is announced, delivered and forgotten in 90 days.
    private static func life(on engine: TestEngine, steps: Int64) async throws -> [String] {
        var found: [String] = []
        try await withMovable(on: engine) { desk in
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            try await desk.subscribe(types: [.orderOpened])
            let start = desk.clock.now.rawValue
            try await desk.buy()
            try await desk.buy("basic_days", days: 7)
            _ = try await desk.checkout("coins", user: "bob")
            for _ in 0..<steps { try await advance(desk, 90 * day / steps) }
            found = try await desk.store.read { db in
                let events = try db.rows("SELECT type, at FROM events ORDER BY at, type, data").map {
                    "\(try $0.text("type")) \(try $0.int("at") - start)"
                }
                let orders = try db.rows("SELECT state, closed_at, paid_at FROM orders ORDER BY id").map {
                    "\(try $0.text("state")) \((try $0.optionalInt("closed_at") ?? start) - start)"
                }
                let deliveries = try db.rows("SELECT state, attempts, done_at FROM deliveries ORDER BY id").map {
                    "\(try $0.text("state")) \(try $0.int("attempts")) \((try $0.optionalInt("done_at") ?? start) - start)"
                }
                let raw = try db.rows("SELECT id FROM notifications WHERE body IS NOT NULL").count
                return events + orders + deliveries + ["\(raw) raw notifications"]
            }
            found.append("\(desk.endpoints.received(GatewayFixture.hook).count) attempts")
        }
        return found
    }

    @Test(arguments: TestEngine.allCases)
    func `ninety days at once are ninety advances of a day`(_ engine: TestEngine) async throws {
        let once = try await Self.life(on: engine, steps: 1)
        let daily = try await Self.life(on: engine, steps: 90)
        #expect(once == daily && once.count > 10, "\(once) \(daily)")
    }

    @Test(arguments: TestEngine.allCases)
    func `a move that died goes on from its last step`(_ engine: TestEngine) async throws {
        try await Self.withMovable(on: engine) { desk in
            try await desk.buy()
            let open = try await desk.checkout("coins")
            let now = desk.clock.now
            let goal = now.adding(days: 40)
            // The process of this move ended after a step, before it ran what was due there.
            try await desk.store.write { tx in
                let held = try tx.clock.begin(lease: 10, at: ClockReading(real: now, business: now))
                _ = try tx.clock.stand(at: open.expiresAt, in: held.move, lease: 10, at: now)
            }
            if engine == .postgres { try await desk.pass(seconds: 11) }
            let successor = desk.node()
            try await successor.businessClock.open()
            #expect(successor.time.now >= open.expiresAt)
            let moved = try await successor.businessClock.move(ClockRequest(to: goal), context: .test)
            #expect(moved.pending == 0 && moved.now == goal)
            #expect(try await desk.order(open.order).status == .closed)
            #expect(try await desk.count("events WHERE type = 'entitlements.changed'") == 2)
            #expect(try await desk.count("events WHERE type = 'order.closed'") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a key goes on to the goal of its first run`(_ engine: TestEngine) async throws {
        try await Self.withMovable(on: engine) { desk in
            let first = try await desk.run("key")
            try await Self.advance(desk, 10 * Self.day, context: first)
            // The answer was never stored: the next run under the key finds the goal reached.
            try await desk.crash()
            let again = try await Self.advance(desk, 10 * Self.day, context: try await desk.run("key"))
            #expect(again.offset_seconds == 10 * Self.day && again.jobs_run == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `nobody else gets a job while the clock is moved`(_ engine: TestEngine) async throws {
        try await Self.withMovable(on: engine) { desk in
            let (id, now) = (desk.gateway.ids.make(Job.self), desk.clock.now)
            try await desk.store.write { tx in
                try tx.jobs.enqueue(id, kind: JobKind.syncAccount.rawValue, subject: "x", delay: 0, at: now)
                _ = try tx.clock.begin(lease: 10, at: ClockReading(real: now, business: now))
            }
            #expect(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 5).isEmpty)
            #expect(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 5, inMove: true).map(\.id) == [id])
            try await desk.crash()
            try await desk.pass(seconds: 10)
            #expect(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 5).map(\.id) == [id])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a move that lost the clock changes nothing more`(_ engine: TestEngine) async throws {
        try await Self.withMovable(on: engine) { desk in
            let now = desk.clock.now
            let reading = ClockReading(real: now, business: now)
            let lost = try await desk.store.write { tx in try tx.clock.begin(lease: 0, at: reading) }
            let held = try await desk.store.write { tx in try tx.clock.begin(lease: 10, at: reading) }
            await #expect(throws: StoreError.self) {
                try await desk.store.write { tx in
                    try tx.clock.stand(at: now.adding(days: 9), in: lost.move, lease: 10, at: now)
                }
            }
            #expect(try await desk.store.read { db in try db.clock.find() } == held.state)
        }
    }

    @Test func `two nodes have one time`() async throws {
        try await Self.withMovable(on: .postgres) { desk in
            let store = try desk.database.openAnother()
            let other = desk.node(store: store)
            try await Self.advance(desk, 30 * Self.day)
            #expect(try await other.businessClock.read().offset_seconds == 30 * Self.day)
            try await Self.advance(desk, 30 * Self.day, at: other)
            #expect(try await desk.gateway.businessClock.read().offset_seconds == 60 * Self.day)
            let contract = try await desk.checkout(at: other)
            #expect(contract.expiresAt == desk.clock.now.adding(days: 60).adding(seconds: 1_800))
            await store.engine.close()
        }
    }
}
