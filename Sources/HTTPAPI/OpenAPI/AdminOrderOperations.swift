import Domain
import HTTPTypes

extension OperationGroup {
    /// Orders, refunds and reports of `api.md` section 11.
    static let adminOrders = OperationGroup(
        name: "Orders, for admins", note: "Everybody's orders, refunds, and what they come to.",
        operations: [
            Operation(
                "listAllOrders", .get, "/v1/admin/orders", "Orders", note: "Every filter that is named restricts.",
                query: Operation.Query.ordersForAdmins, answers: .page(.adminOrder)),
            Operation(
                "readAnyOrder", .get, "/v1/admin/orders/{id}", "One order", answers: .data(.adminOrder),
                refuses: [.orderNotFound]),
            Operation(
                "refundOrder", .post, "/v1/admin/orders/{id}/refunds", "Gives money of an order back",
                note: """
                    The refund is durable before the provider is asked; the same `Idempotency-Key` goes on with it. \
                    What Apple was paid only Apple gives back: `provider_rejected`.
                    """,
                body: .json(.moneyBack), answers: .data(.refundForAdmins),
                refuses: [.orderNotFound, .refundExceedsCaptured, .providerRejected, .providerUnavailable]),
            Operation(
                "closeOrder", .post, "/v1/admin/orders/{id}/close", "Closes an open order",
                note: "Its attempts are cancelled, or asked about, first; one that was paid meanwhile stays paid.",
                body: .json(.object([:])), answers: .data(.partnerOrder),
                refuses: [.orderNotFound, .orderNotOpen, .providerUnavailable]),
            Operation(
                "settleMismatch", .post, "/v1/admin/orders/{id}/mismatches/{n}",
                "Settles money that came with another amount",
                note: "Accepted, it pays the order with what came; returned, it goes back as a refund.",
                parameters: ["n": "Its number in the order's `mismatches`."], body: .json(.mismatchAct),
                answers: .data(.adminOrder), refuses: [.orderNotFound, .notFound, .conflict]),
            Operation(
                "readStats", .get, "/v1/admin/stats", "Orders and money by day of UTC and currency",
                note:
                    "All at once, the newest day first, without test purchases; days are whole, also the first and the last.",
                query: [
                    .query("from", .moment, "30 days before `to` where it is left out, and at most 400."),
                    .query("to", .moment, "Up to before this time; until now where it is left out."),
                    .query("by", .words("day"), "The one step that there is."),
                ],
                answers: .page(.dayOfOrders)),
            Operation(
                "exportOrders", .get, "/v1/admin/export/orders.csv", "Orders as CSV", note: "Oldest first.",
                query: [
                    .query("from", .moment, "When the first was made; all where it is left out."),
                    .query("to", .moment, "Before which the last was made; until now where it is left out."),
                ],
                answers: .other(
                    "text/csv",
                    "RFC 4180 with a header; amounts are minor units, `amount_major` and `…_iso` are for people.")),
        ])
}

extension Operation.Query {
    fileprivate static let ordersForAdmins: [Operation.Query] =
        [
            query("user_id", .userID, "The app's own id of the user."),
            query("status", .words(Order.Status.self), "How it stands."),
            query("provider", .string, "The account of one of its payments."),
            query("reference", .string, "The provider's own id of one of its payments."),
            query("from", .moment, "Made then or later."), query("to", .moment, "Made before."),
        ] + page(of: "ord")
}

extension Shape {
    fileprivate static let adminOrder = named(
        "AdminOrder",
        partnerOrderMembers.adding([
            "mismatches": .list(
                .object([
                    "n": .integer.noted("From 1."), "payment_id": .id("pay"), "amount": .money, "at": .time,
                    "state": .words(Mismatch.State.self),
                ])
            ).noted("Money that came with another amount than was asked.")
        ]))

    fileprivate static let mismatchAct = object([
        "act": .words(Mismatch.Act.self),
        "reason": .string(1...500, pattern: #"[^\u0000]*\S[^\u0000]*"#).noted("In Unicode scalars, not blank."),
    ])

    static let moneyBack = named("NewRefund", moneyBackMembers).shown(
        #"{"amount":{"value":990,"currency":"CNY"},"reason":"delivered late"}"#)

    private static let moneyBackMembers = object(
        [:],
        optional: [
            "amount": .refundAmount.orNull.noted(
                "All that is left of one payment where it is left out; what was paid twice goes back first."),
            "reason": .string(0...500).orNull.noted("In Unicode scalars."),
        ])

    static let refundForAdmins = named(
        "Refund",
        .object([
            "id": .id("ref"), "order_id": .id("ord"), "payment_id": .id("pay"), "status": .words(Refund.State.self),
            "amount": .money, "reference": .string.orNull, "reason": .string, "created_at": .time,
        ]))

    fileprivate static let dayOfOrders = named(
        "DayStats",
        .object([
            "day": .string.noted("`2025-01-31`."),
            "currency": .currency.orNull.noted("Null for orders that have none."), "orders_opened": .integer,
            "orders_paid": .integer, "charged": .money.orNull,
            "refunded": .money.orNull.noted("Lost disputes too."),
        ]))
}
