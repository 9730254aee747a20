import Domain
import Gateway
import HTTPTypes
import ProviderKit

/// Routes of all orders for admins, and of payments with an unexpected amount.
struct AdminOrderRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listAllOrders", .get, "/v1/admin/orders", .key([.admin, .adminRead]), .adminOrders, "Orders",
                note: "Every filter that is named restricts.",
                query: Route.Query.orderFilters + Route.Query.page(of: "ord"),
                answers: .page(.adminOrder), handle: list),
            Route(
                "readAnyOrder", .get, "/v1/admin/orders/{id}", .key([.admin, .adminRead]), .adminOrders, "One order",
                answers: .data(.adminOrderWithGrants), refuses: [.orderNotFound], handle: read),
            Route(
                "refreshAnyOrder", .post, "/v1/admin/orders/{id}/refresh", .key([.admin]), .adminOrders,
                "Asks the provider now how it stands",
                note: "Once in five seconds for each order, else `rate_limited`.", body: .json(.object([:])),
                answers: .data(.adminOrder), refuses: [.orderNotFound, .rateLimited],
                handle: refresh),
            Route(
                "closeOrder", .post, "/v1/admin/orders/{id}/close", .key([.admin]), .adminOrders,
                "Closes an open order",
                note: "Its attempts are cancelled, or asked about, first; one that was paid meanwhile stays paid.",
                body: .json(.object([:])), answers: .data(.partnerOrder),
                refuses: [.orderNotFound, .orderNotOpen, .providerUnavailable], handle: close),
            Route(
                "settleMismatch", .post, "/v1/admin/orders/{id}/mismatches/{n}", .key([.admin]), .adminOrders,
                "Settles money that came with another amount",
                note: "Accepted, it pays the order with what came; returned, it goes back as a refund.",
                parameters: ["n": "Its number in the order's `mismatches`."], body: .json(.mismatchAct),
                answers: .data(.adminOrder), refuses: [.orderNotFound, .notFound, .conflict], handle: settleMismatch),
        ]
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.orders.list(call.orderQuery, cursor: call.cursor, limit: call.limit)
        return try await .namedPage(page)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .namedJSON(try await gateway.orders.find(call.parameter("id")))
    }

    private func refresh(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(try await gateway.reconciliation.refresh(call.parameter("id"), context: call.context))
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
        return try .json(
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

extension Call {
    /// The filter of a list of orders.
    var orderQuery: OrderQuery {
        get throws(GatewayError) {
            var order = OrderQuery(
                status: try choice("status"), provider: query["provider"], reference: query["reference"],
                from: try time("from"), to: try time("to"))
            order.sku = query["sku"]
            (order.anomaly, order.dispute) = (try choice("anomaly"), try choice("dispute"))
            (order.environment, order.platform) = (try choice("environment"), try choice("platform"))
            if let name = query["user_id"] { order.user = try UserName.parse(name) }
            return order
        }
    }
}

extension Route.Query {
    /// The filters of admins' lists of orders, which `Call.orderQuery` reads.
    static let orderFilters: [Route.Query] = [
        query("user_id", .userID, "The app's own id of the user."),
        query("status", .words(Order.Status.self), "How it stands."),
        query("provider", .string, "The account of one of its payments."),
        query("reference", .string, "The provider's own id of one of its payments."),
        query("from", .moment, "Made then or later."), query("to", .moment, "Made before."),
        query("sku", .string, "What was ordered."),
        query("anomaly", .words(Anomaly.self), "What was odd about it."),
        query("dispute", .words(Dispute.State.self), "How one of its disputes stands."),
        query("environment", .words(Environment.self), "Where it is paid, or was."),
        query("platform", .words(Platform.self), "Where it was made."),
    ]
}

extension Shape {
    static let adminOrder = named("AdminOrder", adminOrderMembers)

    fileprivate static let adminOrderWithGrants = named(
        "AdminOrderWithGrants",
        adminOrderMembers.adding(["grants": .list(.entitlement).noted("What it gave, as it stands now.")]))

    private static let adminOrderMembers = partnerOrderMembers.adding(
        [
            "mismatches": .list(
                .named(
                    "OrderMismatch",
                    .object([
                        "n": .integer.noted("From 1."), "payment_id": .id("pay"), "amount": .money, "at": .time,
                        "state": .words(Mismatch.State.self),
                    ]))
            ).noted("Money that came with another amount than was asked.")
        ])

    fileprivate static let mismatchAct = object([
        "act": .words(Mismatch.Act.self),
        "reason": .string(1...500, pattern: #"[^\u0000]*\S[^\u0000]*"#).noted("In Unicode scalars, not blank."),
    ])
}
