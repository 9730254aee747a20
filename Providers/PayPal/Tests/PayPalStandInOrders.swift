import Domain
import Foundation
import ProviderKit
import Synchronization

/// Orders, captures and refunds of the fake server.
extension FakePayPalServer {
    static func make(_ call: FakePayPalServerCall, _ state: inout State) -> IncomingReply {
        let object = call.object
        let units = object["purchase_units"] as? [[String: Any]] ?? []
        let wallet = (object["payment_source"] as? [String: Any])?["paypal"] as? [String: Any]
        let experience = wallet?["experience_context"] as? [String: Any] ?? [:]
        guard object["intent"] as? String == "CAPTURE", units.count == 1,
            Set(object.keys).isSubset(of: ["intent", "purchase_units", "payment_source"]),
            let unit = units.first, let amount = unit["amount"] as? [String: String],
            Set(unit.keys).isSubset(of: ["reference_id", "custom_id", "invoice_id", "description", "amount"]),
            let value = amount["value"], isAmount(value, amount["currency_code"] ?? ""),
            ((unit["custom_id"] as? String) ?? "").utf8.count <= 127,
            ((unit["description"] as? String) ?? "").unicodeScalars.count <= 127,
            (experience["return_url"] as? String)?.contains(":") == true, experience["cancel_url"] is String,
            ["PAY_NOW", nil].contains(experience["user_action"] as? String)
        else { return .paypal(400, "INVALID_REQUEST", "INVALID_PARAMETER_VALUE") }
        let order = Order(
            id: state.id("5O19"), custom: unit["custom_id"] as? String ?? "",
            invoice: unit["invoice_id"] as? String ?? "",
            amount: amount, rel: state.rel, status: state.rel == "approve" ? "CREATED" : "PAYER_ACTION_REQUIRED")
        state.orders.append(order)
        return .json(order.json, status: 201)
    }

    private static func isAmount(_ text: String, _ code: String) -> Bool {
        let form = ["HUF", "JPY", "TWD"].contains(code) ? #"^[1-9]\d*$"# : #"^\d+\.\d\d$"#
        return text.range(of: form, options: .regularExpression) != nil && code.count == 3 && cents(text) > 0
    }

    static func capture(_ id: String, _ state: inout State) -> IncomingReply {
        guard let index = state.orders.firstIndex(where: { $0.id == id }) else { return .missing }
        let order = state.orders[index]
        switch order.status {
        case "COMPLETED": return .paypal(422, "UNPROCESSABLE_ENTITY", "ORDER_ALREADY_CAPTURED")
        case "APPROVED": break
        default: return .paypal(422, "UNPROCESSABLE_ENTITY", "ORDER_NOT_APPROVED")
        }
        if order.isDeclining { return .paypal(422, "UNPROCESSABLE_ENTITY", "INSTRUMENT_DECLINED") }
        let paid = state.orders.contains { $0.invoice == order.invoice && $0.status == "COMPLETED" }
        if paid { return .paypal(422, "UNPROCESSABLE_ENTITY", "DUPLICATE_INVOICE_ID") }
        let capture = Capture(
            id: state.id("3C67"), order: id, custom: order.custom, amount: order.amount, status: state.captureStatus)
        state.orders[index].captures.append(capture)
        state.orders[index].status = "COMPLETED"
        state.orders[index].updates += 1
        return .json(state.orders[index].json, status: 201)
    }

    static func refund(_ id: String, _ call: FakePayPalServerCall, _ state: inout State) -> IncomingReply {
        guard let order = state.orders.firstIndex(where: { $0.captures.contains { $0.id == id } }),
            let index = state.orders[order].captures.firstIndex(where: { $0.id == id })
        else { return .missing }
        let (object, capture) = (call.object, state.orders[order].captures[index])
        guard Set(object.keys).isSubset(of: ["amount", "invoice_id", "custom_id", "note_to_payer"]) else {
            return .paypal(400, "INVALID_REQUEST", "INVALID_PARAMETER")
        }
        let amount = object["amount"] as? [String: String] ?? capture.amount
        guard ["COMPLETED", "PARTIALLY_REFUNDED"].contains(capture.status) else {
            return .paypal(422, "UNPROCESSABLE_ENTITY", "CAPTURE_FULLY_REFUNDED")
        }
        let given = state.orders[order].refunds.filter { !["FAILED", "CANCELLED"].contains($0.status) }
            .map { cents($0.amount["value"] ?? "") }.reduce(0, +)
        let (value, whole) = (cents(amount["value"] ?? ""), cents(capture.amount["value"] ?? ""))
        guard value > 0, given + value <= whole else {
            return .paypal(422, "UNPROCESSABLE_ENTITY", "REFUND_AMOUNT_EXCEEDED")
        }
        let refund = Refund(
            id: state.id("1JU0"), capture: id, custom: object["custom_id"] as? String,
            invoice: object["invoice_id"] as? String, amount: amount)
        state.orders[order].refunds.append(refund)
        state.orders[order].captures[index].status = given + value == whole ? "REFUNDED" : "PARTIALLY_REFUNDED"
        return .json(refund.json, status: 201)
    }

    /// The disputes of one transaction, as a summary.
    static func disputes(_ call: FakePayPalServerCall, _ state: State) -> IncomingReply {
        guard let transaction = call.query["disputed_transaction_id"] else {
            return .paypal(400, "INVALID_REQUEST", "INVALID_PARAMETER")
        }
        let all = state.disputes.values.compactMap {
            (try? JSONSerialization.jsonObject(with: $0)) as? [String: Any]
        }
        let found = all.filter { dispute in
            let disputed = dispute["disputed_transactions"] as? [[String: Any]] ?? []
            return disputed.contains { $0["seller_transaction_id"] as? String == transaction }
        }
        return .json(["items": found.map { ["dispute_id": $0["dispute_id"], "status": $0["status"]] }])
    }

    static func cents(_ text: String) -> Int {
        let parts = text.split(separator: ".")
        return (Int(parts.first ?? "") ?? 0) * 100 + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    }

    /// The payer signs in at PayPal and approves the order.
    ///
    /// - Returns: false where there is nothing to approve any more.
    func approve(_ payment: String, declining: Bool = false) -> Bool {
        state.withLock { state in
            guard let index = state.orders.firstIndex(where: { $0.custom == payment }),
                ["CREATED", "PAYER_ACTION_REQUIRED", "APPROVED"].contains(state.orders[index].status)
            else { return false }
            state.orders[index].status = "APPROVED"
            state.orders[index].isDeclining = declining
            state.orders[index].updates += 1
            return true
        }
    }

    func order(_ payment: String) -> Order? { state.withLock { state in state.orders.first { $0.custom == payment } } }
}

extension FakePayPalServer.Order {
    var json: [String: Any] {
        var unit: [String: Any] = [
            "reference_id": custom, "custom_id": custom, "invoice_id": invoice, "amount": amount,
            "payee": ["merchant_id": "C7CYMKZDG8D6E"],
        ]
        if !captures.isEmpty {
            unit["payments"] = ["captures": captures.map(\.json), "refunds": refunds.map(\.json)]
        }
        var links: [[String: String]] = [
            ["href": "https://api-m.paypal.com/v2/checkout/orders/\(id)", "rel": "self", "method": "GET"]
        ]
        if status != "COMPLETED" {
            links.append(["href": "https://www.paypal.com/checkoutnow?token=\(id)", "rel": rel, "method": "GET"])
        }
        var fields: [String: Any] = [
            "id": id, "intent": "CAPTURE", "purchase_units": [unit], "links": links,
            "create_time": "2025-01-14T13:06:40Z",
            "payer": ["email_address": "payer@example.com", "payer_id": "QYR5Z8XDVJNXQ"],
        ]
        if hasStatus { fields["status"] = status }
        // An approval leaves no time.
        if status != "APPROVED" { fields["update_time"] = "2025-01-14T13:06:\(10 + updates)Z" }
        return fields
    }
}

extension FakePayPalServer.Capture {
    var json: [String: Any] {
        [
            "id": id, "status": status, "amount": amount, "final_capture": true, "custom_id": custom,
            "invoice_id": custom, "supplementary_data": ["related_ids": ["order_id": order]],
            "create_time": "2025-01-14T13:06:40Z", "update_time": "2025-01-14T13:06:40Z",
        ]
    }
}

extension FakePayPalServer.Refund {
    var json: [String: Any] {
        var fields: [String: Any] = [
            "id": id, "status": status, "amount": amount, "create_time": "2025-01-14T13:06:40Z",
            "links": [
                ["href": "https://api-m.paypal.com/v2/payments/refunds/\(id)", "rel": "self", "method": "GET"],
                ["href": "https://api-m.paypal.com/v2/payments/captures/\(capture)", "rel": "up", "method": "GET"],
            ],
        ]
        fields["custom_id"] = custom
        fields["invoice_id"] = invoice
        return fields
    }
}

extension FakePayPalServer {
    /// Writes down which order is a payment's own, as its opening does, unless one stands there already.
    ///
    /// - Returns: the order that stands there.
    static func keep(_ order: String, of payment: String, in book: any AccountBook) async throws -> String {
        struct Record: Decodable { let order: String }
        let stored = try await book.update("payment/\(payment)") { old in
            old ?? Data(#"{"order":"\#(order)","state":"open"}"#.utf8)
        }
        return try JSONDecoder().decode(Record.self, from: stored ?? Data()).order
    }

    /// A capture of the payment's own order.
    func take(_ capture: Capture, into book: any AccountBook) async throws {
        let own = try await Self.keep(capture.order, of: capture.custom, in: book)
        let made = Capture(
            id: capture.id, order: own, custom: capture.custom, amount: capture.amount, status: capture.status)
        state.withLock { state in
            guard !state.captures.contains(where: { $0.id == made.id }) else { return }
            state.captures.append(made)
            if let index = state.orders.firstIndex(where: { $0.id == own }) {
                state.orders[index].captures.append(made)
            } else {
                state.orders.append(
                    Order(
                        id: own, custom: capture.custom, invoice: capture.custom, amount: capture.amount,
                        status: "COMPLETED", captures: [made]))
            }
        }
    }
}
