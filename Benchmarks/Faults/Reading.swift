import Foundation

/// The meaning of an answer to the client that gets it.
enum Reading: Sendable {
    case told(Told)
    /// The request is to be tried again; holds the status and the error id.
    case later(String)
    /// An answer that no client may get; holds the reason.
    case wrong(String)

    init(_ reply: HTTPConnection.Reply, to purpose: Purpose) {
        let answer = try? JSONDecoder().decode(Failure.self, from: reply.body)
        let error = answer?.error ?? ""
        if reply.status == 500 {
            self = .wrong("answered 500: \(String(decoding: reply.body.prefix(300), as: UTF8.self))")
        } else if reply.status > 500 || reply.status == 429 || error == "request_in_progress" {
            self = .later("\(reply.status) \(error)")
        } else if reply.status == 200 {
            self = Self.success(reply.body, purpose)
        } else {
            switch (purpose, error) {
            case (.attach, "purchase_belongs_to_another_user"): self = .told(.ownedByAnother)
            case (.cancel, "order_not_open"): self = .told(.paidAlready)
            // Not wrong where the order is paid for the client: an acknowledged notification may still wait for its
            // settlement.
            case (.refund, "refund_exceeds_captured"): self = .told(.notRefunded)
            case (.forge, _) where reply.status < 500: self = .told(.refused)
            default:
                self = .wrong("answered \(reply.status) \(String(decoding: reply.body.prefix(300), as: UTF8.self))")
            }
        }
    }

    private static func success(_ body: Data, _ purpose: Purpose) -> Reading {
        do {
            switch purpose {
            case .attach(let sale, _):
                let attached = try decode(Attached.self, body)
                let credited = sale.isConsumable ? [Configuration.unit: sale.units] : [:]
                // A pass that lies behind another one has not begun.
                let isOwned = attached.active || attached.status == "scheduled"
                guard attached.transaction_id == sale.id, attached.credited == credited, isOwned != sale.isConsumable
                else { return .wrong("told another purchase than was attached") }
                return .told(.attached(order: attached.order_id))
            case .checkout(let cart):
                let contract = try decode(Contract.self, body)
                guard contract.provider == cart.account, contract.type == cart.contractType else {
                    return .wrong("told another contract than was asked for")
                }
                return .told(
                    .opened(
                        order: contract.order_id, payment: contract.payment_id, amount: contract.amount.value,
                        wallet: contract.apple_pay?.application_data))
            case .pay(let order):
                let payment = try decode(Payment.self, body)
                // A payment whose answer was lost is asked for later.
                if payment.status == "pending" { return .later("200 pending") }
                // A kill before the charge: nothing was charged, and nothing will be.
                if payment.status == "failed", payment.order.id == order.id { return .told(.notCharged) }
                guard payment.status == "paid", payment.order.id == order.id, payment.order.isPaid else {
                    return .wrong("told \(payment.status) of a sound token, its order \(payment.order.status)")
                }
                return .told(.paid)
            case .refresh(let order):
                let found = try decode(Order.self, body)
                // The answer to the server's own question was lost on the way from the service.
                if found.status == "open" { return .later("200 open") }
                guard found.id == order.id, found.isPaid else {
                    return .wrong("told \(found.status) of an order that the service was paid for")
                }
                return .told(.paid)
            case .forge:
                return .wrong("a notification that is not genuine was acknowledged")
            case .notify, .rumour:
                return body == Data("ok".utf8) ? .told(.acknowledged) : .wrong("is not the provider's acknowledgement")
            case .cancel(let order):
                let cancelled = try decode(Order.self, body)
                guard cancelled.id == order.id, cancelled.status == "closed" else {
                    return .wrong("told that the cancelled order is \(cancelled.status)")
                }
                return .told(.cancelled)
            case .refund(let order, let amount):
                let refund = try decode(Refund.self, body)
                guard refund.order_id == order.id, refund.amount.value == amount ?? order.amount,
                    ["succeeded", "failed"].contains(refund.status)
                else { return .wrong("told a refund that is \(refund.status), of \(refund.amount.value)") }
                return .told(refund.status == "failed" ? .refundFailed(id: refund.id) : .refunded(id: refund.id))
            }
        } catch {
            return .wrong("cannot be read: \(error)")
        }
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ body: Data) throws -> Value {
        try JSONDecoder().decode(Success<Value>.self, from: body).data
    }
}

extension Cart {
    var isPaidAtOnce: Bool { account == Configuration.noneAccount }
    var isWallet: Bool { account == Configuration.walletAccount || account == Configuration.losingAccount }
    var contractType: String { isPaidAtOnce ? "none" : isWallet ? "apple_pay" : "url" }
}

private struct Success<Value: Decodable>: Decodable {
    let data: Value
}

private struct Failure: Decodable {
    let error: String?
}

private struct Attached: Decodable {
    let order_id: String
    let transaction_id: String
    let active: Bool
    let status: String
    let credited: [String: Int64]
}

private struct Contract: Decodable {
    let order_id: String
    let payment_id: String
    let provider: String
    let type: String
    let amount: Price
    let apple_pay: Wallet?

    struct Wallet: Decodable { let application_data: String }
}

private struct Payment: Decodable {
    let status: String
    let order: Order
}

private struct Order: Decodable {
    let id: String
    let status: String

    /// True for a refunded order as well, in part or whole: it was paid before.
    var isPaid: Bool { ["paid", "partially_refunded", "refunded"].contains(status) }
}

private struct Refund: Decodable {
    let id: String
    let order_id: String
    let status: String
    let amount: Price
}
