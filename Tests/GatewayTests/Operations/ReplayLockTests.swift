import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Notifications: a replay beside the running job")
struct ReplayLockTests {
    /// A notification whose job waits: it was quarantined, and an admin retries it.
    private static func waiting(
        _ desk: GatewayFixture
    ) async throws -> (contract: PaymentContract, id: ID<Domain.Notification>) {
        let contract = try await desk.checkout()
        let payment = try desk.payment(contract)
        func setCurrency(_ code: String) async throws {
            try await desk.store.write { tx in
                try tx.execute("UPDATE payments SET currency = ? WHERE id = ?", code, payment)
            }
        }
        try await setCurrency("none")
        try await desk.notify("payment.succeeded", contract)
        try await setCurrency("CNY")
        let jobs = try await desk.gateway.jobs.list(.quarantined, cursor: nil, limit: 5).items
        _ = try await desk.gateway.jobs.retry(try #require(jobs.first).id.rawValue, context: .test)
        let items = try await desk.gateway.notifications.list(nil, cursor: nil, limit: 5).items
        return (contract, try #require(items.first).id)
    }

    /// Holds the notification until both of them wait, the second one for the first.
    ///
    /// Nothing here runs a lost race again, so that a deadlock fails whom it hits. A database with one writer has none.
    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func `whichever comes first, both end well`(_ isReplayFirst: Bool) async throws {
        try await withDesk(on: .postgres) { desk in
            let (contract, id) = try await Self.waiting(desk)
            let own = try desk.database.openAnother(retries: 0)
            let node = desk.node(store: own)
            let job = try #require(try await node.jobQueue.claim(.processNotification, subject: id.rawValue))
            try await desk.holding({ tx in
                _ = try tx.rows("SELECT id FROM notifications WHERE id = ? FOR UPDATE", [id])
            }) { group in
                for (waiting, isReplay) in [isReplayFirst, !isReplayFirst].enumerated() {
                    group.addTask {
                        guard isReplay else { return await Self.expectEnd(of: job, at: node) }
                        _ = try await node.notifications.replay(id.rawValue, context: .test)
                    }
                    try await desk.untilWaiting(Int64(waiting + 1))
                }
            }
            await own.engine.close()
            try await desk.pass(seconds: 60)
            try await desk.work()
            let items = try await desk.gateway.notifications.list(nil, cursor: nil, limit: 5).items
            #expect(items.map(\.status) == ["processed"])
            #expect(try await desk.order(contract.order).status == .paid)
            #expect(try await desk.grants(contract.order).count == 1)
            #expect(try await desk.count("jobs WHERE kind = 'process_notification'") == 0)
        }
    }

    /// Runs a job that may find its lease gone, but never the database in its way.
    private static func expectEnd(of job: ClaimedJob, at node: Gateway) async {
        await node.jobQueue.perform(job) { (job) async throws(GatewayError) in
            do throws(GatewayError) {
                return try await node.notifications.process(job)
            } catch {
                #expect(error == .leaseLost)
                throw error
            }
        }
    }
}
