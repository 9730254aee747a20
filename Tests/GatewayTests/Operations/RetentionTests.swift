import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Retention")
struct RetentionTests {
    private static let day: Int64 = 86_400

    /// Runs the job on a node with this policy.
    private static func apply(at desk: GatewayFixture, rawDays: Int64 = 90, idempotencyDays: Int64 = 30) async throws {
        let policy = RetentionPolicy(rawDays: rawDays, idempotencyDays: idempotencyDays)
        #expect(try await desk.node(retention: policy).retention.apply() == .again(after: 3_600))
    }

    @Test(arguments: TestEngine.allCases)
    func `raw notifications are dropped after their time, their facts stay and can be replayed`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            try await desk.pass(seconds: 2 * Self.day)
            try await desk.buy(user: "bob")
            try await desk.pass(seconds: 3 * Self.day - 60)
            try await Self.apply(at: desk, rawDays: 5)
            #expect(try await desk.count("notifications WHERE body IS NOT NULL AND headers IS NOT NULL") == 2)
            try await desk.pass(seconds: 120)
            try await Self.apply(at: desk, rawDays: 5)
            #expect(try await desk.count("notifications WHERE body IS NULL AND headers IS NULL") == 1)
            #expect(try await desk.count("notifications WHERE body IS NULL AND headers IS NULL AND facts <> '[]'") == 1)
            let oldest = try #require(
                try await desk.gateway.notifications.list(nil, cursor: nil, limit: 10).items.last)
            let replayed = try await desk.gateway.notifications.replay(oldest.id.rawValue, context: .test)
            #expect(replayed.status == "processed")
            #expect(try await desk.count("grants") == 2)
            #expect(try await desk.count("notifications") == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what never verified is deleted after seven days`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            let notice = SandboxNotice(
                event_id: "forged", payment_id: try desk.payment(contract).rawValue, type: "payment.succeeded",
                amount: contract.amount, occurred_at: desk.clock.now.rawValue)
            let forged = try notice.signed(at: desk.clock.now, secret: "guessed")
            await #expect(throws: GatewayError.invalidNotification) {
                try await desk.gateway.notifications.receive(token: GatewayFixture.notifyToken("box-url"), forged)
            }
            try await desk.notify("payment.succeeded", contract)
            try await desk.pass(seconds: 7 * Self.day - 60)
            try await Self.apply(at: desk)
            #expect(try await desk.count("notifications") == 2)
            try await desk.pass(seconds: 120)
            try await Self.apply(at: desk)
            #expect(try await desk.count("notifications WHERE status = 'processed' AND body IS NOT NULL") == 1)
            #expect(try await desk.count("notifications") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an idempotency key is remembered for its days and not while it is held`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let run = try #require(try await desk.run("key").idempotency)
            try await desk.gateway.idempotency.finish(run, status: 200, answer: Data("the answer".utf8))
            try await desk.pass(seconds: 30 * Self.day - 60)
            try await Self.apply(at: desk)
            #expect(try await desk.count("idempotency_keys") == 1)
            try await desk.pass(seconds: 120)
            // A key that was made long ago and is running again now.
            let old = try #require(try await desk.run("held").idempotency)
            let held = StoredKey.of("held", caller: old.progress.holder ?? "")
            try await desk.store.write { tx in
                try tx.execute("UPDATE idempotency_keys SET created_at = 0 WHERE key = ?", held)
            }
            try await Self.apply(at: desk)
            #expect(try await desk.count("idempotency_keys WHERE key = ?", held) == 1)
            #expect(try await desk.count("idempotency_keys") == 1)
            try await desk.pass(seconds: 61)
            try await Self.apply(at: desk)
            #expect(try await desk.count("idempotency_keys") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a long list is dropped in batches, and the rest soon after`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.store.write { tx in
                try tx.execute(
                    """
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10007)
                    INSERT INTO idempotency_keys (caller, key, fingerprint, lease_until, lease_epoch, created_at)
                    SELECT 'partner/p', 'key ' || i, ?, 0, 1, 0 FROM n
                    """, Data([1]))
            }
            #expect(try await desk.gateway.retention.apply() == .again(after: 0))
            #expect(try await desk.count("idempotency_keys") == 7)
            #expect(try await desk.gateway.retention.apply() == .again(after: 3_600))
            #expect(try await desk.count("idempotency_keys") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the evidence of purchases stays`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            try await apple.attach(apple.sale())
            try await apple.desk.pass(seconds: 4_000 * Self.day)
            try await Self.apply(at: apple.desk)
            #expect(try await apple.desk.count("purchases WHERE evidence IS NOT NULL") == 1)
        }
    }
}
