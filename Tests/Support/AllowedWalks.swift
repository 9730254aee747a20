/// The statements that may scan a table that grows, and the reason of each.
enum AllowedWalks {
    /// Tables whose rows are as many as an operator has configured; every scan of them is allowed.
    static let smallTables: Set<String> = [
        "account_book", "account_overrides", "api_keys", "apple_products", "clock", "console_sessions", "counters",
        "missed_notifications",
        // Development alone fills these, with as many rows as somebody has bought by hand.
        "box_meta", "box_notifications", "box_subscriptions", "box_transactions",
        "schema_migrations", "skus", "webhooks",
    ]

    static let growingTables: Set<String> = [
        "audit", "audit_reasons", "audit_seals", "balances", "deliveries", "disputes", "events", "grants",
        "idempotency_keys", "instrument_claims", "jobs", "learned_facts", "ledger", "mismatches", "notifications",
        "offer_signatures", "order_anomalies",
        "order_places", "order_sums", "order_timeline", "orders", "payments", "purchase_owners", "purchase_shares",
        "purchases", "receipts", "refunds", "rescinded_consents", "subscriptions", "usage", "user_states", "users",
    ]

    static let tables = smallTables.union(growingTables)

    private static let page = "a list in this order, nothing of which is passed over: it ends with the page"
    private static let due = "what is due, the longest due first, and no more than is taken at once"
    private static let sealing = "the command that seals everything again reads all of it, in pages"
    private static let left = "holds only what is left to do"

    /// The reason why each walk is allowed, by table and index; an empty index is the table itself.
    static let reasons: [Walk: String] = [
        Walk(table: "audit", index: "audit_by_time"): page,
        Walk(table: "audit", index: "audit_unsealed"): left,
        Walk(table: "audit_seals", index: ""): "the last one",
        Walk(table: "audit_seals", index: "audit_seals_pkey"): "the last one",
        Walk(table: "audit", index: "audit_by_actor"): page,
        Walk(table: "deliveries", index: "deliveries_again"): due,
        Walk(table: "deliveries", index: "deliveries_failed"): "the newest, of which one is enough",
        Walk(table: "deliveries", index: "deliveries_first"): due,
        Walk(table: "deliveries", index: "deliveries_listed"): page,
        // PostgreSQL joins them with the list of their ids, and begins with the side that is smaller by its statistics.
        Walk(table: "deliveries", index: "deliveries_pkey"): "as many as the list has",
        Walk(table: "disputes", index: "disputes_by_state"): "disputes, which are few",
        Walk(table: "disputes", index: "disputes_pkey"): page,
        Walk(table: "disputes", index: "sqlite_autoindex_disputes_1"): page,
        Walk(table: "events", index: "events_without_seq"): left,
        Walk(table: "events", index: "sqlite_autoindex_events_2"): page,
        Walk(table: "idempotency_keys", index: "idempotency_abandoned"): due,
        Walk(table: "idempotency_keys", index: "idempotency_by_age"): due,
        Walk(table: "idempotency_keys", index: "idempotency_undigested"): left,
        Walk(table: "idempotency_keys", index: "idempotency_keys_pkey"): sealing,
        Walk(table: "idempotency_keys", index: "sqlite_autoindex_idempotency_keys_1"): sealing,
        Walk(table: "jobs", index: "jobs_by_state"): page,
        Walk(table: "jobs", index: "jobs_due"): due,
        Walk(table: "jobs", index: "jobs_leased"): "those that run",
        Walk(table: "jobs", index: "jobs_pkey"): page,
        Walk(table: "jobs", index: "sqlite_autoindex_jobs_1"): page,
        Walk(table: "learned_facts", index: "learned_facts_pkey"): "the last one",
        Walk(table: "learned_facts", index: "sqlite_autoindex_learned_facts_1"): "the last one",
        Walk(table: "mismatches", index: "mismatches_open"): left,
        Walk(table: "notifications", index: "notifications_by_account"): page,
        Walk(table: "notifications", index: "notifications_by_status"): page,
        Walk(table: "notifications", index: "notifications_pkey"): page,
        Walk(table: "notifications", index: "notifications_with_raw"): due,
        Walk(table: "notifications", index: "notifications_refused"): "what is refused, which is bounded by account",
        Walk(table: "notifications", index: "sqlite_autoindex_notifications_1"): page,
        Walk(table: "offer_signatures", index: "offer_signatures_by_time"): due,
        Walk(table: "offer_signatures", index: "offer_signatures_pkey"): sealing,
        Walk(table: "offer_signatures", index: "sqlite_autoindex_offer_signatures_1"): sealing,
        Walk(table: "order_places", index: "order_places_pkey"): page,
        Walk(table: "order_sums", index: "order_sums_pkey"): "at most 400 days",
        Walk(table: "orders", index: "orders_by_payday"): "a period of at most 400 days",
        Walk(table: "orders", index: "orders_by_place"): page,
        Walk(table: "orders", index: "orders_by_return"): "a period of at most 400 days",
        Walk(table: "orders", index: "orders_open"): due,
        // PostgreSQL walks this index where the table is empty, for an order that the statement also names by its id.
        Walk(table: "orders", index: "orders_open_by_user"): "one order",
        Walk(table: "orders", index: "sqlite_autoindex_orders_1"): "an export, page by page",
        Walk(table: "payments", index: "payments_in_flight"): "those of one account that are not final, page by page",
        Walk(table: "payments", index: "payments_pkey"): "the newest hundred",
        Walk(table: "payments", index: "payments_to_look_at"): due,
        Walk(table: "payments", index: "sqlite_autoindex_payments_1"): "the newest hundred",
        Walk(table: "purchases", index: "purchases_by_arrival"): page,
        Walk(table: "purchases", index: "purchases_by_product"): "the products that begin with a pattern's text",
        Walk(table: "purchases", index: "purchases_from_box"): "only where somebody develops",
        Walk(table: "purchases", index: "purchases_in_xcode"): "only where somebody develops",
        Walk(table: "purchases", index: "purchases_pkey"): sealing,
        Walk(table: "purchases", index: "purchases_unmapped"): page,
        Walk(table: "purchases", index: "sqlite_autoindex_purchases_1"): "once after a migration, page by page",
        Walk(table: "purchases", index: "purchases_without_sku"): page,
        Walk(table: "purchases", index: "purchases_without_user"): page,
        Walk(table: "receipts", index: "receipts_pkey"): sealing,
        Walk(table: "receipts", index: "sqlite_autoindex_receipts_1"): "so many are looked at, used or not",
        Walk(table: "refunds", index: "refunds_pkey"): "a period of at most 400 days",
        Walk(table: "refunds", index: "sqlite_autoindex_refunds_1"): "a period of at most 400 days",
        Walk(table: "refunds", index: "refunds_in_flight"): "those that are not final, which are few",
        Walk(table: "refunds", index: "refunds_to_look_at"): due,
        Walk(table: "subscriptions", index: "subscriptions_by_account"): page,
        Walk(table: "subscriptions", index: "subscriptions_to_check"): due,
        Walk(table: "user_states", index: "user_states_by_change"): due,
        Walk(table: "users", index: "sqlite_autoindex_users_2"): page,
        Walk(table: "users", index: "users_external_id_key"): page,
    ]

    /// Allowed walks whose rows may also be sorted, because they are few.
    static let sorted: Set<Walk> = [
        Walk(table: "order_sums", index: "order_sums_pkey"),
        // The orders of one id at a provider; PostgreSQL takes the smallest index where all tables are empty.
        Walk(table: "purchases", index: "purchases_in_xcode"),
        // `paydesk doctor` counts by product the purchases that no SKU knows.
        Walk(table: "purchases", index: "purchases_without_sku"), Walk(table: "refunds", index: "refunds_in_flight"),
    ]
}
