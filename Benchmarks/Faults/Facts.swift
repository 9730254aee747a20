import Store

/// The contents of the database, read on one snapshot: the server's side of the comparison.
///
/// Subscriptions and their orders are apart, in ``RenewalRecords``.
struct Facts: Sendable {
    struct Purchase: Sendable {
        let original: String
        let user: String?
        let order: String?
        let quantity: Int64
    }

    struct Order: Sendable {
        let id: String
        let user: String
        let origin: String
        let sku: String
        let quantity: Int64
        let state: String
        let metadata: String
    }

    struct Payment: Sendable {
        let id: String
        let account: String
        let state: String
        let refunded: Int64
    }

    struct Refund: Sendable {
        let id: String
        let amount: Int64
        let state: String
    }

    struct Grant: Sendable {
        let id: String
        let user: String
        let order: String?
        let isRevoked: Bool
    }

    /// The source of a grant or of units.
    struct Source: Hashable, Sendable {
        let kind: String
        let id: String
    }

    struct Notification: Sendable {
        let account: String
        let status: String
    }

    /// The purchases by transaction id.
    let purchases: [String: Purchase]
    /// The user's external id, by original transaction id.
    let owners: [String: String]
    let orders: [String: Order]
    /// The payments by order id.
    let payments: [String: [Payment]]
    let refunds: [String: [Refund]]
    let grants: [Source: [Grant]]
    /// The number of credits by each source.
    let credits: [Source: Int64]
    /// The balances by the user's external id, of both environments together: the sandbox sells, and the App Store does.
    let balances: [String: Int64]
    let notifications: [String: Notification]
    /// The number of stored notifications that are not genuine.
    let refused: Int
    /// Subjects whose events are not numbered from 1 without a gap.
    let gaps: [String]
    /// The number of events by order id and type.
    let announced: [String: [String: Int64]]
    let renewals: RenewalRecords

    init(_ database: any Database) throws {
        var names: [String: String] = [:]
        for row in try database.rows("SELECT id, external_id FROM users") {
            names[try row.text("id")] = try row.text("external_id")
        }
        func name(_ row: Row) throws -> String { try names[row.text("user_id")] ?? "?" }

        purchases = try Self.index(
            try database.rows("SELECT * FROM purchases WHERE environment = 'Production'"), by: "transaction_id"
        ) { row in
            Purchase(
                original: try row.text("original_transaction_id"),
                user: try row.optionalText("user_id").map { names[$0] ?? "?" }, order: try row.optionalText("order_id"),
                quantity: try row.int("quantity"))
        }
        owners = try Self.index(
            try database.rows("SELECT * FROM purchase_owners WHERE environment = 'Production'"),
            by: "original_transaction_id", name)
        orders = try Self.index(
            try database.rows(
                """
                SELECT id, user_id, origin, sku, quantity, state, metadata FROM orders WHERE subscription_id IS NULL
                """), by: "id"
        ) { row in
            Order(
                id: try row.text("id"), user: try name(row), origin: try row.text("origin"), sku: try row.text("sku"),
                quantity: try row.int("quantity"), state: try row.text("state"), metadata: try row.text("metadata"))
        }
        payments = try Self.group(
            try database.rows("SELECT id, order_id, account, state, refunded FROM payments"), by: "order_id"
        ) { row in
            Payment(
                id: try row.text("id"), account: try row.text("account"), state: try row.text("state"),
                refunded: try row.int("refunded"))
        }
        refunds = try Self.group(
            try database.rows("SELECT id, order_id, amount, state FROM refunds"), by: "order_id"
        ) { row in
            Refund(id: try row.text("id"), amount: try row.int("amount"), state: try row.text("state"))
        }
        grants = try Self.grants(database, name)
        credits = try Self.credits(database)
        balances = try Self.index(
            try database.rows(
                "SELECT user_id, CAST(SUM(amount) AS BIGINT) AS amount FROM balances GROUP BY user_id"), key: name
        ) { try $0.int("amount") }
        refused = try database.rows("SELECT id FROM notifications WHERE status = 'rejected'").count
        notifications = try Self.index(
            try database.rows(
                "SELECT account, provider_event_id, status FROM notifications WHERE status <> 'rejected'"),
            by: "provider_event_id"
        ) { row in Notification(account: try row.text("account"), status: try row.text("status")) }
        gaps = try database.rows(
            "SELECT subject FROM events GROUP BY subject HAVING COUNT(*) <> MAX(sequence) OR MIN(sequence) <> 1"
        ).map { try $0.text("subject") }
        announced = try Self.announced(database)
        renewals = try RenewalRecords(database, users: names)
    }

    private static func grants(
        _ database: any Database, _ name: (Row) throws -> String
    ) throws -> [Source: [Grant]] {
        var grants: [Source: [Grant]] = [:]
        let sql = """
            SELECT id, user_id, source_kind, source_id, order_id, revoked_at FROM grants
            WHERE source_kind <> 'managed_subscription'
            """
        for row in try database.rows(sql) {
            let source = Source(kind: try row.text("source_kind"), id: try row.text("source_id"))
            grants[source, default: []].append(
                Grant(
                    id: try row.text("id"), user: try name(row), order: try row.optionalText("order_id"),
                    isRevoked: try row.optionalInt("revoked_at") != nil))
        }
        return grants
    }

    private static func credits(_ database: any Database) throws -> [Source: Int64] {
        var credits: [Source: Int64] = [:]
        let sql = "SELECT source_kind, source_id, COUNT(*) AS steps FROM ledger WHERE delta > 0 GROUP BY 1, 2"
        for row in try database.rows(sql) {
            credits[Source(kind: try row.text("source_kind"), id: try row.text("source_id"))] = try row.int("steps")
        }
        return credits
    }

    private static func announced(_ database: any Database) throws -> [String: [String: Int64]] {
        var announced: [String: [String: Int64]] = [:]
        let sql = """
            SELECT subject, type, COUNT(*) AS times FROM events
            WHERE type IN ('order.opened', 'order.paid', 'order.closed', 'refund.succeeded') GROUP BY subject, type
            """
        for row in try database.rows(sql) {
            announced[try row.text("subject"), default: [:]][try row.text("type")] = try row.int("times")
        }
        return announced
    }

    private static func index<Value>(
        _ rows: [Row], by column: String, _ value: (Row) throws -> Value
    ) throws -> [String: Value] {
        try index(rows, key: { try $0.text(column) }, value)
    }

    private static func index<Value>(
        _ rows: [Row], key: (Row) throws -> String, _ value: (Row) throws -> Value
    ) throws -> [String: Value] {
        var found: [String: Value] = [:]
        for row in rows { found[try key(row)] = try value(row) }
        return found
    }

    private static func group<Value>(
        _ rows: [Row], by column: String, _ value: (Row) throws -> Value
    ) throws -> [String: [Value]] {
        var found: [String: [Value]] = [:]
        for row in rows { found[try row.text(column), default: []].append(try value(row)) }
        return found
    }
}
