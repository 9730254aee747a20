package import Domain
import Encodings

/// The App Store in a box: the rows of one need, changed by an act.
///
/// It reads no clock and no storage; the same rows, time and random bytes give the same changes.
package struct BoxMachine: Sendable {
    /// The changes so far, to be stored in one transaction.
    package private(set) var changes: BoxChanges
    /// Business milliseconds.
    let now: Int64
    private let products: [String: BoxProduct]
    private let random: RandomSource
    private(set) var subscriptions: [String: BoxSubscription]
    private(set) var transactions: [String: BoxTransaction]
    private(set) var waiting: [BoxNotification]

    /// - Parameters:
    ///   - products: everything that is for sale.
    ///   - now: business milliseconds.
    package init(_ scope: BoxScope, products: [BoxProduct], now: Int64, random: RandomSource) {
        changes = BoxChanges(meta: scope.meta)
        self.products = Dictionary(products.map { ($0.productID, $0) }) { first, _ in first }
        self.now = now
        self.random = random
        subscriptions = Dictionary(scope.subscriptions.map { ($0.originalTransactionID, $0) }) { $1 }
        transactions = Dictionary(scope.transactions.map { ($0.transactionID, $0) }) { $1 }
        waiting = scope.waiting
    }

    // MARK: Rows

    func product(_ productID: String) -> BoxProduct? { products[productID] }

    /// The subscriptions in a fixed order: the oldest id first.
    var orderedSubscriptions: [BoxSubscription] {
        subscriptions.values.sorted { $0.originalTransactionID < $1.originalTransactionID }
    }

    /// The running subscriptions that are shared from a payer's.
    func shares(of original: String) -> [BoxSubscription] {
        orderedSubscriptions.filter { $0.sharedFrom == original && $0.isRunning }
    }

    mutating func nextID() -> String { changes.meta.nextID() }

    /// Takes the `signedDate` of an event: its time, or a millisecond after the one before it.
    mutating func sign(at time: Int64) -> Int64 { changes.meta.nextSignedAt(time) }

    mutating func store(_ transaction: BoxTransaction) {
        transactions[transaction.transactionID] = transaction
        changes.transactions.removeAll { $0.transactionID == transaction.transactionID }
        changes.transactions.append(transaction)
    }

    mutating func store(_ subscription: BoxSubscription) {
        subscriptions[subscription.originalTransactionID] = subscription
        changes.subscriptions.removeAll { $0.originalTransactionID == subscription.originalTransactionID }
        changes.subscriptions.append(subscription)
    }

    private mutating func store(_ notification: BoxNotification) {
        changes.notifications.removeAll { $0.uuid == notification.uuid }
        changes.notifications.append(notification)
        changes.notifications.sort { $0.number < $1.number }
    }

    // MARK: Settings

    /// Decides how notifications travel from now on; those that wait keep their times.
    package mutating func deliver(_ delivery: BoxMeta.Delivery) { changes.meta = changes.meta.delivering(delivery) }

    package mutating func limit(callsPerSecond: Int64?) { changes.meta = changes.meta.limited(to: callsPerSecond) }

    // MARK: Notifications

    /// Makes the notification `TEST` of Apple's server API.
    package mutating func test() -> BoxNotification {
        let signedAt = sign(at: now)
        return notify(.test, nil, transaction: nil, subscription: nil, signedAt: signedAt)
    }

    /// Makes a notification and decides by the mode when it is sent.
    @discardableResult
    mutating func notify(
        _ type: BoxNotification.Kind, _ subtype: BoxNotification.Subtype?, transaction: BoxTransaction?,
        subscription: BoxSubscription?, signedAt: Int64
    ) -> BoxNotification {
        changes.meta.lastNumber += 1
        let delivery = changes.meta.delivery
        let waits = delivery.seconds * 1_000
        let (dueAt, copies): (Int64?, Int64) =
            switch delivery.mode {
            case .normal: (now, 1)
            case .twice: (now, 2)
            case .off: (nil, 0)
            case .late, .shuffled: (now + waits, 1)
            }
        let made = BoxNotification(
            uuid: uuid(), number: changes.meta.lastNumber, type: type, subtype: subtype, transaction: transaction,
            subscription: subscription, signedAt: signedAt, dueAt: dueAt, copiesLeft: copies,
            isShuffled: delivery.mode == .shuffled, attempts: [])
        store(made)
        if made.isShuffled {
            waiting.append(made)
            if waiting.count(where: \.isShuffled) >= Self.shuffledTogether { release() }
        } else if dueAt == now {
            send(made)
        }
        return made
    }

    /// The number of notifications that are sent together in mode `shuffled`.
    private static let shuffledTogether = 5

    private mutating func send(_ notification: BoxNotification) {
        let copies = Int(clamping: max(1, min(2, notification.copiesLeft)))
        changes.send += Array(repeating: notification.uuid, count: copies)
    }

    /// Sends what is shuffled, in random order.
    private mutating func release() {
        var held = waiting.filter(\.isShuffled)
        waiting.removeAll(where: \.isShuffled)
        while !held.isEmpty {
            let number = random.bytes(4).reduce(0) { $0 << 8 | Int($1) }
            var released = held.remove(at: number % held.count)
            released.isShuffled = false
            released.dueAt = now
            store(released)
            send(released)
        }
    }

    /// Sends the notifications whose time has come, the oldest first.
    ///
    /// One that was stored but not sent, because the process ended in between, is due still.
    mutating func sendDue() {
        let due = waiting.filter { ($0.dueAt ?? .max) <= now && $0.copiesLeft > 0 }
            .sorted { ($0.dueAt ?? 0, $0.number) < ($1.dueAt ?? 0, $1.number) }
        for notification in due where !notification.isShuffled { send(notification) }
        waiting.removeAll { !$0.isShuffled }
        if due.contains(where: \.isShuffled) { release() }
    }

    /// A random UUID (RFC 9562 section 5.4) in lower case.
    private func uuid() -> String {
        var bytes = random.bytes(16)
        guard bytes.count == 16 else { return "" }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let text = Hex.encoded(bytes)
        let cuts = [0, 8, 12, 16, 20, 32]
        return zip(cuts, cuts.dropFirst()).map { start, end in
            String(text.dropFirst(start).prefix(end - start))
        }.joined(separator: "-")
    }
}
