/// The rows that one act reads; nothing reads everything.
package enum BoxNeed: Sendable, Equatable {
    /// A purchase: the customer's subscriptions of the group, or the transactions of the product.
    case purchase(customer: String, group: String?, productID: String)
    /// An act on a subscription: it and the subscriptions shared from it; for `share` also what the customer has of the
    /// same group.
    case subscription(originalTransactionID: String, customer: String?)
    /// An act on a transaction: it, its subscription and the subscriptions shared from that.
    case transaction(transactionID: String)
    /// Due subscriptions and notifications: those with the least `nextAt` and `dueAt` at or before a time, at most 100
    /// of each.
    case due(at: Int64)
}

/// The rows of one need, read in the transaction that stores the changes.
package struct BoxScope: Sendable {
    package var meta: BoxMeta
    package var subscriptions: [BoxSubscription]
    /// The transactions of the need, and the current one of each of these subscriptions.
    package var transactions: [BoxTransaction]
    /// The notifications that are due, and in every need those that are shuffled and not sent.
    package var waiting: [BoxNotification]

    package init(
        meta: BoxMeta, subscriptions: [BoxSubscription] = [], transactions: [BoxTransaction] = [],
        waiting: [BoxNotification] = []
    ) {
        self.meta = meta
        self.subscriptions = subscriptions
        self.transactions = transactions
        self.waiting = waiting
    }
}

/// The rows that an act made or changed: each is inserted, or replaces the row with its primary key.
package struct BoxChanges: Sendable, Equatable {
    package var meta: BoxMeta
    package var transactions: [BoxTransaction] = []
    package var subscriptions: [BoxSubscription] = []
    /// In the order of their numbers.
    package var notifications: [BoxNotification] = []
    /// The notifications to be sent once the changes are stored, in this order; in mode `twice` each stands two times.
    package var send: [String] = []
}

/// The reason why a call of the App Store in a box is refused; nothing is changed.
package enum BoxError: Error, Sendable, Equatable {
    /// 400 `invalid_request`: a member of the body, and words that say what is allowed.
    case invalidRequest(field: String, String)
    /// 404 `not_found`.
    case notFound(String)
    /// 409 `conflict`: words that say why the state does not allow it.
    case conflict(String)
}
