import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Purchases: what an earlier release made of them")
struct RegradePurchasesTests {
    /// Puts what a sale gave to where an earlier release left it after a refund of a part: all of it taken back.
    private static func takeAll(_ apple: AppStoreGatewayFixture) async throws {
        try await apple.store.write { tx in
            try tx.execute(
                "UPDATE grants SET revoked_at = 1, revoked_by = 'refund', days = 90 WHERE source_kind = 'apple_transaction'"
            )
            try tx.execute(
                """
                INSERT INTO ledger (user_id, unit, environment, source_kind, source_id, step, delta, at)
                SELECT user_id, unit, environment, source_kind, source_id, 9, -SUM(delta), 1 FROM ledger
                GROUP BY user_id, unit, environment, source_kind, source_id
                """)
            try tx.execute("UPDATE balances SET amount = 0")
            try tx.execute(
                """
                INSERT INTO jobs (id, kind, subject, state, run_at, created_at)
                VALUES ('job_00000000000000000000000000', 'regrade_purchases', '', 'waiting', 0, 0)
                """)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a job gives back what a refund of a part should not have taken, and tells it`(
        _ engine: TestEngine
    ) async throws {
        try await withAppleDesk(on: engine) { apple in
            let gems = apple.sale("com.example.gems", AppleSale.consumable) { $0.quantity = 3 }
            let passes = apple.sale { $0.quantity = 3 }
            for sale in [gems, passes] {
                try await apple.attach(sale)
                let part = sale.signedAgain(after: 10) { ($0.revoked, $0.percentage) = ($0.signed, 33_333) }
                try await apple.notify(AppleNotice("REFUND", nil, part, at: apple.now))
            }
            let user = try await apple.store.read { db in
                try db.users.findID(GatewayFixture.user("alice"))?.rawValue ?? ""
            }
            let before = try await apple.desk.events(user).count
            try await Self.takeAll(apple)
            // Nothing is wrong as long as the job has not run.
            let waiting = try await InvariantCheck(store: apple.store).run().filter { $0.invariant == 2 }
            #expect(waiting.isEmpty, "\(waiting)")
            try await apple.work()
            let snapshot = try await apple.desk.snapshot()
            #expect(snapshot.balances == ["gems": 20] && snapshot.active)
            #expect(snapshot.expires_at == passes.purchasedAt.adding(days: 60))
            #expect(try await apple.desk.events(user).count == before + 2)
            #expect(try await !apple.store.read { db in try db.jobs.hasAny("regrade_purchases") })
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a purchase of an unknown type with an end becomes one subscription`(_ engine: TestEngine) async throws {
        try await withAppleDesk(on: engine) { apple in
            let suite = apple.sale("com.example.pro.auto", "Subscription Suite") {
                $0.expires = $0.purchased + 9 * 86_400_000
            }
            let attached = try await apple.attach(suite)
            try await apple.store.write { tx in
                try tx.execute(
                    "UPDATE grants SET source_kind = 'apple_transaction', days = 30, ends_at = NULL, paid_until = NULL")
                try tx.execute("DELETE FROM subscriptions")
                try tx.jobs.enqueue(
                    apple.gateway.ids.make(), kind: JobKind.regradePurchases.rawValue, subject: "", delay: 0,
                    at: apple.now)
            }
            try await apple.work()
            let grants = try await apple.grants()
            #expect(grants.map(\.source.kind) == [.appleSubscription])
            #expect(try await apple.status().expires_at == attached.expires_at)
            #expect(try await apple.subscriptions().count == 1)
        }
    }
}
