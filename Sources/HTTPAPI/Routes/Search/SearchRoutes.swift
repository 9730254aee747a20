import Domain
import Gateway
import HTTPTypes

/// The route of the search over all subjects.
struct SearchRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "search", .get, "/v1/admin/search", .key([.admin, .adminRead]), .operationsForAdmins,
                "Finds a subject by its id",
                note: """
                    Exact matches first: of orders, payments, refunds, disputes, providers' own ids, Apple's transaction \
                    ids, users, SKUs, subscriptions, webhooks and notifications; then users by the beginning of their ids. \
                    At most 20.
                    """,
                query: [.query("q", .plain(1...128), "What to look for, 1 to 128 characters.", isRequired: true)],
                answers: .page(.searchResult), handle: search)
        ]
    }

    private func search(_ call: Call) async throws(GatewayError) -> Answer {
        guard let text = call.query["q"] else { throw .invalidRequest(field: "q", reason: "is missing") }
        return try .namedJSON(Listing(items: try await gateway.search.find(text)))
    }
}

extension Shape {
    fileprivate static let searchResult = named(
        "SearchResult",
        .object([
            "type": .words(SearchResult.Kind.self),
            "id": .string.noted("Of a payment or a refund its order; of a transaction the original one."),
            "label": .string.noted("The name to show."), "hint": .string.noted("A few words about it."),
        ]))
}
