import Domain
import Gateway
import HTTPTypes

/// What staff give of a user's units, and how balances became what they are.
struct BalanceRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        let path = "users/{user_id}/balances/{unit}"
        return [
            Endpoint(.post, "/v1/partner/\(path)/credit", .key([.entitlementsWrite])) {
                (call) async throws(GatewayError) in try await credit(call, by: .partner)
            },
            Endpoint(.post, "/v1/admin/\(path)/credit", .key([.admin])) {
                (call) async throws(GatewayError) in try await credit(call, by: .admin)
            },
            Endpoint(.get, "/v1/partner/\(path)/history", .key([.entitlementsRead]), handle: history),
            Endpoint(.get, "/v1/admin/\(path)/history", .key([.admin, .adminRead]), handle: history),
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
}

private struct CreditFields: Decodable {
    let amount: Int64
    let reason: String
}
