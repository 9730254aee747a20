import Foundation
import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct ConsoleMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 33 }

    @Test(arguments: TestEngine.allCases)
    func `entries of the release before keep their chain, and nobody can mark one later`(
        _ engine: TestEngine
    ) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            let entry = AuditEntry(
                subject: "sku/x", actor: "user", requestID: "req", action: "a", before: "", after: "b",
                at: Timestamp(1))
            let digest = entry.digest(after: Data(), position: 1)
            try await store.write { tx in
                try tx.execute(
                    """
                    INSERT INTO audit (subject, position, at, actor, request_id, action, before, after, digest)
                    VALUES (?, 1, 1, ?, ?, ?, ?, ?, ?)
                    """, entry.subject, entry.actor, entry.requestID, entry.action, entry.before, entry.after, digest)
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let found = try await store.read { db in try db.audit.listChains(after: "", 0, limit: 1) }
            let kept = try #require(found.first)
            #expect(kept.entry.via == nil && kept.entry.digest(after: Data(), position: 1) == kept.digest)
            for sql in ["UPDATE audit SET via = 'console'", "UPDATE audit SET seal = 1, via = 'console'"] {
                await #expect(throws: StoreError.self) { try await store.write { tx in try tx.execute(sql) } }
            }
            try await store.write { tx in
                try tx.execute("UPDATE audit SET seal = 1")
            }
        }
    }
}
