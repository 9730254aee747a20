import Domain
import Gateway
import HTTPTypes

/// Meters (`api.md` section 5).
struct UsageRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/public/usage/{meter}", .user, handle: read),
            Endpoint(.post, "/v1/public/usage/{meter}/consume", .user, handle: consume),
            Endpoint(
                .get, "/v1/partner/users/{user_id}/usage/{meter}", .key([.entitlementsRead]), handle: readOfUser),
            Endpoint(
                .post, "/v1/partner/users/{user_id}/usage/{meter}/consume", .key([.entitlementsWrite]),
                handle: consumeOfUser),
        ]
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(UsageView(try await gateway.meters.usage(of: call.parameter("meter"), user: call.user)))
    }

    private func readOfUser(_ call: Call) async throws(GatewayError) -> Answer {
        let user = try UserName.parse(call.parameter("user_id"))
        return try .json(UsageView(try await gateway.meters.usage(of: call.parameter("meter"), user: user)))
    }

    private func consume(_ call: Call) async throws(GatewayError) -> Answer {
        try await consume(call, of: call.user)
    }

    private func consumeOfUser(_ call: Call) async throws(GatewayError) -> Answer {
        try await consume(call, of: UserName.parse(call.parameter("user_id")))
    }

    private func consume(_ call: Call, of user: ExternalUserID) async throws(GatewayError) -> Answer {
        let fields = try call.decode(ConsumeFields.self)
        let usage = try await gateway.meters.consume(
            call.parameter("meter"), amount: fields.amount ?? 1, user: user, context: call.context)
        return try .json(UsageView(usage))
    }
}

private struct ConsumeFields: Decodable {
    let amount: Int64?
}

private struct UsageView: Encodable {
    let meter: String
    @Nullable private(set) var limit: Int64?
    let used: Int64
    @Nullable private(set) var remaining: Int64?
    let resets_at: Timestamp

    init(_ usage: Usage) {
        meter = usage.meter
        limit = usage.limit
        used = usage.used
        remaining = usage.remaining
        resets_at = usage.resetsAt
    }
}
