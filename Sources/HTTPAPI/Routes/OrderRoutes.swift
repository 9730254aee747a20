import Domain
import Gateway
import HTTPTypes

/// A user's own orders (`api.md` section 4).
struct OrderRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/public/orders", .user, handle: list),
            Endpoint(.get, "/v1/public/orders/{id}", .user, handle: read),
            Endpoint(.post, "/v1/public/orders/{id}/cancel", .user, handle: cancel),
            Endpoint(.post, "/v1/public/orders/{id}/refresh", .user, handle: refresh),
        ]
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.orders.list(user: call.user, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.orders.find(call.parameter("id"), user: call.user))
    }

    private func cancel(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.orderClosing.cancel(call.parameter("id"), user: call.user, context: call.context))
    }

    private func refresh(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.reconciliation.refresh(call.parameter("id"), user: call.user, context: call.context))
    }
}

/// The body of a call that takes none: an empty one, or an object without members.
struct NoFields: Decodable {
    private enum CodingKeys: CodingKey {}

    init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: CodingKeys.self) }
}
