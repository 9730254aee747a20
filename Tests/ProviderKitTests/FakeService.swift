import Domain
import Foundation
import ProviderKit
import Synchronization

/// A payment service in memory with an interface over HTTP: `POST /payments/{id}/{verb}`.
final class FakeService: Sendable {
    struct Payment {
        let amount: Money
        /// The number of times that the payment was opened.
        var copies = 0
        var state = "open"
        var refunds: [(id: String, amount: Money)] = []
        var notes: [String] = []
    }

    private let payments = Mutex<[String: Payment]>([:])

    func payment(_ id: String) -> Payment? { payments.withLock { $0[id] } }

    @discardableResult
    func change(_ id: String, _ amount: Money, _ body: (inout Payment) -> Void) -> Payment {
        payments.withLock { payments in
            body(&payments[id, default: Payment(amount: amount)])
            return payments[id] ?? Payment(amount: amount)
        }
    }

    func answer(_ request: OutgoingRequest) throws(HTTPTransportError) -> IncomingReply {
        let path = request.url.split(separator: "/").map(String.init)
        let words = String(decoding: request.body, as: UTF8.self).split(separator: " ").map(String.init)
        guard let verb = path.last, let value = Int64(words[0]), let currency = Currency(words[1]) else {
            throw .notSent
        }
        let amount = Money(value: value, currency: currency)
        var isRefused = false
        let payment = change(path[path.count - 2], amount) { payment in
            isRefused = !payment.perform(verb, amount, words.count > 2 ? words[2] : "")
        }
        let answer = FakeAnswer(
            state: payment.state, value: payment.amount.value, currency: payment.amount.currency.code,
            refunds: payment.refunds.map(\.id), notes: payment.notes)
        return IncomingReply(status: isRefused ? 409 : 200, body: (try? JSONEncoder().encode(answer)) ?? Data())
    }
}

extension FakeService.Payment {
    /// - Returns: false where it is refused.
    fileprivate mutating func perform(_ verb: String, _ amount: Money, _ key: String) -> Bool {
        switch verb {
        case "open":
            // A payment that was closed before it was opened stays closed.
            guard state == "open" else { return true }
            copies = key == "same" ? 1 : copies + 1
        case "query": if copies == 0 && state == "open" { state = "cancelled" }
        case "look": break
        case "note": notes.append(key)
        case "hold":
            guard state == "open" else { return state == "cancelled" }
            state = "held"
        case "cancel-held": if state == "held" { state = "cancelled" }
        case "cancel": if state == "open" { state = "cancelled" }
        default:
            guard !refunds.contains(where: { $0.id == key }) else { return true }
            let left = refunds.reduce(self.amount.value) { $0 - $1.amount.value }
            guard verb != "refund" || amount.value <= left else { return false }
            refunds.append((id: key, amount: amount))
        }
        return true
    }
}
