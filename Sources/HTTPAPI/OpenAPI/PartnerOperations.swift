import Domain
import HTTPTypes

extension OperationGroup {
    /// `api.md` section 10; webhooks have a part of their own.
    static let partner = OperationGroup(
        name: "Partner", note: "What partners' servers may do for users.",
        operations: [
            Operation(
                "readPartnerEntitlements", .get, "/v1/partner/users/{user_id}/entitlements", "What a user owns",
                note: "A user id that was never seen owns nothing.", parameters: user, answers: .tagged(.entitlements)),
            Operation(
                "debitBalance", .post, "/v1/partner/users/{user_id}/balances/{unit}/debit", "Uses units of a balance",
                note: "All or nothing, of the production balance.",
                parameters: ["user_id": "The app's own id of the user.", "unit": "A unit that SKUs credit, `coins`."],
                body: .json(.debit), answers: .data(.balance), refuses: [.insufficientBalance]),
            Operation(
                "creditPartnerBalance", .post, "/v1/partner/users/{user_id}/balances/{unit}/credit",
                "Gives units of a balance", note: "Of the production balance.", parameters: unit,
                body: .json(.credit), answers: .data(.balance), refuses: [.conflict]),
            Operation(
                "listPartnerBalanceHistory", .get, "/v1/partner/users/{user_id}/balances/{unit}/history",
                "How a balance became what it is", query: Operation.Query.page(.numberCursor), parameters: unit,
                answers: .page(.balanceChange)),
            Operation(
                "listPartnerProducts", .get, "/v1/partner/products", "What is sold here",
                note: "The same list as a user's; nothing in it is `owned`.",
                query: [
                    .query("platform", .words(Platform.self), "Hides what nobody could sell there."),
                    .query("currency", .knownCurrency, "Only SKUs with a price in it."),
                    .query("locale", .string, "The language of names, before `Accept-Language`."),
                ],
                answers: .page(.product)),
            Operation(
                "readPartnerUsage", .get, "/v1/partner/users/{user_id}/usage/{meter}", "How much of a meter is used",
                parameters: meter, answers: .data(.usage), refuses: [.notFound]),
            Operation(
                "consumePartnerUsage", .post, "/v1/partner/users/{user_id}/usage/{meter}/consume", "Uses a meter",
                note: "All or nothing.", parameters: meter, body: .json(.consumption), answers: .data(.usage),
                refuses: [.usageLimitReached, .notFound]),
            Operation(
                "cancelPartnerOrder", .post, "/v1/partner/orders/{id}/cancel", "Closes an open order",
                note: "Its attempts are cancelled, or asked about, first; one that was paid meanwhile stays paid.",
                body: .json(.object([:])), answers: .data(.partnerOrder),
                refuses: [.orderNotFound, .orderNotOpen, .providerUnavailable]),
            Operation(
                "refundPartnerOrder", .post, "/v1/partner/orders/{id}/refunds", "Gives money of an order back",
                note: "What Apple was paid only Apple gives back: `provider_rejected`.",
                body: .json(.moneyBack), answers: .data(.refundForAdmins),
                refuses: [.orderNotFound, .refundExceedsCaptured, .providerRejected, .providerUnavailable]),
            Operation(
                "createPartnerGrant", .post, "/v1/partner/users/{user_id}/grants",
                "Gives a user a SKU without an order",
                note: """
                    For so many days it stacks like a bought pass, until a time it does not; with neither it lasts as \
                    long as the SKU says. Both together are refused.
                    """,
                parameters: user, body: .json(.newGrant), answers: .data(.entitlement), refuses: [.skuNotFound]),
            Operation(
                "openPartnerCheckout", .post, "/v1/partner/checkout", "Makes a user's order and the contract to pay it",
                note: "No other partner sees the order.",
                body: .json(.partnerCheckout), answers: .data(.contract),
                refuses: [
                    .skuNotFound, .alreadyOwned, .conflict, .noProviderAvailable, .providerRejected,
                    .providerUnavailable,
                ]),
            Operation(
                "listPartnerOrders", .get, "/v1/partner/orders", "The orders that the partner may see",
                note: "Its own, and those that no partner made.", query: orderFilters + Operation.Query.page(of: "ord"),
                answers: .page(.partnerOrder)),
            Operation(
                "readPartnerOrder", .get, "/v1/partner/orders/{id}", "One order", answers: .data(.partnerOrder),
                refuses: [.orderNotFound]),
            Operation(
                "listEvents", .get, "/v1/partner/events", "What has happened, oldest first",
                note: """
                    Only the types that the key's other scopes let it read: `orders:read` those of orders, refunds and \
                    disputes, `entitlements:read` the rest. A page may be empty although more follow.
                    """,
                query: [
                    .query("after", .integer(0...Int64.max), "The `seq` after which to begin; 0 where it is left out."),
                    .query("cursor", .integer(0...Int64.max), "The same, as every list calls it."),
                    .query("limit", .integer(1...200), "How many items; 50 where it is left out."),
                ],
                answers: .data(
                    .object([
                        "items": .list(.event),
                        "next_cursor": .integer.orNull.noted("For `after`; null where nothing more has happened yet."),
                    ]))),
        ])

    private static let user = ["user_id": "The app's own id of the user."]
    private static let unit = user.merging(["unit": "A unit that SKUs credit, `coins`."]) { $1 }
    private static let meter = user.merging(["meter": "A configured meter's id."]) { $1 }

    private static let orderFilters: [Operation.Query] = [
        .query("user_id", .userID, "Whose orders."),
        .query("status", .words(Order.Status.self), "How they stand."),
        .query("provider", .string, "The id of an account that a payment was made with."),
        .query("reference", .string, "The provider's own id of a payment."),
        .query("from", .moment, "Made at this time or later."),
        .query("to", .moment, "Made before this time."),
    ]
}

extension Shape {
    fileprivate static let debit = named(
        "NewDebit",
        .object(["amount": .integer(1...1_000_000_000_000)], optional: ["reason": .string(0...500).orNull]))

    static let credit = object(["amount": .integer(1...1_000_000_000_000), "reason": .string(1...500)])

    static let balanceChange = named(
        "BalanceChange",
        .object([
            "at": .time, "amount": .integer.noted("Negative for a debit."),
            "balance": .integer.noted("What the change left of the same environment."), "reason": .string.orNull,
            "environment": .words(Environment.self),
            "source": .object([
                "type": .string.noted("`order`, `apple_transaction`, `admin` or `partner`."), "id": .string,
            ]),
        ]))

    static let balance = named("Balance", .object(["unit": .string, "balance": .integer]))

    fileprivate static let partnerCheckout = named(
        "PartnerCheckout", checkout.unnamed.adding(["user_id": .userID]))

    fileprivate static let event = named(
        "Event",
        .object([
            "id": .id("evt"), "at": .time,
        ]).adding(eventMembers))

    /// What the list of events and a webhook's message have in common.
    static let eventMembers: KeyValuePairs<String, Shape> = [
        "type": .words(EventType.self),
        "seq": .integer.noted("Ascends over all events."), "sequence": .integer.noted("Counts per subject."),
        "subject": .string.noted("The id of the order, subscription, original transaction or user that it is about."),
        "data": .any.noted(
            """
            The full snapshot after what happened. Of `order.…`, `refund.…` and `dispute.…` a `PartnerOrder` without \
            its refunds' reasons; of `entitlements.changed` the `Entitlements`; of `subscription.changed` a \
            `Subscription` and its `user_id`; of `purchase.attached` `user_id`, `transaction_id`, \
            `original_transaction_id`, `product_id`, `environment`, `sku` and `order_id`; of `purchase.unmapped` the \
            same without the last two; of `purchase.transferred` `original_transaction_id`, `environment`, \
            `from_user_id` (null where nobody had it) and `user_id`; of `balance.overdrawn` `user_id`, `unit` and \
            `balance`.
            """),
    ]
}
