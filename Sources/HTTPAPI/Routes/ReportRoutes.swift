import Domain
import Foundation
import Gateway
import HTTPTypes
import Hummingbird
import NIOCore

/// What admins look up and add up (`api.md` section 11).
struct ReportRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/v1/admin/purchases", .key([.admin, .adminRead]), handle: purchases),
            Endpoint(.get, "/v1/admin/stats", .key([.admin, .adminRead]), handle: stats),
            Endpoint(.get, "/v1/admin/export/orders.csv", .key([.admin, .adminRead]), handle: orders),
        ]
    }

    private func purchases(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.purchases.listWaiting(
            call.choice("state", PurchaseWait.self), cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private enum Step: String, CaseIterable {
        case day
    }

    private func stats(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.choice("by", Step.self)
        return try .json(
            Listing(items: try await gateway.reports.sumOrders(from: call.time("from"), to: call.time("to"))))
    }

    private func orders(_ call: Call) async throws(GatewayError) -> Answer {
        var export = try gateway.reports.beginExport(from: call.time("from"), to: call.time("to"))
        // The first lines are read before the answer begins, so that what goes wrong at once is an error.
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

/// An export as the client takes it, one page in memory at a time.
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
