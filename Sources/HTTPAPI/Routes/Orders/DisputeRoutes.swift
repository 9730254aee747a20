import Domain
import Gateway
import HTTPTypes

/// The route of the disputes of all orders.
struct DisputeRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listDisputes", .get, "/v1/admin/disputes", .key([.admin, .adminRead]), .adminOrders, "Disputes",
                note: "Newest first.",
                query: [.query("status", .words(Dispute.State.self), "How it stands.")]
                    + Route.Query.page(of: "dsp"), answers: .page(.listedDispute), handle: list)
        ]
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.disputes.list(
            call.choice("status", Dispute.State.self), cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }
}

extension Shape {
    fileprivate static let listedDispute = named(
        "ListedDispute",
        .object([
            "id": .id("dsp"), "order_id": .id("ord"), "payment_id": .id("pay"), "user_id": .string,
            "status": .words(Dispute.State.self), "amount": .money, "created_at": .time,
        ]))
}
