import Domain
import Gateway
import HTTPTypes

/// Routes of the orders that a partner may see.
struct PartnerOrderRoutes {
    let gateway: Gateway

    private static let filters: [Route.Query] = [
        .query("user_id", .userID, "Whose orders."),
        .query("status", .words(Order.Status.self), "How they stand."),
        .query("provider", .string, "The id of an account that a payment was made with."),
        .query("reference", .string, "The provider's own id of a payment."),
        .query("from", .moment, "Made at this time or later."),
        .query("to", .moment, "Made before this time."),
    ]

    var routes: [Route] {
        [
            Route(
                "listPartnerOrders", .get, "/v1/partner/orders", .key([.ordersRead]), .partner,
                "The orders that the partner may see", note: "Its own, and those that no partner made.",
                query: Self.filters + Route.Query.page(of: "ord"), answers: .page(.partnerOrder), handle: orders),
            Route(
                "readPartnerOrder", .get, "/v1/partner/orders/{id}", .key([.ordersRead]), .partner, "One order",
                answers: .data(.partnerOrder), refuses: [.orderNotFound], handle: order),
            Route(
                "cancelPartnerOrder", .post, "/v1/partner/orders/{id}/cancel", .key([.checkoutWrite]), .partner,
                "Closes an open order",
                note: "Its attempts are cancelled, or asked about, first; one that was paid meanwhile stays paid.",
                body: .json(.object([:])), answers: .data(.partnerOrder),
                refuses: [.orderNotFound, .orderNotOpen, .providerUnavailable], handle: cancel),
        ]
    }

    private func orders(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.orders.list(
            call.orderQuery, visibleTo: call.callingKey.partner, cursor: call.cursor, limit: call.limit)
        return try await .namedPage(page)
    }

    private func order(_ call: Call) async throws(GatewayError) -> Answer {
        try .namedJSON(try await gateway.orders.find(call.parameter("id"), visibleTo: call.callingKey.partner))
    }

    private func cancel(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.orderClosing.cancel(
                call.parameter("id"), visibleTo: call.callingKey.partner, context: call.context))
    }
}
