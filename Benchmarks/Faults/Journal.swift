import Foundation
import Synchronization

/// A transaction of the App Store that clients attach.
struct Sale: Sendable, Hashable {
    let id: String
    let isConsumable: Bool
    let quantity: Int64

    var units: Int64 { isConsumable ? quantity * Configuration.coins.units : 0 }
}

/// The contents of one checkout; `key` is the `Idempotency-Key`, and the order's metadata contain it.
struct Cart: Sendable, Hashable {
    let key: String
    let user: String
    let isConsumable: Bool
    let quantity: Int64
    let account: String

    var units: Int64 { isConsumable ? quantity * Configuration.coins.units : 0 }
}

/// An order that a client was told.
struct OpenedOrder: Sendable, Hashable {
    let id: String
    let payment: String
    let cart: Cart
    let amount: Int64
}

/// The purpose of a request.
enum Purpose: Sendable {
    case attach(Sale, user: String)
    case checkout(Cart)
    case notify(event: String, OpenedOrder)
    /// A genuine notification without any effect on the order.
    case rumour(event: String, OpenedOrder)
    /// A payment by a token of Apple Pay.
    case pay(OpenedOrder)
    /// A request to query the payment service.
    case refresh(OpenedOrder)
    /// A notification that is not genuine.
    case forge(event: String)
    case cancel(OpenedOrder)
    /// - amount: nil for all of it.
    case refund(OpenedOrder, amount: Int64?)
}

extension Purpose {
    /// Returns whether an answer means "try again", although no other request is working on it.
    func isPending(_ status: Int) -> Bool {
        switch self {
        case .pay: status == 200
        // The service is queried once in five seconds.
        case .refresh: status == 200 || status == 429
        default: false
        }
    }
}

/// The content of an answer, on which the client relies.
enum Told: Sendable, Equatable {
    case attached(order: String)
    case ownedByAnother
    /// - wallet: the data to which a token must be bound.
    case opened(order: String, payment: String, amount: Int64, wallet: String?)
    case paid
    /// The payment by this token will never be charged.
    case notCharged
    case acknowledged
    case cancelled
    /// The cancellation was refused, because the order is paid.
    case paidAlready
    case refunded(id: String)
    /// The provider never got the refund, and will not: it was queried after its answer was lost.
    case refundFailed(id: String)
    /// The refund was refused: no amount is left to refund, or the order is not paid yet.
    case notRefunded
    /// The notification is not genuine.
    case refused
}

/// A request and the client's answer; nil while the outcome is unknown.
struct Call: Sendable {
    let number: Int
    let request: Request
    let purpose: Purpose
    var told: Told?
    /// The time until which the lease of a killed request holds its key.
    var retryAt: ContinuousClock.Instant?
    /// True where it had no answer when the server died.
    var wasCut = false
    /// The number of times that it was sent.
    var sends = 1
}

extension Call {
    /// Requests with the same key are repeated one after the other, as by a client that wants one answer.
    var lane: Int { request.headers["Idempotency-Key"].map { Int($0.hashValue.magnitude % 1_024) } ?? number }
}

/// Everything that clients sent and were told, stored outside of the process that is killed.
final class Journal: Sendable {
    private struct Content {
        var calls: [Call] = []
        var complaints: [String] = []
        var unsettled: [String: Int] = [:]
    }

    private let content = Mutex(Content())

    var calls: [Call] { content.withLock { $0.calls } }

    /// The number of answers that ask to try again, by their kind.
    var unsettled: [String: Int] { content.withLock { $0.unsettled } }

    /// The number of requests, and of those with a definite answer.
    var counts: (all: Int, told: Int) { content.withLock { ($0.calls.count, $0.calls.count { $0.told != nil }) } }

    func begin(_ purpose: Purpose, _ request: Request) -> Int {
        content.withLock { content in
            content.calls.append(Call(number: content.calls.count, request: request, purpose: purpose))
            return content.calls.count - 1
        }
    }

    /// - Parameter retryAt: the time to repeat a request that was told to try again.
    /// - Returns: the content of the answer; nil where it is not definite.
    @discardableResult
    func end(_ number: Int, _ reading: Reading, retryAt: ContinuousClock.Instant?) -> Told? {
        content.withLock { content in
            switch reading {
            case .told(let told):
                content.calls[number].told = told
                return told
            case .later(let kind):
                content.unsettled[kind, default: 0] += 1
                content.calls[number].retryAt = retryAt
            case .wrong(let text):
                let call = content.calls[number]
                content.complaints.append("call \(number), \(call.request.path): \(text)")
            }
            return nil
        }
    }

    func sendAgain(_ number: Int) { content.withLock { $0.calls[number].sends += 1 } }

    func complain(_ text: String) { content.withLock { $0.complaints.append(text) } }

    /// Returns and clears the answers that no client may ever get.
    func takeComplaints() -> [String] {
        content.withLock { content in
            defer { content.complaints = [] }
            return content.complaints
        }
    }

    /// Marks the calls that the kill interrupted.
    func cut() {
        content.withLock { content in
            for index in content.calls.indices where content.calls[index].told == nil {
                content.calls[index].wasCut = true
            }
        }
    }
}
