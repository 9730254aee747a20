import Foundation
import Synchronization

/// A transaction of the App Store that clients attach.
struct Sale: Sendable, Hashable {
    let id: String
    let isConsumable: Bool
    let quantity: Int64

    var units: Int64 { isConsumable ? quantity * Configuration.coins.units : 0 }
}

/// What is bought in one checkout; its `key` is the `Idempotency-Key`, and the order's metadata carry it.
struct Cart: Sendable, Hashable {
    let key: String
    let user: String
    let isConsumable: Bool
    let quantity: Int64
    let account: String

    var units: Int64 { isConsumable ? quantity * Configuration.coins.units : 0 }
}

/// An order that a client was told of.
struct OpenedOrder: Sendable, Hashable {
    let id: String
    let payment: String
    let cart: Cart
    let amount: Int64
}

/// What a request is for.
enum Purpose: Sendable {
    case attach(Sale, user: String)
    case checkout(Cart)
    case notify(event: String, OpenedOrder)
    /// Genuine, and without any effect on the order.
    case rumour(event: String, OpenedOrder)
    /// By a token of Apple Pay.
    case pay(OpenedOrder)
    /// Asks about what was paid at the payment service.
    case refresh(OpenedOrder)
    /// Not genuine.
    case forge(event: String)
    case cancel(OpenedOrder)
    /// - amount: nil is all of it.
    case refund(OpenedOrder, amount: Int64?)
}

extension Purpose {
    /// Returns whether an answer asks to come back although nobody else is at it.
    func isPending(_ status: Int) -> Bool {
        switch self {
        case .pay: status == 200
        // Once in five seconds it is asked at the service.
        case .refresh: status == 200 || status == 429
        default: false
        }
    }
}

/// What an answer said; whoever was told this relies on it.
enum Told: Sendable, Equatable {
    case attached(order: String)
    case ownedByAnother
    /// - wallet: what a token must be bound to.
    case opened(order: String, payment: String, amount: Int64, wallet: String?)
    case paid
    /// A token's payment that will never be charged.
    case notCharged
    case acknowledged
    case cancelled
    /// Refused to cancel, because the order is paid.
    case paidAlready
    case refunded(id: String)
    /// The provider never got it, and will not: somebody asked when its answer was lost.
    case refundFailed(id: String)
    /// Nothing is left to refund, or not paid yet.
    case notRefunded
    /// A notification that is not genuine.
    case refused
}

/// A request and what its client was told; nil while nobody knows what became of it.
struct Call: Sendable {
    let number: Int
    let request: Request
    let purpose: Purpose
    var told: Told?
    /// A killed run's lease holds its key until then.
    var retryAt: ContinuousClock.Instant?
    /// Had no answer when the server died.
    var wasCut = false
    /// How often it was sent.
    var sends = 1
}

extension Call {
    /// Requests with the same key are sent again one after the other, as a client does that wants one answer.
    var lane: Int { request.headers["Idempotency-Key"].map { Int($0.hashValue.magnitude % 1_024) } ?? number }
}

/// Everything that clients sent and were told, kept outside of the process that is killed.
final class Journal: Sendable {
    private struct Content {
        var calls: [Call] = []
        var complaints: [String] = []
        var unsettled: [String: Int] = [:]
    }

    private let content = Mutex(Content())

    var calls: [Call] { content.withLock { $0.calls } }

    /// Answers that ask to try again, by their kind.
    var unsettled: [String: Int] { content.withLock { $0.unsettled } }

    /// The number of requests, and of those that got a definite answer.
    var counts: (all: Int, told: Int) { content.withLock { ($0.calls.count, $0.calls.count { $0.told != nil }) } }

    func begin(_ purpose: Purpose, _ request: Request) -> Int {
        content.withLock { content in
            content.calls.append(Call(number: content.calls.count, request: request, purpose: purpose))
            return content.calls.count - 1
        }
    }

    /// - Parameter retryAt: when a call that was told to come back is sent again.
    /// - Returns: what the client was told; nil when it does not know.
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

    /// The answers that nobody may ever get, since this was asked last.
    func takeComplaints() -> [String] {
        content.withLock { content in
            defer { content.complaints = [] }
            return content.complaints
        }
    }

    /// Remembers which calls the kill cut off.
    func cut() {
        content.withLock { content in
            for index in content.calls.indices where content.calls[index].told == nil {
                content.calls[index].wasCut = true
            }
        }
    }
}
