import Domain
import Gateway
import HTTPTypes

/// Routes of a user's own orders (`docs/api.md` section 4).
struct OrderRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listOrders", .get, "/v1/public/orders", .user, sessions: [.portal], .orders, "The user's orders",
                query: Route.Query.page(of: "ord"), answers: .page(.order), handle: list),
            Route(
                "readOrder", .get, "/v1/public/orders/{id}", .user, sessions: [.checkout, .portal], .orders,
                "One order", note: "To a session with empty `metadata`.", answers: .data(.order),
                refuses: [.orderNotFound], handle: read),
            Route(
                "cancelOrder", .post, "/v1/public/orders/{id}/cancel", .user, sessions: [.checkout], .orders,
                "Closes an open order",
                note: "Its attempts are cancelled, or asked about, first; one that was paid meanwhile stays paid.",
                body: .json(.object([:])), answers: .data(.order),
                refuses: [.orderNotFound, .orderNotOpen, .providerUnavailable], handle: cancel),
            Route(
                "refreshOrder", .post, "/v1/public/orders/{id}/refresh", .user, sessions: [.checkout], .orders,
                "Asks the provider now how it stands",
                note: "Once in five seconds for each order, else `rate_limited`.", body: .json(.object([:])),
                answers: .data(.order), refuses: [.orderNotFound, .rateLimited], handle: refresh),
        ]
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.orders.list(user: call.user, cursor: call.cursor, limit: call.limit)
        return try await .page(page.map { call.shown($0) })
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        let id = try await call.requireOrder(call.parameter("id"), gateway)
        return try .json(call.shown(try await gateway.orders.find(id, user: call.user)))
    }

    private func cancel(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        let id = try await call.requireOrder(call.parameter("id"), gateway)
        return try .json(
            call.shown(try await gateway.orderClosing.cancel(id, user: call.user, context: call.context)))
    }

    private func refresh(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        let id = try await call.requireOrder(call.parameter("id"), gateway)
        return try .json(
            call.shown(try await gateway.reconciliation.refresh(id, user: call.user, context: call.context)))
    }
}

extension Shape {
    /// An order as its user sees it.
    static let order = named("Order", orderMembers)

    /// An order as a partner or an admin sees it.
    static let partnerOrder = named(
        "PartnerOrder", partnerOrderMembers)

    static let partnerOrderMembers = orderMembers.adding(["user_id": .string])

    private static let orderMembers = object(
        [
            "id": .id("ord"), "status": .words(Order.Status.self),
            "next_action": .words(NextAction.self).noted(
                "`pay`: the attempt waits for the payer; `wait`: an outcome is awaited; `retry`: make another attempt."),
            "origin": .words(Order.Origin.self), "sku": .string,
            "quantity": .integer, "days": .integer.orNull, "amount": .money.orNull, "charged": .money.orNull,
            "refunded": .money.orNull, "provider": .string.orNull, "platform": .string.orNull,
            "environment": .words(Environment.self), "subscription_id": .id("sub").orNull,
            "metadata": .map(.string), "created_at": .time, "expires_at": .time.orNull, "paid_at": .time.orNull,
            "closed_at": .time.orNull, "anomalies": .list(.words(Anomaly.self)), "payments": .list(payment),
            "refunds": .list(refund), "disputes": .list(dispute),
            "timeline": .list(timelineEntry),
        ],
        optional: ["partner": .string])

    private static let payment = named(
        "OrderPayment",
        .object([
            "id": .id("pay"), "provider": .string, "processor": .string.orNull, "status": .words(Payment.State.self),
            "reference": .string.orNull.noted("The provider's own id, once known."), "amount": .money,
            "failure": .paymentFailure.orNull,
            "unfenced": .boolean.noted("Another attempt was made although this one may still be paid."),
            "created_at": .time,
        ]))

    private static let timelineEntry = named(
        "OrderTimelineEntry", .object(["at": .time, "type": .string, "detail": .string]))

    private static let paymentFailure = named(
        "PaymentFailure",
        .object([
            "reason": .string.noted("`[a-z_]+`, the provider's own word where it gave one."), "message": .string,
            "retryable": .boolean,
        ]))

    static let refund = named(
        "OrderRefund",
        .object(
            [
                "id": .id("ref"), "payment_id": .id("pay"), "status": .words(Refund.State.self), "amount": .money,
                "reference": .string.orNull.noted("The provider's own id, once known."),
                "created_at": .time,
            ],
            optional: ["reason": .string]))

    private static let dispute = named(
        "OrderDispute",
        .object([
            "id": .id("dsp"), "payment_id": .id("pay"), "status": .words(Dispute.State.self), "amount": .money,
            "created_at": .time,
        ]))
}
