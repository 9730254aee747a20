import TestSupport
import Testing

@testable import Domain
@testable import Store

/// Tests of the columns for lists of orders and sums of days: they are filled from existing rows, and follow every
/// change.
@Suite struct OrderListsMigrationTests {
    private static let earlier = Array(Migrations.all.prefix { $0.name != "order lists" })

    /// An order of the earlier release, and the state of the payment that paid it.
    struct Case: Sendable {
        let number: Int
        let status: Order.Status
        var partner: String?
        var store = false
        var set = ""
        var payment = ""
    }

    static let cases = [
        Case(
            number: 1, status: .open, set: "state = 'open', paid_at = NULL, paid_by = NULL",
            payment: "state = 'pending', captured = 0"),
        Case(
            number: 2, status: .closed, partner: "one", set: "state = 'closed', paid_at = NULL, paid_by = NULL",
            payment: "state = 'failed', captured = 0"),
        Case(number: 3, status: .paid),
        Case(number: 4, status: .partiallyRefunded, partner: "two", payment: "refunding = 4, refunded = 4"),
        Case(number: 5, status: .refunded, payment: "refunding = 4, refunded = 4, lost = 5"),
        Case(number: 6, status: .paid, store: true, set: "charged = NULL, charged_currency = NULL"),
        Case(
            number: 7, status: .partiallyRefunded, store: true,
            set: "charged = NULL, charged_currency = NULL, revoked_share = 50000, returned_at = 172800"),
        Case(
            number: 8, status: .refunded, store: true, set: "returned = 9, returned_at = 172800, revoked_share = 100000"
        ),
        Case(number: 9, status: .paid, store: true, set: "environment = 'Sandbox'"),
    ]

    private static func rows(_ example: Case) -> [String] {
        let (n, partner) = (example.number, example.partner.map { "'\($0)'" } ?? "NULL")
        let charged = example.store ? "9, 'CNY'" : "NULL, NULL"
        let order = """
            INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, charged, charged_currency,
                state, platform, environment, metadata, created_at, expires_at, paid_at, partner)
            VALUES ('ord_\(n)', 'usr_1', '\(example.store ? "purchase" : "checkout")', 'sku', 1, '{}', 9, 'CNY',
                \(charged), 'paid', 'web', 'Production', '{}', 86400, 0, 86400, \(partner))
            """
        let payment = """
            INSERT INTO payments (id, order_id, attempt, account, amount, currency, state, captured, recurring, platform,
                created_at)
            VALUES ('pay_\(n)', 'ord_\(n)', 1, 'box', 9, 'CNY', 'succeeded', 9, 0, 'web', 86400)
            """
        let purchase = """
            INSERT INTO purchases (environment, key, account, bundle_id, product_id, transaction_id,
                original_transaction_id, kind, purchased_at, signed_at, quantity, is_renewal, is_upgraded,
                is_family_shared, received_at, user_id, order_id)
            VALUES ('Production', '\(n)', 'apple', 'app', 'ring', '\(n)', '\(n)', 'Non-Consumable',
                86400000, 0, 1, 0, 0, 0, 0, 'usr_1', 'ord_\(n)')
            """
        let paid = example.store ? [] : ["UPDATE orders SET paid_by = 'pay_\(n)' WHERE id = 'ord_\(n)'"]
        let changes = [("orders", example.set, "ord"), ("payments", example.payment, "pay")].filter { !$0.1.isEmpty }
            .map { "UPDATE \($0) SET \($1) WHERE id = '\($2)_\(n)'" }
        let dispute = """
            INSERT INTO disputes (id, order_id, payment_id, reference, amount, currency, state, created_at)
            VALUES ('dsp_5', 'ord_5', 'pay_5', 'd', 5, 'CNY', 'lost', 172800)
            """
        let refund = """
            INSERT INTO refunds (id, order_id, payment_id, amount, currency, reason, state, counted, created_at)
            VALUES ('rfd_\(n)', 'ord_\(n)', 'pay_\(n)', 4, 'CNY', '', 'succeeded', 1, 172800)
            """
        return [order, example.store ? purchase : payment] + paid + changes + (n == 5 ? [dispute] : [])
            + (n == 4 || n == 5 ? [refund] : [])
    }

    private static func insert(_ cases: [Case], into store: Store) async throws {
        try await store.write { tx in
            try tx.execute("INSERT INTO skus (id, number, active, body, updated_at) VALUES ('sku', 1, 1, '{}', 0)")
            try tx.execute("INSERT INTO user_states (user_id, created_at) VALUES ('usr_1', 0)")
            for sql in cases.flatMap(rows) { try tx.execute(sql) }
        }
    }

    private static func faults(_ store: Store) async throws -> [String] {
        try await store.read { db in
            try InvariantRule.ofLists.flatMap { try db.consistency.listViolations(of: $0, limit: 20) }
        }
    }

    private static func found(
        _ store: Store, _ status: Order.Status?, account: String = "", audiences: [String] = ["", "*"]
    ) async throws -> [String] {
        try await store.read { db in
            try audiences.flatMap { audience in
                try db.rows(
                    "SELECT order_id FROM order_places WHERE audience = ? AND account = ? AND status = COALESCE(?, status)",
                    [audience, account, status?.rawValue]
                ).map { try $0.text("order_id") }
            }.sorted()
        }
    }

    /// The argument is true where the rows are inserted before the migration.
    @Test(arguments: TestEngine.allCases, [true, false])
    func `orders are found by what they are`(_ engine: TestEngine, _ isEarlier: Bool) async throws {
        try await withStore(on: engine, migrations: isEarlier ? Self.earlier : Migrations.all) { store in
            try await Self.insert(Self.cases, into: store)
            try await Migrator.apply(Migrations.all, to: store, at: 1)
            #expect(try await Self.faults(store) == [])
            for status in Order.Status.allCases {
                let expected = Self.cases.filter { $0.status == status }.map { "ord_\($0.number)" }
                #expect(try await Self.found(store, status) == expected, "\(status)")
            }
            #expect(try await Self.found(store, nil, account: "apple") == ["ord_6", "ord_7", "ord_8", "ord_9"])
            #expect(try await Self.found(store, nil, account: "box", audiences: ["p:two"]) == ["ord_4"])
            #expect(try await Self.found(store, nil, audiences: ["", "p:one"]).count == 8)
            let days = try await store.read { db in try db.reports.listDays(from: Timestamp(0), to: Timestamp(864_000))
            }
            #expect(
                days.map {
                    "\($0.day.rawValue / 86_400) \($0.currency?.code ?? "-") \($0.opened) \($0.paid) \($0.charged) \($0.refunded)"
                }
                    == ["2 CNY 0 0 0 22", "1 CNY 8 6 36 0"])
        }
    }

    /// The changes of an order after it was listed and summed.
    static let changes = [
        "UPDATE payments SET refunding = 9, refunded = 9 WHERE id = 'pay_3'",
        "UPDATE orders SET state = 'closed', paid_at = NULL, paid_by = NULL, closed_at = 5 WHERE id = 'ord_3'",
        "UPDATE orders SET paid_at = 400000, environment = 'Sandbox' WHERE id = 'ord_5'",
        "UPDATE refunds SET state = 'reversed' WHERE id = 'rfd_4'",
        "UPDATE refunds SET counted = 0 WHERE id = 'rfd_5'",
        "UPDATE disputes SET state = 'won' WHERE id = 'dsp_5'",
        "UPDATE orders SET charged = 7, charged_currency = 'USD' WHERE id = 'ord_6'",
        "UPDATE orders SET returned = 3 WHERE id = 'ord_8'",
        "UPDATE purchases SET order_id = NULL WHERE key = '8'",
        "UPDATE payments SET state = 'failed', captured = 0 WHERE id = 'pay_3'",
    ]

    @Test(arguments: TestEngine.allCases, changes)
    func `places and sums follow every change`(_ engine: TestEngine, _ change: String) async throws {
        try await withStore(on: engine) { store in
            try await Self.insert(Self.cases, into: store)
            try await store.write { tx in _ = try tx.execute(change) }
            #expect(try await Self.faults(store) == [])
        }
    }
}
