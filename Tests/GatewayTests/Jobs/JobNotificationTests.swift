import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Jobs: notifications")
struct JobNotificationTests {
    private static func items(
        _ desk: GatewayFixture, _ status: Domain.Notification.Status? = nil
    ) async throws -> [NotificationView] {
        try await desk.gateway.notifications.list(status, cursor: nil, limit: 50).items
    }

    /// Breaks what processing a contract's notifications reads, until it is mended.
    private static func breakPayment(
        _ desk: GatewayFixture, _ contract: PaymentContract, mend: Bool = false
    ) async throws {
        let id = try desk.payment(contract)
        try await desk.store.write { tx in
            try tx.execute("UPDATE payments SET currency = ? WHERE id = ?", mend ? "CNY" : "none", id)
        }
    }

    private static func notice(
        _ desk: GatewayFixture, _ contract: PaymentContract, _ secret: String
    ) throws -> RawNotification {
        let notice = SandboxNotice(
            event_id: "evt", payment_id: try desk.payment(contract).rawValue, type: "payment.succeeded",
            amount: contract.amount, occurred_at: desk.clock.now.rawValue)
        return try notice.signed(at: desk.clock.now, secret: secret)
    }

    @Test(arguments: TestEngine.allCases)
    func `a notification is stored together with its job or not at all`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            try await desk.store.write { tx in try tx.execute("ALTER TABLE jobs RENAME TO hidden") }
            await #expect(throws: GatewayError.internalError) { try await desk.notify("payment.succeeded", contract) }
            #expect(try await desk.count("notifications") == 0)
            try await desk.store.write { tx in try tx.execute("ALTER TABLE hidden RENAME TO jobs") }
            try await desk.notify("payment.succeeded", contract)
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.count("jobs") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases, ["retry", "replay"])
    func `poison is acknowledged, quarantined, blocks nobody, and is settled when an admin says so`(
        _ engine: TestEngine, _ way: String
    ) async throws {
        try await withDesk(on: engine) { desk in
            let (bad, good) = (try await desk.checkout(), try await desk.checkout())
            try await Self.breakPayment(desk, bad)
            for _ in 0..<2 { #expect(try await desk.notify("payment.succeeded", bad).body == "ok") }
            let poisoned = try #require(try await Self.items(desk, .quarantined).first)
            #expect(poisoned.processed_at == nil)
            try await desk.notify("payment.succeeded", good)
            #expect(try await desk.order(good.order).status == .paid)
            for _ in 0..<2 {
                try await desk.pass(seconds: 86_400)
                try await desk.work()
            }
            #expect(try await Self.items(desk, .quarantined).map(\.id) == [poisoned.id])
            let jobs = try await desk.gateway.jobs.list(.quarantined, cursor: nil, limit: 10).items
            let job = try #require(jobs.first { $0.subject == poisoned.id.rawValue })
            #expect(job.status == "quarantined" && job.kind == "process_notification" && !job.error.isEmpty)

            try await Self.breakPayment(desk, bad, mend: true)
            if way == "retry" {
                #expect(try await desk.gateway.jobs.retry(job.id.rawValue, context: .test).status == "waiting")
                try await desk.work()
            } else {
                let view = try await desk.gateway.notifications.replay(poisoned.id.rawValue, context: .test)
                #expect(view.status == "processed")
            }
            #expect(try await Self.items(desk, .processed).count == 2)
            #expect(try await desk.order(bad.order).status == .paid)
            let left = try await desk.gateway.jobs.list(.quarantined, cursor: nil, limit: 10).items
            #expect(!left.contains { $0.subject == poisoned.id.rawValue })
            let actions = try await desk.store.read { db in
                try db.rows("SELECT action FROM audit WHERE action IN ('job.retried', 'notification.replayed')").count
            }
            #expect(actions == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what is replayed a second time changes nothing`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy("coins")
            let before = try await desk.outcome(contract.order)
            let events = try await desk.count("events")
            let id = try #require(try await Self.items(desk).first).id
            try await desk.pass(seconds: 86_400)
            let view = try await desk.gateway.notifications.replay(id.rawValue, context: .test)
            #expect(view.status == "processed" && view.id == id)
            #expect(try await desk.outcome(contract.order) == before)
            #expect(try await desk.count("events") == events)
            #expect(try await desk.count("jobs WHERE kind = 'process_notification'") == 0)
            for unknown in ["", "x", desk.gateway.ids.make(Domain.Notification.self).rawValue] {
                await expectNotFound {
                    try await desk.gateway.notifications.replay(unknown, context: .test)
                }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `what was refused by a mistake of ours is verified again once that is mended`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            let mistaken = desk.node(replacing: try desk.mistaken(secret: "mistaken"))
            let raw = try Self.notice(desk, contract, GatewayFixture.sandboxSecret)
            await #expect(throws: GatewayError.invalidNotification) {
                try await mistaken.notifications.receive(token: GatewayFixture.notifyToken("box-url"), raw)
            }
            let refused = try #require(try await Self.items(desk, .rejected).first)
            #expect(refused.type == "")
            try await desk.pass(seconds: 3_600)
            await #expect(throws: GatewayError.invalidNotification) {
                try await mistaken.notifications.replay(refused.id.rawValue, context: .test)
            }
            #expect(try await Self.items(desk, .rejected).map(\.id) == [refused.id])
            #expect(try await desk.order(contract.order).status == .open)
            let view = try await desk.gateway.notifications.replay(refused.id.rawValue, context: .test)
            #expect(view.status == "processed" && view.type == "payment.succeeded" && view.provider_event_id == "evt")
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.count("notifications") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refused one that came again meanwhile is the same notification`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout()
            let mistaken = desk.node(replacing: try desk.mistaken(secret: "mistaken"))
            let raw = try Self.notice(desk, contract, GatewayFixture.sandboxSecret)
            let token = GatewayFixture.notifyToken("box-url")
            _ = try? await mistaken.notifications.receive(token: token, raw)
            desk.clock.tick()
            _ = try await desk.gateway.notifications.receive(token: token, raw)
            let refused = try #require(try await Self.items(desk, .rejected).first)
            let view = try await desk.gateway.notifications.replay(refused.id.rawValue, context: .test)
            #expect(view.id != refused.id && view.status == "processed")
            #expect(try await desk.count("notifications") == 1)
            #expect(try await desk.grants(contract.order).count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `forgeries are kept up to a limit for each account, the newest`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            var ids: [ID<Domain.Notification>] = []
            for number in 0..<7 {
                desk.clock.tick()
                let id = desk.gateway.ids.make(Domain.Notification.self)
                let record = NotificationRecord(
                    id: id, account: try .test(number == 0 ? "box-qr" : "box-url"), eventID: "refused/\(id)", type: "",
                    facts: "[]", body: Data(), headers: Data(), digest: Data(), receivedAt: desk.clock.now)
                try await desk.store.write { tx in
                    try tx.notifications.insertRefused(
                        record, isSigned: false, limits: RefusedLimits(count: 3, bytes: 1_000))
                }
                ids.append(id)
            }
            #expect(try await Self.items(desk, .rejected).map(\.id) == [ids[6], ids[5], ids[4], ids[0]])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a body that is too large for any provider is refused and forgotten`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let raw = RawNotification(method: .post, headers: [], body: Data(count: (256 << 10) + 1))
            await #expect(throws: GatewayError.invalidNotification) {
                try await desk.gateway.notifications.receive(token: GatewayFixture.notifyToken("box-url"), raw)
            }
            let kept = try await desk.count("notifications")
            #expect(kept == 0)
        }
    }
}
