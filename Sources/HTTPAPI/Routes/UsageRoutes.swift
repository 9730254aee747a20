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
    let usage: Usage

    init(_ usage: Usage) { self.usage = usage }

    private enum CodingKeys: String, CodingKey { case meter, limit, used, remaining, resets_at }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(usage.meter, forKey: .meter)
        try fields.encode(usage.limit, forKey: .limit)
        try fields.encode(usage.used, forKey: .used)
        try fields.encode(usage.remaining, forKey: .remaining)
        try fields.encode(usage.resetsAt, forKey: .resets_at)
    }
}
