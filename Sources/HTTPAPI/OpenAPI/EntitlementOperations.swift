import Domain
import HTTPTypes

extension OperationGroup {
    /// `api.md` section 5.
    static let entitlements = OperationGroup(
        name: "Entitlements and usage", note: "What a user owns, why, and how much of a meter is left.",
        operations: [
            Operation(
                "readEntitlements", .get, "/v1/public/entitlements", "What the user owns now",
                note: "A user who was never seen owns nothing.", answers: .tagged(.entitlements)),
            Operation(
                "explainEntitlements", .get, "/v1/public/entitlements/explain",
                "The facts that led to what the user owns",
                note: "In the language of `Accept-Language`; of orders, purchases and balances the latest 200.",
                query: [.query("sku", .string, "Only what concerns this SKU.")],
                answers: .data(.explanation), refuses: [.skuNotFound]),
            Operation(
                "readUsage", .get, "/v1/public/usage/{meter}", "How much of a meter is used in this period",
                parameters: meter, answers: .data(.usage), refuses: [.notFound]),
            Operation(
                "consumeUsage", .post, "/v1/public/usage/{meter}/consume", "Uses some of a meter",
                note: "All or nothing: beyond the limit nothing is consumed.",
                parameters: meter,
                body: .json(.consumption), answers: .data(.usage), refuses: [.usageLimitReached]),
        ])

    private static let meter = ["meter": "One of the configured meters."]
}

extension Shape {
    /// Everything that a user owns.
    static let entitlements = named(
        "Entitlements",
        .object([
            "user_id": .string, "version": .integer.noted("Grows with every change; 0 for a user never seen."),
            "active": .boolean, "tier": .string.noted("Of the membership; empty where there is none."),
            "expires_at": .time.orNull.noted("Null when nothing is active or when it is perpetual."),
            "tier_expires_at": .time.orNull.noted("The end of the tier that is shown, which a lower tier may outlast."),
            "perpetual": .boolean, "next_change_at": .time.orNull.noted("When time alone changes this answer."),
            "tiers": .list(
                .object([
                    "tier": .string, "rank": .integer, "expires_at": .time.orNull, "perpetual": .boolean,
                ])),
            "entitlements": .list(entitlement), "balances": .map(.integer).noted("By unit."),
            "sandbox_balances": .map(.integer).noted("By unit, of Sandbox and Xcode."),
        ]))

    /// One thing that a user was given.
    static let entitlement = named(
        "Entitlement",
        .object([
            "id": .id("grt"), "sku": .string, "kind": .words(SKU.Kind.self), "tier": .string,
            "status": .words(Entitlement.Status.self), "starts_at": .time, "expires_at": .time.orNull,
            "perpetual": .boolean, "will_renew": .boolean, "environment": .words(Environment.self),
            "source": .object([
                "type": .words(Grant.SourceKind.self), "id": .string, "order_id": .id("ord").orNull,
            ]),
            "attributes": .map(.any).noted("The SKU's."),
        ]))

    /// Why a user owns something.
    static let explanation = named(
        "Explanation",
        .object([
            "user_id": .string, "sku": .string.orNull.noted("Null where it is about everything."),
            "active": .boolean.noted("Whether the SKU is owned now; without one, whether there is a membership."),
            "facts": .list(
                .object([
                    "at": .time, "type": .string, "text": .string.noted("A sentence for people."),
                    "order_id": .id("ord").orNull, "grant_id": .id("grt").orNull,
                ])
            ).noted("Oldest first."),
            "conclusion": .string.noted("Sentences for people."),
        ]))

    static let consumption = object(
        [:], optional: ["amount": .integer(1...1_000_000).orNull.noted("1 where it is left out.")])

    static let usage = named(
        "Usage",
        .object([
            "meter": .string, "limit": .integer.orNull.noted("Null: unlimited."), "used": .integer,
            "remaining": .integer.orNull, "resets_at": .time,
        ]))
}
