import Domain
import Foundation
import Store

/// Writes orders with their payments, refunds, purchases, grants, events, history and audit, as years of business leave
/// them, by SQL and without a server.
///
/// Every tenth order is of a partner, every fifth one a store's. Of a hundred, 10 are closed, 2 open, 4 refunded, 2
/// partly, 20 of the SKU `vip_year`, 25 of each platform, one of a test. Of a thousand, one is disputed, one has an
/// anomaly. An order's number is the end of its ids, and its payment's reference at its provider is `ref-<number>`.
struct OrderSeeder {
    let dialect: Dialect
    let count: Int
    /// The newest order's time.
    let now: Int64

    static let users = 100_000
    static let accounts = ["alipay-main", "epay-main", "stripe-main", "wechat-main"]
    /// The number of orders in one hour.
    private static let chunk = 500

    /// The chunks of a database; each is run in one transaction.
    var chunks: [[String]] {
        let hours = (count + Self.chunk - 1) / Self.chunk
        let start = stride(from: 0, to: Self.users, by: 20_000).flatMap(users)
        return [start]
            + (0..<hours).map { hour in
                let first = hour * Self.chunk
                return orders(
                    from: first, through: min(first + Self.chunk, count) - 1, at: now - Int64(hours - hour) * 3_600)
            } + [Self.afterwards]
    }

    private static let afterwards = [
        "UPDATE counters SET value = (SELECT COALESCE(MAX(seq), 0) FROM events) WHERE name = 'event'"
    ]

    private func users(from first: Int) -> [String] {
        let end = min(first + 20_000, Self.users) - 1
        return [
            """
            INSERT INTO users (id, external_id)
            SELECT \(id("usr", at: now - 90_000_000)), 'buyer-' || n FROM \(numbers(first, end))
            """,
            """
            INSERT INTO user_states (user_id, created_at)
            SELECT \(id("usr", at: now - 90_000_000)), \(now - 90_000_000) FROM \(numbers(first, end))
            """,
        ]
    }

    private func orders(from first: Int, through last: Int, at time: Int64) -> [String] {
        let (order, payment, rows) = (id("ord", at: time), id("pay", at: time), numbers(first, last))
        let user = id("usr", at: now - 90_000_000, "n * 7919 % \(Self.users)")
        let made = "\(time) + n % 3000"
        let isStores = "n % 5 = 0"
        // The shares of a hundred, by the last two digits.
        let (isOpen, isClosed) = ("n % 100 IN (1, 2)", "n % 100 BETWEEN 11 AND 29 AND n % 5 <> 0 AND n % 2 = 1")
        let isPaid = "NOT (\(isOpen)) AND NOT (\(isClosed))"
        let account = Self.accounts.enumerated().map { "WHEN \($0) THEN '\($1)'" }.joined(separator: " ")
        let platform = Platform.allCases.enumerated().map { "WHEN \($0) THEN '\($1.rawValue)'" }.joined(separator: " ")
        let back = "CASE WHEN n % 100 IN (31, 32, 33, 34) THEN 3990 WHEN n % 100 IN (36, 37) THEN 1000 ELSE 0 END"
        return [
            """
            INSERT INTO orders (id, user_id, origin, sku, quantity, terms, amount, currency, state, platform, environment,
                partner, metadata, created_at, expires_at)
            SELECT \(order), \(user), CASE WHEN \(isStores) THEN 'purchase' ELSE 'checkout' END,
                CASE WHEN n % 5 = 2 THEN 'vip_year' ELSE 'vip_month' END, 1,
                (SELECT terms FROM orders ORDER BY id LIMIT 1), 3990, 'CNY', 'open', CASE n / 7 % 4 \(platform) END,
                CASE WHEN n % 100 = 51 THEN 'Sandbox' ELSE 'Production' END,
                CASE WHEN n % 10 = 3 THEN 'partner-' || n % 3 END, '{}', \(made), \(made) + 1800 FROM \(rows)
            """,
            """
            INSERT INTO payments (id, order_id, attempt, account, amount, currency, state, reference, captured, recurring,
                platform, created_at, refunding, refunded)
            SELECT \(payment), \(order), 1, CASE n % 4 \(account) END, 3990, 'CNY',
                CASE WHEN \(isPaid) THEN 'succeeded' ELSE 'cancelled' END, 'ref-' || n,
                CASE WHEN \(isPaid) THEN 3990 ELSE 0 END, 0, 'web', \(made), \(back), \(back)
            FROM \(rows) WHERE NOT (\(isStores))
            """,
            """
            INSERT INTO refunds (id, order_id, payment_id, amount, currency, reason, state, counted, created_at)
            SELECT \(id(Refund.idPrefix, at: time)), \(order), \(payment), \(back), 'CNY', '', 'succeeded', 1, \(made) + 100
            FROM \(rows) WHERE NOT (\(isStores)) AND \(back) > 0
            """,
            """
            INSERT INTO disputes (id, order_id, payment_id, reference, amount, currency, state, created_at)
            SELECT \(id(Dispute.idPrefix, at: time)), \(order), \(payment), 'dispute-' || n, 3990, 'CNY',
                CASE n / 1000 % 3 WHEN 0 THEN 'open' WHEN 1 THEN 'won' ELSE 'lost' END, \(made) + 200
            FROM \(rows) WHERE n % 1000 = 44
            """,
            """
            INSERT INTO order_anomalies (order_id, anomaly, detail, at)
            SELECT \(order), CASE n / 1000 % 2 WHEN 0 THEN 'duplicate_payment' ELSE 'late_payment' END, '', \(made)
            FROM \(rows) WHERE n % 1000 = 46
            """,
            """
            INSERT INTO purchases (environment, key, account, bundle_id, product_id, transaction_id,
                original_transaction_id, kind, purchased_at, signed_at, quantity, is_renewal, is_upgraded,
                is_family_shared, received_at, user_id, sku, order_id)
            SELECT 'Production', 'tx-' || n, 'apple-iap', 'com.example.app',
                CASE WHEN n % 1000 = 0 THEN 'com.example.unknown' ELSE 'com.example.vip.month' END, 'tx-' || n, 'tx-' || n,
                'Non-Renewing Subscription', (\(made)) * 1000, (\(made)) * 1000, 1, 0, 0, 0, \(made), \(user),
                CASE WHEN n % 1000 = 0 THEN NULL ELSE 'vip_month' END, \(order)
            FROM \(rows) WHERE \(isStores)
            """,
            """
            UPDATE orders SET state = 'paid', paid_at = created_at + 60,
                paid_by = CASE WHEN origin = 'checkout' THEN 'pay' || substr(id, 4) END,
                charged = CASE WHEN origin = 'purchase' THEN 3990 END,
                charged_currency = CASE WHEN origin = 'purchase' THEN 'CNY' END
            WHERE id IN (SELECT \(order) FROM \(rows) WHERE \(isPaid))
            """,
            """
            UPDATE orders SET state = 'closed', closed_at = created_at + 1800
            WHERE id IN (SELECT \(order) FROM \(rows) WHERE \(isClosed))
            """,
            """
            INSERT INTO grants (id, user_id, sku, kind, tier, rank, source_kind, source_id, order_id, environment,
                purchased_at, perpetual, days, attributes)
            SELECT \(id("grt", at: time)), \(user), 'vip_month', 'non_renewing', 'VIP', 10, 'order', \(order), \(order),
                'Production', \(made), 0, 30, '{}' FROM \(rows) WHERE \(isPaid)
            """,
            """
            INSERT INTO order_timeline (order_id, position, at, type, detail)
            SELECT \(order), k.place, \(made), CASE k.place WHEN 1 THEN 'order.opened' ELSE 'order.paid' END, ''
            FROM \(rows) CROSS JOIN (SELECT 1 AS place UNION ALL SELECT 2) k WHERE k.place = 1 OR (\(isPaid))
            """,
            """
            INSERT INTO events (id, subject, sequence, seq, type, user_id, at, data)
            SELECT \(id("evt", at: time)), \(order), 1, 1000000 + n, 'order.paid', \(user), \(made),
                '{"id":"' || \(order) || '","status":"paid","sku":"vip_month","padding":"\(String(repeating: "x", count: 600))"}'
            FROM \(rows)
            """,
            """
            INSERT INTO audit (subject, position, at, actor, request_id, action, before, after, digest, seal)
            SELECT \(order), 1, \(made), 'user', 'req_bench', 'order.opened', '', 'open', \(blob), 1 FROM \(rows)
            """,
        ]
    }

    private var blob: String { dialect == .sqlite ? "X'00'" : "'\\x00'::bytea" }

    /// SQL for an id made at a time, which ends in a number of 16 digits.
    private func id(_ prefix: String, at time: Int64, _ number: String = "n") -> String {
        let head = ID<Order>.least(at: Timestamp(time)).rawValue.dropFirst(4).prefix(10)
        return "'\(prefix)_\(head)' || substr(CAST(10000000000000000 + \(number) AS text), 2)"
    }

    private func numbers(_ first: Int, _ last: Int) -> String {
        switch dialect {
        case .sqlite:
            """
            (WITH RECURSIVE s (n) AS (SELECT \(first) UNION ALL SELECT n + 1 FROM s WHERE n < \(last)) SELECT n FROM s) AS s
            """
        case .postgres: "generate_series(\(first)::bigint, \(last)) AS s (n)"
        }
    }
}
