import Domain
import Gateway
import HTTPTypes

/// Routes of products that were bought and that no SKU knows, and of the preview of a pattern.
struct WaitingProductRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listWaitingProducts", .get, "/v1/admin/products/waiting", .key([.admin, .adminRead]), .catalogue,
                "Products that were bought and that no SKU knows", note: "The one that arrived last comes first.",
                query: Route.Query.page(.numberCursor), answers: .page(.waitingProduct), handle: list),
            Route(
                "previewPattern", .get, "/v1/admin/patterns/preview", .key([.admin, .adminRead]), .catalogue,
                "What a pattern of product ids would fit",
                query: [
                    .query(
                        "pattern", .appleProductID, "A product id with `${days}` in it, or `bundle:product`.",
                        isRequired: true)
                ], answers: .data(.patternPreview), handle: preview),
        ]
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        try await .page(try await gateway.catalogue.waitingProducts(cursor: call.cursor, limit: call.limit))
    }

    private func preview(_ call: Call) async throws(GatewayError) -> Answer {
        guard let pattern = call.query["pattern"] else {
            throw .invalidRequest(field: "pattern", reason: "is missing")
        }
        return try .json(try await gateway.catalogue.preview(pattern))
    }
}

extension Shape {
    fileprivate static let waitingProduct = named(
        "WaitingProduct",
        .object([
            "product_id": .string, "bundle_id": .string, "type": .string.noted("Apple's own word."),
            "count": .integer.noted("Of the purchases."), "users": .integer, "first_at": .time, "last_at": .time,
        ]))

    fileprivate static let patternPreview = named(
        "PatternPreview",
        .object([
            "matches": .list(
                .object(["product_id": .string, "days": .integer, "seen": .integer.noted("Purchases of it.")])
            ).noted("Of the products that were bought."),
            "clashes": .list(.string).noted("The active SKUs that name one of them or have the same pattern."),
        ]))
}
