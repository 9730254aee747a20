import TestSupport
import Testing

@testable import Domain
@testable import Store

@Suite struct ExternalPurchasesMigrationTests {
    private static let earlier = Migrations.all.filter { $0.number < 38 }

    @Test(arguments: TestEngine.allCases)
    func `earlier orders and sessions have no token, and a fact stands in one line item`(
        _ engine: TestEngine
    ) async throws {
        try await withStore(on: engine, migrations: Self.earlier) { store in
            try await store.write { tx in
                try tx.execute("INSERT INTO user_states (user_id, created_at) VALUES ('usr_1', 1)")
                try tx.execute("INSERT INTO skus (id, number, active, body, updated_at) VALUES ('s', 1, 1, '{}', 1)")
                try tx.execute(
                    """
                    INSERT INTO orders (id, user_id, origin, sku, quantity, terms, state, platform, environment, metadata,
                        created_at, expires_at)
                    VALUES ('ord_1', 'usr_1', 'checkout', 's', 1, '{}', 'open', 'ios', 'Sandbox', '{}', 1, 2)
                    """)
            }
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            let row = try await store.read { db in
                try db.row("SELECT external_token_id, storefront, tax_rate FROM orders WHERE id = 'ord_1'")
            }
            #expect(row?.values == [.null, .null, .null])
            try await store.write { tx in
                try tx.execute(
                    """
                    INSERT INTO external_tokens (id, account, environment, external_purchase_id, bundle_id, app_apple_id,
                        token_created_at, source, due_at, state, created_at)
                    VALUES ('ext_1', 'apple-iap', 'Sandbox', 'SANDBOX_1', 'com.example.app', 1, 1, 'app', 2, 'waiting', 1)
                    """)
                try tx.execute("UPDATE orders SET external_token_id = 'ext_1', storefront = 'DEU', tax_rate = 1900")
                for number in 1...2 {
                    try tx.execute(
                        """
                        INSERT INTO external_reports (id, token_id, request_identifier, status, digest, body, state,
                            created_at)
                        VALUES (?, 'ext_1', ?, 'LINE_ITEM', ?, '{}', 'created', 1)
                        """, "rep_\(number)", "identifier-\(number)", "digest-\(number)")
                }
                try tx.execute(Self.item, "rep_1")
            }
            // The same fact of the same turn stands in no second report, on any number of nodes.
            await #expect(throws: StoreError.self) {
                try await store.write { tx in try tx.execute(Self.item, "rep_2") }
            }
        }
    }

    private static let item = """
        INSERT INTO external_line_items (report_id, line_item_id, fact_kind, fact_id, turn, erroneous)
        VALUES (?, 'line', 'payment', 'pay_1', 1, 0)
        """
}
