import Domain
import Store

/// The progress of an export of orders.
package struct OrderExport: Sendable {
    let query: OrderQuery
    var last: ID<Order>?
    var hasEnded = false
}

extension ExportedOrder {
    static let columns = [
        "id", "user_id", "status", "sku", "quantity", "amount", "currency", "charged", "refunded", "provider",
        "platform", "environment", "created_at", "paid_at", "amount_major", "payment_reference", "refund_references",
        "created_at_iso", "paid_at_iso", "origin", "subscription_id",
    ]

    /// Returns the cells of an order's record.
    ///
    /// The record's currency is that of the payment; a price in another currency is left out.
    var cells: [String] {
        let currency = (order.charged ?? order.amount)?.currency
        let amount = order.amount?.currency == currency ? order.amount?.value : nil
        func number(_ value: Int64?) -> String { value.map(String.init) ?? "" }
        return [
            order.id.rawValue, userName ?? "erased", order.status.rawValue, order.sku.rawValue, number(order.quantity),
            number(amount), currency?.code ?? "", number(order.charged?.value),
            number(currency == nil ? nil : order.refunded + order.lost), provider ?? "", order.platform.rawValue,
            order.environment.rawValue, number(order.createdAt.rawValue), number(order.paidAt?.rawValue),
            order.amount?.currency == currency ? order.amount?.decimal ?? "" : "", paymentReference ?? "",
            refundReferences ?? "", order.createdAt.iso8601, order.paidAt?.iso8601 ?? "", order.origin.rawValue,
            order.period?.subscription.rawValue ?? "",
        ]
    }
}

/// Comma-separated values (RFC 4180).
enum CSV {
    /// Returns a record with its line end.
    static func line(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

    /// Returns a cell; text that a spreadsheet would take for a formula gets an apostrophe before it (OWASP, CSV
    /// injection).
    private static func cell(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) } ?? false
        let guarded = isFormula ? "'" + text : text
        let isPlain = guarded.unicodeScalars.allSatisfy { !"\",\r\n".unicodeScalars.contains($0) }
        return isPlain ? guarded : "\"" + guarded.replacing("\"", with: "\"\"") + "\""
    }
}
