import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// The table of `docs/domain.md` section 11, with business time 100 days ahead.
@Suite("The two clocks")
struct TwoClocksTests {
    private static let offset: Int64 = 100 * 86_400

    /// A column, and the time that it has after the life of the test.
    private struct Column: Sendable {
        let place: String
        var isReal = false
        /// Seconds after the present time.
        var later: Int64 = 0
        /// True where the fixture has written rows before the clock was moved.
        var hasEarlier = false
    }

    private static let columns = [
        Column(place: "orders.created_at"), Column(place: "orders.expires_at", later: 1_800),
        Column(place: "orders.paid_at"), Column(place: "order_timeline.at"), Column(place: "payments.created_at"),
        Column(place: "events.at"), Column(place: "audit.at", hasEarlier: true), Column(place: "jobs.created_at"),
        Column(place: "notifications.received_at"), Column(place: "notifications.processed_at"),
        Column(place: "grants.purchased_at"), Column(place: "user_states.created_at"),
        Column(place: "refunds.created_at"), Column(place: "webhooks.created_at"),
        Column(place: "webhooks.failing_since"),
        Column(place: "deliveries.created_at"), Column(place: "deliveries.next_at", later: 5),
        Column(place: "api_keys.created_at"), Column(place: "api_keys.last_used_at"),
        Column(place: "refunds.sent_at", isReal: true), Column(place: "orders.refreshed_at", isReal: true),
        Column(place: "idempotency_keys.created_at", isReal: true),
        Column(place: "idempotency_keys.lease_until", isReal: true, later: 60),
        Column(place: "sessions.created_at", isReal: true),
        Column(place: "sessions.expires_at", isReal: true, later: 1_800),
        // A day after the end of its order.
        Column(place: "sessions.readable_until", isReal: true, later: 1_800 + 86_400),
    ]

    @Test(arguments: TestEngine.allCases)
    func `each column has the time of its clock`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.setOffset(Self.offset)
            desk.endpoints.answer(GatewayFixture.hook, status: 500)
            try await desk.subscribe(types: [.orderOpened])
            let context = try await desk.run("key")
            let contract = try await desk.checkout(context: context)
            try await desk.notify("payment.succeeded", contract)
            try await openSession(desk)
            try await desk.refund(contract.order, 100)
            _ = try await desk.gateway.reconciliation.refresh(
                contract.order.rawValue, user: GatewayFixture.user("alice"), context: .test)
            try await desk.dispatch()
            try await desk.perform(.deliverWebhook)
            let real = desk.clock.now.rawValue
            for column in Self.columns {
                let parts = column.place.split(separator: ".").map(String.init)
                let found = try await desk.store.read { db in
                    try db.rows("SELECT \(parts[1]) AS at FROM \(parts[0]) WHERE \(parts[1]) > 1").map {
                        try $0.int("at")
                    }
                }
                let expected = real + column.later + (column.isReal ? 0 : Self.offset)
                let isRight = column.hasEarlier ? found.max() == expected : Set(found) == [expected]
                #expect(isRight, "\(column.place): \(found), \(expected)")
            }
            // Ids have the real time.
            #expect(contract.order.madeAt.rawValue == real)
        }
    }

    /// Makes a session, and an order of it.
    private func openSession(_ desk: GatewayFixture) async throws {
        let user = GatewayFixture.user("alice")
        let sale = SessionSale(
            skus: [try #require(SKUCode("vip_month"))], currency: GatewayFixture.money(0, "CNY").currency,
            provider: "box-url", accept: [.url])
        let issued = try await desk.gateway.sessions.make(
            SessionRequest(purpose: .checkout, sale: sale, locale: nil, lifetime: nil), for: user, by: .user,
            context: .test)
        let caller = try await desk.gateway.sessions.authenticate(token: issued.token)
        _ = try await desk.gateway.sessionCheckout.open(SessionFields(), caller, context: .test)
    }

    @Test(arguments: TestEngine.allCases)
    func `a job is due by business time, and its lease ends by the real time`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let id = desk.gateway.ids.make(Job.self)
            let now = desk.clock.now
            try await desk.store.write { tx in
                try tx.jobs.enqueue(id, kind: JobKind.syncAccount.rawValue, subject: "x", delay: Self.offset, at: now)
            }
            #expect(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 5).isEmpty)
            try await desk.setOffset(Self.offset)
            #expect(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 5).map(\.id) == [id])
            // No move of business time ends the lease.
            try await desk.setOffset(2 * Self.offset)
            #expect(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 5).isEmpty)
            try await desk.pass(seconds: JobKind.syncAccount.lease)
            #expect(try await desk.gateway.jobQueue.claim([.syncAccount], limit: 5).map(\.id) == [id])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `retention follows business time, idempotency keys the real time`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.buy()
            let run = try #require(try await desk.run("key").idempotency)
            try await desk.gateway.idempotency.finish(run, status: 200, answer: Data("the answer".utf8))
            let policy = RetentionPolicy(rawDays: 90, idempotencyDays: 30)
            try await desk.setOffset(Self.offset)
            _ = try await desk.node(retention: policy).retention.apply()
            #expect(try await desk.count("notifications WHERE body IS NULL") == 1)
            #expect(try await desk.count("idempotency_keys") == 1)
            try await desk.pass(seconds: 31 * 86_400)
            _ = try await desk.node(retention: policy).retention.apply()
            #expect(try await desk.count("idempotency_keys") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a notification is verified and verified again by the real time`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            try await desk.setOffset(Self.offset)
            let contract = try await desk.checkout()
            let notice = SandboxNotice(
                event_id: "e", payment_id: try desk.payment(contract).rawValue, type: "payment.succeeded",
                amount: contract.amount, occurred_at: desk.clock.now.rawValue)
            let token = GatewayFixture.notifyToken("box-url")
            await #expect(throws: GatewayError.invalidNotification) {
                try await desk.gateway.notifications.receive(token: token, try notice.signed(at: desk.gateway.time.now))
            }
            _ = try await desk.gateway.notifications.receive(token: token, try notice.signed(at: desk.clock.now))
            try await desk.setOffset(2 * Self.offset)
            let stored = try await desk.gateway.notifications.list(.processed, cursor: nil, limit: 1).items
            let again = try await desk.gateway.notifications.replay(
                try #require(stored.first).id.rawValue, context: .test)
            #expect(again.status == "processed")
            #expect(try await desk.order(contract.order).status == .paid)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `orders are found by the period of business time in which they were made`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let first = try await desk.checkout()
            try await desk.setOffset(Self.offset)
            let second = try await desk.checkout()
            let now = desk.gateway.time.now
            let period = OrderFilter(from: now.adding(days: -1), to: now.adding(days: 1))
            let earlier = OrderFilter(from: now.adding(days: -101), to: now.adding(days: -1))
            let (found, before, exported) = try await desk.store.read { db in
                (
                    try db.orders.list(period, before: nil, limit: 9).map(\.id),
                    try db.orders.list(earlier, before: nil, limit: 9).map(\.id),
                    try db.reports.listOrders(period, after: nil, limit: 9).map(\.order.id)
                )
            }
            #expect(found == [second.order] && before == [first.order] && exported == [second.order])
        }
    }
}
