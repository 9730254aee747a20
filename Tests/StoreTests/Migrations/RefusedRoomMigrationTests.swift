import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct RefusedRoomMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 22 }

    @Test(arguments: TestEngine.allCases)
    func `what was refused has its size, and what was free counts`(_ engine: TestEngine) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            let blob = engine == .sqlite ? "X'010203'" : "'\\x010203'::bytea"
            func notification(_ id: String, _ status: String, _ refusal: String) -> String {
                """
                INSERT INTO notifications (id, account, provider_event_id, type, status, facts, body, headers, digest,
                    received_at, refusal)
                VALUES ('\(id)', 'box', '\(id)', '', '\(status)', '[]', \(blob), \(blob), \(blob), 0, \(refusal))
                """
            }
            func order(_ id: String, _ state: String, amount: Int) -> String {
                """
                INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, state, platform,
                    environment, metadata, created_at, expires_at, paid_at)
                VALUES ('\(id)', 'usr_00000000000000000000000001', 'checkout', 'sku', 1, '{}', \(amount), 'CNY',
                    '\(state)', 'web', 'Production', '{}', 0, 100, \(state == "paid" ? "0" : "NULL"))
                """
            }
            let rows = [
                "INSERT INTO skus (id, number, active, body, updated_at) VALUES ('sku', 1, 1, '{}', 0)",
                "INSERT INTO user_states (user_id, created_at) VALUES ('usr_00000000000000000000000001', 0)",
                order("ord_1", "open", amount: 9), order("ord_2", "paid", amount: 0),
                notification("a", "rejected", "'other_app'"), notification("b", "rejected", "'unreadable'"),
                notification("c", "rejected", "NULL"), notification("d", "processed", "NULL"),
            ]
            try await store.write { tx in for sql in rows { try tx.execute(sql) } }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let user = try #require(ID<User>("usr_00000000000000000000000001"))
            let sku = try #require(SKUCode("sku"))
            let (sizes, open, expired, isFree) = try await store.read { db in
                (
                    try db.rows("SELECT refused_bytes, refused_signed FROM notifications ORDER BY id").map {
                        [try $0.int("refused_bytes"), try $0.int("refused_signed")]
                    },
                    try db.orders.countOpen(of: user, at: Timestamp(99), upTo: 20).value(),
                    try db.orders.countOpen(of: user, at: Timestamp(100), upTo: 20).value(),
                    try db.orders.hasFree(of: user, sku: sku)
                )
            }
            #expect(sizes == [[6, 1], [6, 0], [6, 0], [0, 0]])
            #expect(open == 1 && expired == 0 && isFree)
        }
    }
}
