/// A change of a stored fact of a managed subscription without the gateway, and the beginnings of exactly the violations
/// that it makes.
struct SubscriptionAlteration: Sendable {
    /// The statement without its `UPDATE`, or a whole `DELETE`.
    let sql: String
    let found: [String]

    /// Changes a column of the subscription.
    static func column(_ name: String, _ value: String, _ found: [String]? = nil) -> SubscriptionAlteration {
        SubscriptionAlteration(sql: "managed_subscriptions SET \(name) = \(value)", found: found ?? ["\(name) is "])
    }

    /// Changes a column of its grant.
    static func grant(_ name: String, _ value: String) -> SubscriptionAlteration {
        SubscriptionAlteration(
            sql: "grants SET \(name) = \(value) WHERE source_kind = 'managed_subscription'",
            found: ["grant.\(name) is "])
    }

    /// Changes a column of the order of its first period.
    static func order(_ name: String, _ value: String) -> SubscriptionAlteration {
        SubscriptionAlteration(
            sql: "orders SET \(name) = \(value) WHERE period_index = 0",
            found: ["the \(name) of the order of period 0 is "])
    }
}

extension SubscriptionAlteration {
    private static let noPrice = "'prc_00000000000000000000000000'"

    /// Changes of one that runs its second period.
    static let running: [SubscriptionAlteration] = [
        .column("user_id", "(SELECT MIN(user_id) FROM user_states s WHERE s.user_id <> managed_subscriptions.user_id)"),
        .column("environment", "'Production'"), .column("sku", "'club_year'"), .column("stack_group", "'other'"),
        .column("terms", #"REPLACE(terms, '"tier":"Club"', '"tier":"Gold"')"#), .column("account", "'box-qr'"),
        .column("currency", "'USD'"), .column("price", "price + 1"), .column("unit", "'week'"),
        .column("unit_count", "2"), .column("trial_days", "7"), .column("grace_days", "5"),
        .column("anchor_at", "anchor_at + 1"), .column("anchor_index", "anchor_index + 1"),
        .column("period_index", "period_index + 1"), .column("period_start", "period_start + 1"),
        .column("period_end", "period_end + 1"), .column("extended_days", "5"), .column("cancellation", "'canceled'"),
        .column("price_change", "\(noPrice), price_told = \(noPrice)"),
        .column(
            "state", "'ended', ended_at = period_end, end_reason = 'canceled'",
            [
                "a mandate of a subscription that has ended", "end_reason is ", "ended_at is ", "state is ",
            ]),
        .column("failed_at", "1"), .column("refusal", "'hard'"), .column("tries", "1"), .column("next_try_at", "1"),
        .column("charging_stopped_by", "'dispute'"), .column("held_seconds", "5"), .column("retried_at", "1"),
        .column("noticed", "'x'"), .column("external_id", "'x'"), .column("locale", "'zh'"),
        .column("partner", "'acme'"), .column("created_at", "created_at - 1"),
        .column("due_at", "NULL", ["it runs, and nothing is due"]),
        .column("due_at", "due_at + 8640000", ["its next act is due at "]),
        .column("notice_at", "NULL", ["the notice of its renewal is due at no time"]),
        .column("notice_at", "notice_at + 8640000", ["the notice of its renewal is due at "]),
        .order("period_start", "period_start + 1"), .order("period_end", "period_end + 1"),
        .order("period_index", "9"), .order("sku", "'club_year'"),
        SubscriptionAlteration(
            sql: "orders SET subscription_id = NULL, period_index = NULL WHERE period_index = 0",
            found: ["1 of its orders are paid, by its history 2", "the subscription_id of the order of period 0 is "]),
    ]

    /// Changes of its grant, whose other rules find them, too.
    static let grants: [SubscriptionAlteration] = [
        .grant("sku", "'club_year'"), .grant("kind", "'non_renewing'"), .grant("tier", "'Gold'"), .grant("rank", "41"),
        .grant("order_id", "(SELECT id FROM orders WHERE period_index = 0)"), .grant("environment", "'Production'"),
        .grant("purchased_at", "purchased_at + 1"), .grant("ends_at", "ends_at + 1"), .grant("stack_group", "'x'"),
        .grant("attributes", #"'{"x":1}'"#), .grant("suspended", "1"), .grant("paid_until", "paid_until + 1"),
        .grant("billing_retry", "0"), .grant("will_renew", "0"), .grant("upgraded", "1"),
        SubscriptionAlteration(
            sql: "grants SET revoked_at = 1, revoked_by = 'refund' WHERE source_kind = 'managed_subscription'",
            found: ["grant.revoked_at is ", "grant.revoked_by is "]),
    ]

    /// Changes of one whose renewal was refused.
    static let refused: [SubscriptionAlteration] = [
        .column("failed_at", "failed_at + 1"), .column("refusal", "'hard'"), .column("tries", "tries + 1"),
        .column("next_try_at", "next_try_at + 1"), .column("due_at", "NULL", ["it runs, and nothing is due"]),
    ]

    /// Changes of one that has asked for another plan.
    static let changing: [SubscriptionAlteration] = [
        .column("plan", "NULL"), .column("plan", #"REPLACE(plan, '"price":29900', '"price":1')"#),
    ]

    /// Changes of one whose price was announced.
    static let priced: [SubscriptionAlteration] = [
        .column("price_change", "NULL"),
        .column("price_told", "NULL", ["a subscription was not told of the price"]),
    ]

    /// Changes of one that has ended.
    static let ended: [SubscriptionAlteration] = [
        .column("ended_at", "ended_at + 1"), .column("end_reason", "'lapsed'"),
        .column("due_at", "5", ["it does not run, and something is due at 5"]),
        .column("notice_at", "5", ["it does not run, and a notice is due at 5"]),
        SubscriptionAlteration(
            sql: "mandates SET state = 'active'", found: ["a mandate of a subscription that has ended"]),
        SubscriptionAlteration(
            sql: "payments SET created_at = created_at + 100000000 WHERE mandate_id IS NOT NULL",
            found: ["a mandate was charged after its subscription had ended"]),
    ]

    /// Changes of its history.
    ///
    /// - Parameter renewal: the position of its first renewal.
    static func histories(renewal: Int64) -> [SubscriptionAlteration] {
        [
            SubscriptionAlteration(
                sql: "DELETE FROM subscription_timeline WHERE position = 1", found: ["its history lacks entry 1"]),
            SubscriptionAlteration(
                sql: "subscription_timeline SET cause = 'nonsense' WHERE position = 2",
                found: ["entry 2 of its history, nonsense, is of no kind that is known"]),
            SubscriptionAlteration(
                sql: "subscription_timeline SET detail = '{}' WHERE position = 1",
                found: ["entry 1 of its history, opened, lacks a fact"]),
            SubscriptionAlteration(
                sql: "subscription_timeline SET cause = 'recovered' WHERE cause = 'renewed'",
                found: ["entry \(renewal) of its history, recovered, is another kind of renewal"]),
            SubscriptionAlteration(
                sql: "subscription_timeline SET cause = 'cancel_requested' WHERE position = 2",
                found: ["entry 2 of its history, cancel_requested, cannot follow the entries before it"]),
        ]
    }
}
