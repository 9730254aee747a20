package import Domain
import Store

/// Where an export of orders stands.
package struct OrderExport: Sendable {
    let period: ReportPeriod
    var last: ID<Order>?
    var hasEnded = false
}

extension Gateway {
    private static let exportPage: Int64 = 500

    /// Begins an export of the orders made in a period; without one, of all until now.
    ///
    /// - Throws: `invalidRequest`.
    package func beginExport(from: Timestamp?, to: Timestamp?) throws(GatewayError) -> OrderExport {
        OrderExport(period: try ReportPeriod(from: from, to: to, days: nil, limit: nil, now: time.now))
    }

    /// The next lines of an export as CSV (RFC 4180), in the order of the orders' ids; nil at the end.
    ///
    /// Amounts are minor units and times seconds since 1970, as everywhere in the API; for people, the price stands in
    /// major units and times in ISO 8601 beside them.
    package func continueExport(_ export: inout OrderExport) async throws(GatewayError) -> String? {
        guard !export.hasEnded else { return nil }
        let (period, last) = (export.period, export.last)
        let orders = try await report { db in
            try db.reports.listOrders(after: last, from: period.from, to: period.to, limit: Self.exportPage)
        }
        let header = last == nil ? CSV.line(ExportedOrder.columns) : ""
        export.hasEnded = orders.count < Int(Self.exportPage)
        export.last = orders.last?.order.id
        let lines = orders.reduce(into: header) { $0 += CSV.line($1.cells) }
        return lines.isEmpty ? nil : lines
    }
}

extension ExportedOrder {
    fileprivate static let columns = [
        "id", "user_id", "status", "sku", "quantity", "amount", "currency", "charged", "refunded", "provider",
        "platform", "environment", "created_at", "paid_at", "amount_major", "payment_reference", "refund_references",
        "created_at_iso", "paid_at_iso",
    ]

    /// The one currency is that of the money that moved; a price in another one is left out.
    fileprivate var cells: [String] {
        let currency = (order.charged ?? order.amount)?.currency
        let amount = order.amount?.currency == currency ? order.amount?.value : nil
        func number(_ value: Int64?) -> String { value.map(String.init) ?? "" }
        return [
            order.id.rawValue, userName ?? "erased", order.status.rawValue, order.sku.rawValue, number(order.quantity),
            number(amount), currency?.code ?? "", number(order.charged?.value),
            number(currency == nil ? nil : order.refunded + order.lost), provider ?? "", order.platform.rawValue,
            order.environment.rawValue, number(order.createdAt.rawValue), number(order.paidAt?.rawValue),
            order.amount?.currency == currency ? order.amount?.decimal ?? "" : "", paymentReference ?? "",
            refundReferences ?? "", order.createdAt.iso8601, order.paidAt?.iso8601 ?? "",
        ]
    }
}
