import Domain
import Gateway
import HTTPTypes

/// Routes of a user's subscriptions, for the user, partners and admins.
struct SubscriptionRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listSubscriptions", .get, "/v1/public/subscriptions", .user, sessions: [.portal], .subscriptions,
                "The user's subscriptions", query: Route.Query.page(of: "sub"), answers: .page(.subscription),
                handle: list),
            Route(
                "readSubscription", .get, "/v1/public/subscriptions/{id}", .user, sessions: [.portal], .subscriptions,
                "One subscription",
                answers: .data(.subscription), refuses: [.notFound], handle: read),
            Route(
                "listPartnerSubscriptions", .get, "/v1/partner/users/{user_id}/subscriptions",
                .key([.entitlementsRead]), .subscriptions, "A user's subscriptions, for a partner",
                note: "A user id that was never seen has none.", query: Route.Query.page(of: "sub"),
                parameters: ["user_id": "The app's own id of the user."], answers: .page(.subscription),
                refuses: [.notFound], handle: listOfUser),
            Route(
                "listUserSubscriptions", .get, "/v1/admin/users/{user_id}/subscriptions", .key([.admin, .adminRead]),
                .subscriptions, "A user's subscriptions, for an admin", note: "A user id that was never seen has none.",
                query: Route.Query.page(of: "sub"), parameters: ["user_id": "The app's own id of the user."],
                answers: .page(.subscription), refuses: [.notFound], handle: listOfUser),
            Route(
                "extendSubscription", .post, "/v1/admin/subscriptions/{id}/extend", .key([.admin]), .subscriptions,
                "Has the store give days to a subscriber",
                note: """
                    What the store's limits forbid is a `conflict`. `temporarily_unavailable` with `details.reason` \
                    means that the store may have done it: look at the subscription before another extension.
                    """,
                body: .json(
                    .object([
                        "days": .integer(1...90),
                        "reason_code": .integer(0...3).noted(
                            "Apple's: 0 undeclared, 1 customer satisfaction, 2 other, 3 outage."),
                    ])), answers: .data(.subscriptionExtension), refuses: [.conflict, .providerUnavailable],
                handle: extend),
        ]
    }

    private func extend(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(ExtensionFields.self)
        return try .json(
            try await gateway.subscriptionExtensions.extend(
                call.parameter("id"), days: fields.days, reasonCode: fields.reason_code, context: call.context))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        try await list(call, of: call.user)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.subscriptions.find(call.parameter("id"), user: call.user))
    }

    private func listOfUser(_ call: Call) async throws(GatewayError) -> Answer {
        try await list(call, of: UserName.parse(call.parameter("user_id")))
    }

    private func list(_ call: Call, of user: ExternalUserID) async throws(GatewayError) -> Answer {
        let page = try await gateway.subscriptions.list(user: user, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }
}

private struct ExtensionFields: Decodable {
    let days: Int64
    let reason_code: Int64
}

extension Shape {
    static let subscription = named(
        "Subscription",
        .object([
            "id": .id("sub"), "sku": .string.orNull.noted("Of the current period's product."),
            "status": .words(Subscription.Status.self), "product_id": .string,
            "auto_renew_product_id": .string.orNull.noted("The product of the next period; null where none follows."),
            "will_renew": .boolean, "expires_at": .time, "grace_expires_at": .time.orNull,
            "environment": .words(Environment.self), "offer": offer.orNull,
            "price_increase": .words("pending", "accepted").orNull,
            "commitment_expires_at": .time.orNull.noted("The end of a commitment that is billed by the month."),
            "is_family_shared": .boolean, "original_transaction_id": .string,
            "orders": .list(.id("ord")).noted("The newest 100."),
        ]))

    /// An offer; unknown members are null.
    private static let offer = object([
        "type": .string.noted("introductory, promotional, offer_code, win_back, or a number of the store's."),
        "identifier": .string.orNull,
        "discount_type": .string.orNull.noted("Apple's word: FREE_TRIAL, PAY_AS_YOU_GO, PAY_UP_FRONT."),
        "period": .string.orNull.noted("An ISO 8601 duration, `P1M`."),
    ])

    fileprivate static let subscriptionExtension = named(
        "SubscriptionExtension",
        .object([
            "id": .id("sub"), "days": .integer,
            "expires_at": .time.orNull.noted("When the current period ends now; null where the store did not say."),
        ]))
}
