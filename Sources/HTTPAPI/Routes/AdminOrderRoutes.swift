import Domain
import Gateway
import HTTPTypes
import ProviderKit

/// Orders and refunds for admins (`api.md` section 11).
struct AdminOrderRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/admin/orders", .key([.admin, .adminRead]), handle: list),
            Endpoint(.get, "/v1/admin/orders/{id}", .key([.admin, .adminRead]), handle: read),
            Endpoint(.post, "/v1/admin/orders/{id}/refunds", .key([.admin]), handle: refund),
            Endpoint(.post, "/v1/admin/orders/{id}/close", .key([.admin]), handle: close),
            Endpoint(.post, "/v1/admin/orders/{id}/mismatches/{n}", .key([.admin]), handle: settleMismatch),
        ]
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.orders.list(call.orderQuery, cursor: call.cursor, limit: call.limit)
        return try await .namedPage(page)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .namedJSON(try await gateway.orders.find(call.parameter("id")))
    }

    private func refund(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(RefundFields.self)
        let refund = try await gateway.refunds.request(
            call.parameter("id"), amount: fields.amount, reason: fields.checkedReason(), context: call.context)
        return try .json(refund)
    }

    private func settleMismatch(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(MismatchFields.self)
        guard let act = Mismatch.Act(rawValue: fields.act) else {
            throw .invalidRequest(field: "act", reason: .words(Mismatch.Act.allCases.map(\.rawValue)))
        }
        let reason = fields.reason ?? ""
        guard (1...500).contains(reason.unicodeScalars.count), !reason.isBlank else {
            throw .invalidRequest(field: "reason", reason: "must have 1 to 500 characters")
        }
        guard let n = Int64(try call.parameter("n")) else { throw .notFound }
        return try .namedJSON(
            try await gateway.mismatches.settle(
                call.parameter("id"), n, act, reason: reason, context: call.context))
    }

    private func close(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(try await gateway.orderClosing.close(call.parameter("id"), context: call.context))
    }
}

private struct MismatchFields: Decodable {
    let act: String
    let reason: String?
}

/// The body of a refund.
struct RefundFields: Decodable {
    let amount: Money?
    let reason: String?

    func checkedReason() throws(GatewayError) -> String {
        let reason = reason ?? ""
        guard reason.hasScalars(0...500) else {
            throw .invalidRequest(field: "reason", reason: "at most 500 characters")
        }
        return reason
    }
}

extension Call {
    /// What a list of orders is asked for.
    var orderQuery: OrderQuery {
        get throws(GatewayError) {
            var order = OrderQuery(
                status: try choice("status"), provider: query["provider"], reference: query["reference"],
                from: try time("from"), to: try time("to"))
            if let name = query["user_id"] { order.user = try UserName.parse(name) }
            return order
        }
    }
}

/// A user's name in a path, a query or a body.
enum UserName {
    static func parse(_ text: String) throws(GatewayError) -> ExternalUserID {
        guard let user = ExternalUserID(text) else {
            throw .invalidRequest(
                field: "user_id", reason: "must have 1 to 128 characters, none of them a control character")
        }
        return user
    }
}
