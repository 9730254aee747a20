import Domain
import Gateway
import HTTPTypes

/// Routes of refunds for admins and partners.
struct RefundRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "refundOrder", .post, "/v1/admin/orders/{id}/refunds", .key([.admin]), .adminOrders,
                "Gives money of an order back",
                note: """
                    The refund is durable before the provider is asked; the same `Idempotency-Key` goes on with it. \
                    What Apple was paid only Apple gives back: `provider_rejected`.
                    """, body: .json(.moneyBack), answers: .data(.refundForAdmins),
                refuses: [.orderNotFound, .refundExceedsCaptured, .providerRejected, .providerUnavailable],
                handle: refund),
            Route(
                "refundPartnerOrder", .post, "/v1/partner/orders/{id}/refunds", .key([.refundsWrite]), .partner,
                "Gives money of an order back", note: "What Apple was paid only Apple gives back: `provider_rejected`.",
                body: .json(.moneyBack), answers: .data(.refundForAdmins),
                refuses: [.orderNotFound, .refundExceedsCaptured, .providerRejected, .providerUnavailable],
                handle: refundOwn),
        ]
    }

    private func refund(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(RefundFields.self)
        let refund = try await gateway.refunds.request(
            call.parameter("id"), amount: fields.amount, reason: fields.checkedReason(), context: call.context)
        return try .json(refund)
    }

    private func refundOwn(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(RefundFields.self)
        return try .json(
            try await gateway.refunds.request(
                call.parameter("id"), amount: fields.amount, reason: fields.checkedReason(),
                visibleTo: call.callingKey.partner, context: call.context))
    }
}

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

extension Shape {
    static let moneyBack = named("NewRefund", moneyBackMembers).shown(
        #"{"amount":{"value":990,"currency":"CNY"},"reason":"delivered late"}"#)

    private static let moneyBackMembers = object(
        [:],
        optional: [
            "amount": .refundAmount.orNull.noted(
                "All that is left of one payment where it is left out; what was paid twice goes back first."),
            "reason": .string(0...500).orNull.noted("In Unicode scalars."),
        ])

    static let refundForAdmins = named(
        "Refund",
        .object([
            "id": .id("ref"), "order_id": .id("ord"), "payment_id": .id("pay"), "status": .words(Refund.State.self),
            "amount": .money, "reference": .string.orNull, "reason": .string, "created_at": .time,
        ]))
}
