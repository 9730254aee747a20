import Domain
import Gateway
import HTTPTypes

/// Routes of the usage of meters.
struct UsageRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "readUsage", .get, "/v1/public/usage/{meter}", .user, .entitlements,
                "How much of a meter is used in this period", parameters: ["meter": "One of the configured meters."],
                answers: .data(.usage), refuses: [.notFound], handle: read),
            Route(
                "consumeUsage", .post, "/v1/public/usage/{meter}/consume", .user, .entitlements, "Uses some of a meter",
                note: "All or nothing: beyond the limit nothing is consumed.",
                parameters: ["meter": "One of the configured meters."], body: .json(.consumption),
                answers: .data(.usage), refuses: [.usageLimitReached], handle: consume),
            Route(
                "readPartnerUsage", .get, "/v1/partner/users/{user_id}/usage/{meter}", .key([.entitlementsRead]),
                .partner, "How much of a meter is used",
                parameters: ["user_id": "The app's own id of the user.", "meter": "A configured meter's id."],
                answers: .data(.usage), refuses: [.notFound], handle: readOfUser),
            Route(
                "consumePartnerUsage", .post, "/v1/partner/users/{user_id}/usage/{meter}/consume",
                .key([.entitlementsWrite]), .partner, "Uses a meter", note: "All or nothing.",
                parameters: ["user_id": "The app's own id of the user.", "meter": "A configured meter's id."],
                body: .json(.consumption), answers: .data(.usage), refuses: [.usageLimitReached, .notFound],
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

extension Shape {
    static let consumption = object(
        [:], optional: ["amount": .integer(1...1_000_000).orNull.noted("1 where it is left out.")])

    static let usage = named(
        "Usage",
        .object([
            "meter": .string, "limit": .integer.orNull.noted("Null: unlimited."), "used": .integer,
            "remaining": .integer.orNull, "resets_at": .time,
        ]))
}
