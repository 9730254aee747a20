import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct MoneyJobsMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 17 }

    @Test(arguments: TestEngine.allCases)
    func `what waits for money and was given up is tried again`(_ engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            let kinds = [
                "complete_request", "expire_order", "process_notification", "reconcile_payment", "reconcile_refund",
            ]
            try await store.write { tx in
                for kind in kinds {
                    try tx.execute(
                        """
                        INSERT INTO jobs (id, kind, subject, state, run_at, attempts, error, created_at)
                        VALUES (?, ?, 'x', 'quarantined', 7, 12, 'providerUnavailable', 7)
                        """, "job_\(kind)", kind)
                }
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let rows = try await store.read { db in
                try db.rows("SELECT kind, state, attempts, silence FROM jobs ORDER BY kind")
            }
            let jobs = try rows.map { "\(try $0.text("kind")) \(try $0.text("state")) \(try $0.int("attempts"))" }
            #expect(
                jobs == [
                    "complete_request quarantined 12", "expire_order waiting 0", "process_notification quarantined 12",
                    "reconcile_payment waiting 0", "reconcile_refund waiting 0",
                ])
            #expect(try rows.allSatisfy { try $0.int("silence") == 0 })
        }
    }
}
