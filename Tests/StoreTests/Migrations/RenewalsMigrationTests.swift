import TestSupport
import Testing

@testable import Domain
@testable import Store

/// Tests of the tables of managed subscriptions: grants keep their rows, and sums leave out what is no sale.
@Suite struct RenewalsMigrationTests {
    private static let user = "usr_01jdgk4zs8f4d9v3qkr6t2m7hx"
    private static let order = "ord_01jdgk4zs8f4d9v3qkr6t2m7hx"

    private static func insertOrder(
        _ id: String, origin: String, amount: Int64, period: Int64? = nil, into tx: any Transaction
    ) throws {
        try tx.execute(
            """
            INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, state, platform, environment,
                metadata, created_at, expires_at, paid_at)
            VALUES (?, ?, ?, 'sku', 1, '{}', ?, 'CNY', 'paid', 'web', 'Production', '{}', 86400, 86400, 86400)
            """, id, user, origin, amount)
        if let period { try tx.execute("UPDATE orders SET period_index = ? WHERE id = ?", period, id) }
    }

    private static func insertOwner(into tx: any Transaction) throws {
        try tx.execute("INSERT INTO skus (id, number, active, body, updated_at) VALUES ('sku', 1, 1, '{}', 0)")
        try tx.execute("INSERT INTO user_states (user_id, created_at) VALUES (?, 0)", user)
    }

    @Test(arguments: TestEngine.allCases, [1, 9, 23, 34])
    func `grants of an earlier release keep their rows and their constraints`(
        _ engine: TestEngine, _ number: Int
    ) async throws {
        let sources = ["order", "apple_transaction", "apple_subscription", "admin", "partner"]
        try await withStore(on: engine, migrations: Migrations.all.filter { $0.number <= number }) { store in
            try await store.write { tx in
                try Self.insertOwner(into: tx)
                try Self.insertOrder(Self.order, origin: "checkout", amount: 9, into: tx)
                for (index, source) in sources.enumerated() {
                    try tx.execute(
                        """
                        INSERT INTO grants (id, user_id, sku, kind, tier, rank, source_kind, source_id, order_id,
                            environment, purchased_at, perpetual, ends_at, stack_group, attributes, revoked_at,
                            revoked_by, suspended)
                        VALUES (?, ?, 'sku', 'subscription', 'VIP', 20, ?, '1', ?, 'Production', 5, 0, 99, 'vip',
                            '{"a":1}', 50, 'refund', 1)
                        """, "grt_01jdgk4zs8f4d9v3qkr6t2m7h\(index)", Self.user, source, Self.order)
                }
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let (user, order) = (try #require(ID<User>(Self.user)), try #require(ID<Order>(Self.order)))
            let kept = try await store.read { db in try db.grants.list(of: user).value() }
            #expect(kept.map(\.source.kind.rawValue) == sources)
            for grant in kept {
                #expect(grant.order == order && grant.tier == "VIP" && grant.rank == 20 && grant.stackGroup == "vip")
                #expect(grant.term == .until(Timestamp(99)) && grant.attributes == ["a": .integer(1)])
                #expect(grant.revocation == Grant.Revocation(at: Timestamp(50), reason: .refund) && grant.suspended)
            }
            // Another kind of source, and one source twice.
            for (kind, id) in [("other", "2"), ("order", "1")] {
                await #expect(throws: StoreError.self) {
                    try await store.write { tx in
                        try tx.execute(
                            """
                            INSERT INTO grants (id, user_id, sku, kind, tier, rank, source_kind, source_id, environment,
                                purchased_at, perpetual, attributes)
                            VALUES ('grt_9', ?, 'sku', 'subscription', '', 0, ?, ?, 'Production', 5, 1, '{}')
                            """, Self.user, kind, id)
                    }
                }
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `trials and imports leave the sums of days, and later ones do not enter them`(
        _ engine: TestEngine
    ) async throws {
        func insert(_ day: Int, into store: Store) async throws {
            try await store.write { tx in
                try Self.insertOrder("ord_\(day)1", origin: "checkout", amount: 9, into: tx)
                try Self.insertOrder("ord_\(day)2", origin: "renewal", amount: 9, period: 1, into: tx)
                try Self.insertOrder("ord_\(day)3", origin: "import", amount: 9, period: 0, into: tx)
            }
        }
        func paid(_ store: Store) async throws -> [Int64] {
            try await store.read { db in
                let sums = try db.row("SELECT SUM(opened) AS opened, SUM(paid) AS paid FROM order_sums")
                return [try sums?.int("opened") ?? -1, try sums?.int("paid") ?? -1]
            }
        }
        try await withStore(on: engine, migrations: Migrations.all.filter { $0.number < 43 }) { store in
            try await store.write { tx in try Self.insertOwner(into: tx) }
            try await insert(1, into: store)
            try await store.write { tx in
                try tx.execute(
                    """
                    INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, state, platform,
                        environment, metadata, created_at, expires_at, paid_at, period_index)
                    VALUES ('ord_14', ?, 'checkout', 'sku', 1, '{}', 0, 'CNY', 'paid', 'web', 'Production', '{}', 86400,
                        86400, 86400, 0)
                    """, Self.user)
            }
            #expect(try await paid(store) == [4, 4])
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            #expect(try await paid(store) == [2, 2])
            try await insert(2, into: store)
            #expect(try await paid(store) == [4, 4])
            try await store.write { tx in
                try tx.execute("UPDATE orders SET environment = 'Sandbox' WHERE id IN ('ord_13', 'ord_14', 'ord_21')")
            }
            #expect(try await paid(store) == [3, 3])
            let faults = try await store.read { db in
                try InvariantRule.ofLists.flatMap { try db.consistency.listViolations(of: $0, limit: 20) }
            }
            #expect(faults == [])
        }
    }
}
