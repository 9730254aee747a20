/// A type of App Store Server Notification with a subtype, from the list in Apple's documentation.
struct AppleNotificationPair: Hashable, Sendable, CustomStringConvertible {
    let type: String
    let subtype: String?

    init(_ type: String, _ subtype: String? = nil) {
        self.type = type
        self.subtype = subtype
    }

    var description: String { [type, subtype].compactMap { $0 }.joined(separator: "/") }

    /// The subtypes; nil stands for none, and a type may have pairs with and without one.
    private static let subtypes: [(type: String, subtypes: [String?])] = [
        ("SUBSCRIBED", ["INITIAL_BUY", "RESUBSCRIBE"]),
        ("OFFER_REDEEMED", [nil, "UPGRADE", "DOWNGRADE"]),
        ("DID_RENEW", [nil, "BILLING_RECOVERY"]),
        ("DID_CHANGE_RENEWAL_PREF", ["UPGRADE", "DOWNGRADE", nil]),
        ("DID_CHANGE_RENEWAL_STATUS", ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"]),
        ("DID_FAIL_TO_RENEW", ["GRACE_PERIOD", nil]),
        ("GRACE_PERIOD_EXPIRED", [nil]),
        ("EXPIRED", ["VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", nil]),
        ("PRICE_INCREASE", ["PENDING", "ACCEPTED"]),
        ("RENEWAL_EXTENDED", [nil]),
        ("RENEWAL_EXTENSION", ["SUMMARY", "FAILURE"]),
        ("REFUND", [nil]), ("REFUND_REVERSED", [nil]), ("REFUND_DECLINED", [nil]),
        ("REVOKE", [nil]),
        ("CONSUMPTION_REQUEST", [nil]),
        ("ONE_TIME_CHARGE", [nil]),
        ("EXTERNAL_PURCHASE_TOKEN", ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"]),
        ("RESCIND_CONSENT", [nil]),
        ("METADATA_UPDATE", [nil]), ("MIGRATION", [nil]), ("PRICE_CHANGE", [nil]),
        ("TEST", [nil]),
    ]

    static let all = subtypes.flatMap { row in row.subtypes.map { AppleNotificationPair(row.type, $0) } }
}
