import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct EventTracesMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 39 }

    @Test(arguments: TestEngine.allCases)
    func `earlier events have no trace, and a node of the release before still writes them`(
        _ engine: TestEngine
    ) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            func write(_ id: String, _ sequence: Int64) async throws {
                try await store.write { tx in
                    try tx.execute(
                        """
                        INSERT INTO events (id, subject, sequence, type, at, data)
                        VALUES (?, 'ord_1', ?, 'order.opened', 1, '{}')
                        """, id, sequence)
                }
            }
            try await write("evt_1", 1)
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            try await write("evt_2", 2)
            let traces = try await store.read { db in try db.rows("SELECT trace FROM events ORDER BY id") }
            #expect(traces.map(\.values) == [[.null], [.null]])
        }
    }
}
