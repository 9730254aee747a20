import Domain
import Gateway
import HTTPTypes

/// Routes of users, for admins: a list, and one user with everything that is theirs.
struct PeopleRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listUsers", .get, "/v1/admin/users", .key([.admin, .adminRead]), .adminUsers, "Users, by their ids",
                note: "In the order of the app's own ids. Erased users are left out.",
                query: [.query("prefix", .plain(0...128), "The beginning of the app's own id.")]
                    + Route.Query.page(.userID), answers: .page(.personLine), handle: list),
            Route(
                "readUser", .get, "/v1/admin/users/{user_id}", .key([.admin, .adminRead]), .adminUsers,
                "A user with everything that is theirs",
                note: "The newest 20 orders, and at most 100 subscriptions and purchases.",
                parameters: ["user_id": "The app's own id of the user, 1 to 128 characters."],
                answers: .data(.person), refuses: [.notFound], handle: read),
        ]
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.people.list(
            prefix: call.query["prefix"] ?? "", cursor: call.cursor, limit: call.limit)
        return try await .namedPage(page)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .namedJSON(try await gateway.people.find(call.namedUser))
    }
}

extension Shape {
    fileprivate static let personLine = named(
        "UserLine",
        .object([
            "user_id": .string, "created_at": .time, "tier": .string.noted("Empty where there is no membership."),
            "active": .boolean, "orders": .integer.noted("How many there are."),
        ]))

    fileprivate static let person = named(
        "User",
        .object([
            "user_id": .string, "created_at": .time,
            "app_account_token": .string.orNull.noted("What StoreKit purchases carry; null before it is made."),
            "entitlements": .entitlements, "subscriptions": .list(.subscription),
            "balances": .map(.integer), "sandbox_balances": .map(.integer),
            "usage": .list(
                .object(["meter": .string, "limit": .integer.orNull, "used": .integer, "resets_at": .time])),
            "purchases": .list(.purchaseOfUser), "orders": .list(.adminOrder),
        ]))
}
