import Domain
import Foundation
import Gateway
import HTTPTypes
import Hummingbird
import NIOCore

/// Routes of statistics and exports for admins.
struct ReportRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "readStats", .get, "/v1/admin/stats", .key([.admin, .adminRead]), .adminOrders,
                "Orders and money by day of UTC, or by something else, and currency",
                note: """
                    All at once unless `limit` is given; days newest first, and whole, also the first and the last. Without \
                    test purchases unless `environment` says otherwise.
                    """,
                query: [
                    .query(
                        "from", .moment,
                        "30 days before `to` where it is left out; at most 400, but 100 years for days of Production."),
                    .query("to", .moment, "Up to before this time; until now where it is left out."),
                    .query("by", .words(StatsStep.self), "What is summed: `day` where it is left out."),
                    .query("currency", .knownCurrency, "This one alone."),
                    .query("environment", .words(Environment.self), "`Production` where it is left out."),
                ] + Route.Query.page(.numberCursor), answers: .page(.sumOfOrders), handle: stats),
            Route(
                "exportOrders", .get, "/v1/admin/export/orders.csv", .key([.admin, .adminRead]), .adminOrders,
                "Orders as CSV",
                note: "Oldest first, by the filters of the list of orders; made until now where `to` is left out.",
                query: Route.Query.orderFilters,
                answers: .other(
                    "text/csv",
                    "RFC 4180 with a header; amounts are minor units, `amount_major` and `…_iso` are for people."),
                handle: orders),
        ]
    }

    private func stats(_ call: Call) async throws(GatewayError) -> Answer {
        let query = StatsQuery(
            try call.choice("by") ?? .day, from: try call.time("from"), to: try call.time("to"),
            currency: try call.currency("currency"), environment: try call.choice("environment") ?? .production)
        let limit = call.query["limit"] == nil ? nil : try call.limit
        return try await .namedPage(try await gateway.reports.sumOrders(query, cursor: call.cursor, limit: limit))
    }

    private func orders(_ call: Call) async throws(GatewayError) -> Answer {
        var export = try gateway.reports.beginExport(call.orderQuery)
        // The first lines are read before the answer begins, so that an immediate failure gets an error status.
        let first = try await gateway.reports.continueExport(&export)
        return .streamed(
            contentType: "text/csv; charset=utf-8; header=present",
            body: ResponseBody(asyncSequence: ExportLines(gateway: gateway, first: first, export: export)),
            headers: [
                HTTPField(name: .contentDisposition, value: #"attachment; filename="orders.csv""#),
                HTTPField(name: .cacheControl, value: "no-store"),
            ])
    }
}

/// The lines of an export as the client reads them, with a page in memory at a time.
private struct ExportLines: AsyncSequence, Sendable {
    let gateway: Gateway
    let first: String?
    let export: OrderExport

    struct Iterator: AsyncIteratorProtocol {
        let gateway: Gateway
        var first: String?
        var export: OrderExport

        mutating func next() async throws -> ByteBuffer? {
            if let lines = first {
                first = nil
                return ByteBuffer(string: lines)
            }
            return try await gateway.reports.continueExport(&export).map { ByteBuffer(string: $0) }
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(gateway: gateway, first: first, export: export) }
}

extension Shape {
    fileprivate static let sumOfOrders = named(
        "OrderSums",
        .object(
            [
                "key": .string.noted(
                    "A day, a contract type, a SKU, an account or a platform; `none` for what has none."),
                "currency": .currency.orNull.noted("Null for orders that have none."), "orders_opened": .integer,
                "orders_paid": .integer, "charged": .money.orNull,
                "refunded": .money.orNull.noted("Lost disputes too."),
                "lost": .money.orNull.noted("Lost disputes alone."),
            ], optional: ["day": .string.noted("The key where it is a day: `2025-01-31`.")]))
}
