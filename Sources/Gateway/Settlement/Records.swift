import Domain
import Store

// What every change leaves behind, in its own transaction: history, event, anomaly, audit.
extension Settlement {
    /// Appends to the order's history, as its owner sees it.
    func note(_ order: Order, _ type: String, _ detail: String) throws {
        let text = detail.trimmingSpaces
        try tx.appendTimeline(order.id, type: type, detail: String(text.prefix(500)), at: now)
    }

    /// Records an anomaly once and tells the outbox.
    func record(_ anomaly: Anomaly, _ order: Order, _ detail: String) throws {
        guard try tx.insertAnomaly(anomaly, order.id, detail: detail, at: now) else { return }
        try note(order, "anomaly.\(anomaly.rawValue)", detail)
        try audit(order, "anomaly.\(anomaly.rawValue)", before: "", after: detail)
        try emit(.orderAnomaly, order.id)
    }

    /// Tells the outbox the order's whole state after this change.
    func emit(_ type: EventType, _ order: ID<Order>) throws {
        guard let snapshot = try OrderSnapshot.load(order, from: tx, audience: .stored) else { return }
        try tx.appendEvent(
            EventRecord(
                id: ids.make(), subject: order.rawValue, type: type, user: snapshot.user, partner: snapshot.partner,
                at: now,
                data: try snapshot.storedJSON()))
    }

    func audit(_ order: Order, _ action: String, before: String, after: String) throws {
        try audit(subject: order.id.rawValue, action, before: before, after: after)
    }

    func audit(subject: String, _ action: String, before: String, after: String) throws {
        try tx.appendAudit(
            AuditEntry(
                subject: subject, actor: cause.actor.label, requestID: cause.requestID, action: action, before: before,
                after: after, at: now))
    }
}

extension String {
    /// This text without spaces at its ends.
    fileprivate var trimmingSpaces: String {
        var text = self[...]
        while text.first == " " { text = text.dropFirst() }
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }
}
