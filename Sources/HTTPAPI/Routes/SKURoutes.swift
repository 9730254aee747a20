import Domain
import Gateway
import HTTPTypes

/// The catalogue for admins (`api.md` section 11).
struct SKURoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.post, "/v1/admin/skus", .key([.admin]), handle: create),
            Endpoint(.get, "/v1/admin/skus", .key([.admin, .adminRead]), handle: list),
            Endpoint(.get, "/v1/admin/skus/{id}", .key([.admin, .adminRead]), handle: read),
            Endpoint(.patch, "/v1/admin/skus/{id}", .key([.admin]), handle: change),
            Endpoint(.delete, "/v1/admin/skus/{id}", .key([.admin]), handle: archive),
        ]
    }

    private func create(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.catalogue.create(try call.decode(), context: call.context))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.catalogue.list(cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.catalogue.find(call.parameter("id")))
    }

    private func change(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(
            try await gateway.catalogue.change(
                call.parameter("id"), call.decode(Patch<SKU>.self).value, context: call.context)
        )
    }

    private func archive(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.catalogue.archive(call.parameter("id"), context: call.context))
    }
}
