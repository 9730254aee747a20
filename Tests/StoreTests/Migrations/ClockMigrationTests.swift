import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct ClockMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 31 }

    @Test(arguments: TestEngine.allCases)
    func `a database of the release before has a clock that was never moved`(_ engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            try await store.write { tx in
                try tx.execute(
                    "INSERT INTO jobs (id, kind, subject, state, run_at, created_at) VALUES (?, ?, ?, 'waiting', ?, ?)",
                    "job_1", "find_work", "", TestDatabase.time, TestDatabase.time)
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let now = Timestamp(TestDatabase.time)
            let reading = ClockReading(real: now, business: now)
            let (state, due) = try await store.read { db in
                (try db.clock.find(), try db.jobs.listDueKinds(of: ["find_work"], at: reading))
            }
            #expect(state == ClockState() && due == ["find_work"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the clock has one row, which is never behind the real time`(_ engine: TestEngine) async throws {
        try await withStore(on: engine) { store in
            for sql in ["INSERT INTO clock (id) VALUES (2)", "UPDATE clock SET offset_seconds = -1"] {
                await #expect(throws: StoreError.self) { try await store.write { tx in try tx.execute(sql) } }
            }
        }
    }
}
