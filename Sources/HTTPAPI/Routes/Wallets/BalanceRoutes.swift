import Domain
import Gateway
import HTTPTypes

/// Routes of users' units: those that staff give, those that partners take, and the history of a balance.
struct BalanceRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "creditPartnerBalance", .post, "/v1/partner/users/{user_id}/balances/{unit}/credit",
                .key([.entitlementsWrite]), .partner, "Gives units of a balance", note: "Of the production balance.",
                parameters: ["user_id": "The app's own id of the user.", "unit": "A unit that SKUs credit, `coins`."],
                body: .json(.credit), answers: .data(.balance), refuses: [.conflict]
            ) {
                (call) async throws(GatewayError) in try await credit(call, by: .partner)
            },
            Route(
                "creditBalance", .post, "/v1/admin/users/{user_id}/balances/{unit}/credit", .key([.admin]), .adminUsers,
                "Gives units of a balance", note: "Of the production balance.",
                parameters: [
                    "user_id": "The app's own id of the user, 1 to 128 characters.",
                    "unit": "A unit that SKUs credit, `coins`.",
                ], body: .json(.credit), answers: .data(.balance), refuses: [.conflict]
            ) {
                (call) async throws(GatewayError) in try await credit(call, by: .admin)
            },
            Route(
                "debitUserBalance", .post, "/v1/admin/users/{user_id}/balances/{unit}/debit", .key([.admin]),
                .adminUsers, "Takes units of a balance", note: "All or nothing, of the production balance.",
                parameters: [
                    "user_id": "The app's own id of the user, 1 to 128 characters.",
                    "unit": "A unit that SKUs credit, `coins`.",
                ], body: .json(.credit), answers: .data(.balance), refuses: [.insufficientBalance]
            ) {
                (call) async throws(GatewayError) in
                let fields = try call.decode(CreditFields.self)
                return try .json(
                    try await gateway.wallets.debit(
                        fields.amount, of: call.parameter("unit"), from: call.namedUser, reason: fields.reason,
                        by: .admin, context: call.context))
            },
            Route(
                "listPartnerBalanceHistory", .get, "/v1/partner/users/{user_id}/balances/{unit}/history",
                .key([.entitlementsRead]), .partner, "How a balance became what it is",
                query: Route.Query.page(.numberCursor),
                parameters: ["user_id": "The app's own id of the user.", "unit": "A unit that SKUs credit, `coins`."],
                answers: .page(.balanceChange), handle: history),
            Route(
                "listBalanceHistory", .get, "/v1/admin/users/{user_id}/balances/{unit}/history",
                .key([.admin, .adminRead]), .adminUsers, "How a balance became what it is",
                query: Route.Query.page(.numberCursor),
                parameters: [
                    "user_id": "The app's own id of the user, 1 to 128 characters.",
                    "unit": "A unit that SKUs credit, `coins`.",
                ], answers: .page(.balanceChange), handle: history),
            Route(
                "debitBalance", .post, "/v1/partner/users/{user_id}/balances/{unit}/debit", .key([.entitlementsWrite]),
                .partner, "Uses units of a balance", note: "All or nothing, of the production balance.",
                parameters: ["user_id": "The app's own id of the user.", "unit": "A unit that SKUs credit, `coins`."],
                body: .json(.debit), answers: .data(.balance), refuses: [.insufficientBalance], handle: debit),
        ]
    }

    private func credit(_ call: Call, by kind: Grant.SourceKind) async throws(GatewayError) -> Answer {
        let fields = try call.decode(CreditFields.self)
        return try .json(
            try await gateway.wallets.credit(
                fields.amount, of: call.parameter("unit"), to: UserName.parse(call.parameter("user_id")),
                reason: fields.reason, by: kind, context: call.context))
    }

    private func history(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.wallets.history(
            of: call.parameter("unit"), user: UserName.parse(call.parameter("user_id")), cursor: call.cursor,
            limit: call.limit)
        return try await .page(page)
    }

    private func debit(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(DebitFields.self)
        let balance = try await gateway.wallets.debit(
            fields.amount, of: call.parameter("unit"), from: call.namedUser, reason: fields.reason ?? "",
            context: call.context)
        return try .json(balance)
    }
}

private struct CreditFields: Decodable {
    let amount: Int64
    let reason: String
}

private struct DebitFields: Decodable {
    let amount: Int64
    let reason: String?
}

extension Shape {
    fileprivate static let debit = named(
        "NewDebit",
        .object(["amount": .integer(1...1_000_000_000_000)], optional: ["reason": .string(0...500).orNull]))

    static let credit = named(
        "BalanceUnits", .object(["amount": .integer(1...1_000_000_000_000), "reason": .string(1...500)]))

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
}
