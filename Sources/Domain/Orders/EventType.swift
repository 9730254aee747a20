/// The type of an event in the outbox; each state change writes its event in the same transaction.
package enum EventType: String, Sendable, CaseIterable {
    case orderOpened = "order.opened"
    case orderPaid = "order.paid"
    case orderClosed = "order.closed"
    case orderAnomaly = "order.anomaly"
    case refundSucceeded = "refund.succeeded"
    case refundFailed = "refund.failed"
    case disputeOpened = "dispute.opened"
    case disputeClosed = "dispute.closed"
    case purchaseAttached = "purchase.attached"
    case purchaseTransferred = "purchase.transferred"
    case purchaseUnmapped = "purchase.unmapped"
    case subscriptionChanged = "subscription.changed"
    case entitlementsChanged = "entitlements.changed"
    case balanceOverdrawn = "balance.overdrawn"
}
