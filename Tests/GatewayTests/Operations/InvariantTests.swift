import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Invariants")
struct InvariantTests {
    /// A change behind the gateway's back, and the invariant that it breaks.
    struct Tampering: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let sql: String
        let detail: String
    }

    static let tamperings = [
        Tampering(
            testDescription: "a payment's sum", sql: "UPDATE refunds SET amount = amount - 1",
            detail: "a payment's sums are not those of its refunds and disputes"),
        Tampering(
            testDescription: "a lost sum without a dispute",
            sql: "UPDATE payments SET lost = 1 WHERE captured > refunding",
            detail: "a payment's sums are not those of its refunds and disputes"),
        Tampering(
            testDescription: "a refund's currency", sql: "UPDATE refunds SET currency = 'USD'",
            detail: "a refund or dispute is in another currency than its payment"),
        Tampering(
            testDescription: "an order's price", sql: "UPDATE orders SET amount = amount + 1 WHERE state = 'paid'",
            detail: "a paid order has no succeeded payment of its own with its amount and currency"),
        Tampering(
            testDescription: "a paid order without a payment", sql: "UPDATE orders SET paid_by = NULL",
            detail: "a paid order has no succeeded payment of its own with its amount and currency"),
        Tampering(
            testDescription: "an open order that names a payment",
            sql: "UPDATE orders SET state = 'open', paid_at = NULL",
            detail: "an order that is not paid names a payment that paid it"),
        Tampering(
            testDescription: "a processor without a claim", sql: "UPDATE payments SET processor = 'box-qr'",
            detail: "a payment has a processor and no claim of a token, or a claim and no processor"),
        Tampering(
            testDescription: "a gap in a subject's events", sql: "DELETE FROM events WHERE type = 'order.opened'",
            detail: "a subject's events are not numbered 1 to n without a gap"),
        Tampering(
            testDescription: "a paid order without its event",
            sql: "UPDATE events SET type = 'order.closed' WHERE type = 'order.paid'",
            detail: "a paid order has no order.paid event"),
        Tampering(
            testDescription: "a user's version", sql: "UPDATE user_states SET version = version + 1",
            detail: "a user's version is not the number of its entitlements.changed events"),
        Tampering(
            testDescription: "a balance", sql: "UPDATE balances SET amount = amount + 1",
            detail: "a balance is not the sum of its ledger"),
        Tampering(
            testDescription: "a ledger without a balance", sql: "DELETE FROM balances",
            detail: "a ledger has no balance"),
        Tampering(
            testDescription: "a grant of an order that is not paid",
            sql: "UPDATE orders SET state = 'closed', paid_at = NULL, paid_by = NULL",
            detail: "an order of several grants, or a grant of an order that is not paid"),
        Tampering(
            testDescription: "a notification processed at no time",
            sql: "UPDATE notifications SET processed_at = NULL WHERE status = 'processed'",
            detail: "a notification is marked processed without a time"),
        Tampering(
            testDescription: "a changed audit entry", sql: "UPDATE audit SET after = 'paid' WHERE position = 1",
            detail: "the audit chain is broken"),
        Tampering(
            testDescription: "a removed audit entry", sql: "DELETE FROM audit WHERE position = 2",
            detail: "the audit chain is broken"),
        Tampering(
            testDescription: "a grant that should be there",
            sql: "UPDATE grants SET revoked_at = 1, revoked_by = 'refund' WHERE revoked_at IS NULL",
            detail: "what the order granted is not what its facts make it"),
        Tampering(
            testDescription: "a grant that came back", sql: "UPDATE grants SET revoked_at = NULL, revoked_by = NULL",
            detail: "what the order granted is not what its facts make it"),
        Tampering(
            testDescription: "a suspended grant without a dispute", sql: "UPDATE grants SET suspended = 1",
            detail: "what the order granted is not what its facts make it"),
        Tampering(
            testDescription: "a payment that came back from its end",
            sql: """
                INSERT INTO order_timeline (order_id, position, at, type, detail)
                SELECT order_id, position + 100, at, 'payment.pending', detail FROM order_timeline
                WHERE type = 'payment.succeeded'
                """,
            detail: "its history has a step that no table knows"),
        Tampering(
            testDescription: "an order that was paid twice",
            sql: """
                INSERT INTO order_timeline (order_id, position, at, type, detail)
                SELECT order_id, position + 100, at, type, detail FROM order_timeline WHERE type = 'order.paid'
                """,
            detail: "its history has a step that no table knows"),
        Tampering(
            testDescription: "a refund that bounced and succeeded",
            sql: """
                INSERT INTO order_timeline (order_id, position, at, type, detail)
                SELECT t.order_id, t.position + n.step, t.at, n.type, t.detail FROM order_timeline t
                CROSS JOIN (SELECT 100 AS step, 'refund.failed' AS type UNION ALL SELECT 101, 'refund.succeeded') n
                WHERE t.type = 'refund.succeeded'
                """,
            detail: "its history has a step that no table knows"),
        Tampering(
            testDescription: "a refund that stands where nothing led it", sql: "UPDATE refunds SET state = 'reversed'",
            detail: "it stands elsewhere than its history leads"),
        Tampering(
            testDescription: "a paid order that is open again",
            sql: "UPDATE orders SET state = 'open', paid_at = NULL, paid_by = NULL",
            detail: "it stands elsewhere than its history leads"),
        Tampering(
            testDescription: "a refund without an intent",
            sql: "DELETE FROM order_timeline WHERE type = 'refund.created'",
            detail: "a payment or refund has no intent before everything else"),
        Tampering(
            testDescription: "a payment whose intent came later",
            sql: "UPDATE order_timeline SET position = position + 100 WHERE type = 'payment.created'",
            detail: "a payment or refund has no intent before everything else"),
        Tampering(
            testDescription: "a boundary that is left out",
            sql: "UPDATE user_states SET next_change_at = next_change_at + 1",
            detail: "the boundary that is announced next is not the one that follows from the grants"),
        Tampering(
            testDescription: "a boundary that nobody waits for", sql: "UPDATE user_states SET next_change_at = NULL",
            detail: "the boundary that is announced next is not the one that follows from the grants"),
        Tampering(
            testDescription: "a grant that ends at another time", sql: "UPDATE grants SET days = days + 1",
            detail: "the boundary that is announced next is not the one that follows from the grants"),
        Tampering(
            testDescription: "money that went back and is held",
            sql: "UPDATE payments SET refunded = refunded - 1 WHERE refunded > 0",
            detail: "what payments hold of a currency is not what orders were paid less what went back"),
        Tampering(
            testDescription: "a sale in another currency", sql: "UPDATE orders SET currency = 'USD' WHERE amount > 0",
            detail: "what payments hold of a currency is not what orders were paid less what went back"),
    ]

    @Test(arguments: TestEngine.allCases)
    func `an intent whose job has given up is found`(_ engine: TestEngine) async throws {
        var setup = GatewayFixtureSetup()
        setup.checksInvariants = false
        try await withDesk(on: engine, setup) { desk in
            let contract = try await desk.buy()
            desk.line.set(.refund, .lostReply)
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.refund(contract.order) }
            #expect(try await InvariantCheck(store: desk.store).run() == [])
            let refund = try #require(try await desk.refunds(contract.order).first)
            let job = desk.gateway.ids.make(Job.self)
            try await desk.store.write { tx in
                try tx.jobs.ensure(
                    job, kind: JobKind.reconcileRefund.rawValue, subject: refund.id.rawValue, at: desk.clock.now)
            }
            #expect(try await InvariantCheck(store: desk.store).run() == [])
            try await desk.store.write { tx in try tx.execute("UPDATE jobs SET state = 'quarantined'") }
            let found = try await InvariantCheck(store: desk.store).run()
            #expect(found.map(\.invariant) == [7] && found.map(\.subject) == [refund.id.rawValue])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a boundary that was crossed without a word is found`(_ engine: TestEngine) async throws {
        var setup = GatewayFixtureSetup()
        setup.checksInvariants = false
        try await withDesk(on: engine, setup) { desk in
            try await desk.buy("basic_days", days: 7)
            try await desk.buy("vip_month")
            desk.clock.advance(days: 8)
            try await desk.work()
            #expect(try await InvariantCheck(store: desk.store).run() == [])
            desk.clock.advance(days: 40)
            // What somebody does who takes the waiting boundary for told.
            try await desk.store.write { tx in try tx.execute("UPDATE user_states SET next_change_at = NULL") }
            let found = try await InvariantCheck(store: desk.store).run()
            #expect(found.map(\.invariant) == [16])
        }
    }

    @Test(arguments: TestEngine.allCases, tamperings)
    func `every rule finds what breaks it`(_ engine: TestEngine, _ tampering: Tampering) async throws {
        var setup = GatewayFixtureSetup()
        setup.checksInvariants = false
        try await withDesk(on: engine, setup) { desk in
            try await MainScenario.play(at: desk)
            let before = try await InvariantCheck(store: desk.store).run()
            #expect(before.isEmpty)
            try await desk.unlockAudit()
            let touched = try await desk.store.write { tx in try tx.execute(tampering.sql) }
            #expect(touched > 0)
            let found = try await InvariantCheck(store: desk.store).run()
            #expect(found.contains { $0.detail == tampering.detail })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `closures that run twice have the same result`(_ engine: TestEngine) async throws {
        var rehearsed = GatewayFixtureSetup()
        rehearsed.rehearse = true
        var results: [[Outcome]] = []
        for setup in [GatewayFixtureSetup(), rehearsed] {
            try await withDesk(on: engine, setup) { desk in
                results.append(try await MainScenario.play(at: desk))
                #expect(try await desk.count("idempotency_keys") == 1)
                #expect(try await desk.count("orders") == 4)
            }
        }
        #expect(results.count == 2 && results.first == results.last)
    }
}

/// The main job: paid, refunded in part and whole, disputed, credited, free.
enum MainScenario {
    @discardableResult
    static func play(at desk: GatewayFixture) async throws -> [Outcome] {
        let kept = try await desk.checkout(context: try await desk.run("main"))
        try await desk.notify("payment.succeeded", kept)
        try await desk.refund(kept.order, 1000)
        let refunded = try await desk.buy("vip_year")
        try await desk.refund(refunded.order)
        let coins = try await desk.buy("coins", quantity: 2)
        try await desk.notify("dispute.opened", coins)
        try await desk.notify("dispute.won", coins)
        let free = try await desk.checkout("trial", user: "bob")
        var outcomes: [Outcome] = []
        for contract in [kept, refunded, coins, free] { outcomes.append(try await desk.outcome(contract.order)) }
        return outcomes
    }
}
