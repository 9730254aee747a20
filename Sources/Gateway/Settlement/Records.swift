import Domain
import Store

// What every change leaves behind, in its own transaction: history, event, anomaly, audit.
extension Settlement {
    /// What attempts may add to an order's history; places are kept for what became of it.
    static let attemptNotes: Int64 = 150
    static let notes: Int64 = 400
    static let noteLength = 500

    /// Appends to the order's history, as its owner sees it.
    @discardableResult
    func note(_ order: Order, _ type: String, _ detail: String) throws -> TimelineEntry {
        let limit = type.hasPrefix("payment.") ? Self.attemptNotes : Self.notes
        let entry = TimelineEntry(at: now, type: type, detail: detail.stored(Self.noteLength))
        try tx.orders.insertTimeline(order.id, entry, limit: limit)
        return entry
    }

    /// Records an anomaly once and tells the outbox.
    func record(_ anomaly: Anomaly, _ order: Order, _ detail: String) throws {
        guard try tx.orders.insertAnomaly(anomaly, order.id, detail: detail.stored(500), at: now) else { return }
        try note(order, "anomaly.\(anomaly.rawValue)", detail)
        try audit(order, "anomaly.\(anomaly.rawValue)", before: "", after: detail)
        try emit(.orderAnomaly, order.id)
    }

    /// Tells the outbox the order's whole state after this change.
    func emit(_ type: EventType, _ order: ID<Order>) throws {
        guard let snapshot = try OrderSnapshot.load(order, from: tx, audience: .stored) else { return }
        try emit(type, snapshot)
    }

    func emit(_ type: EventType, _ snapshot: OrderSnapshot) throws {
        try tx.events.insert(
            EventRecord(
                id: ids.make(), subject: snapshot.order.id.rawValue, type: type, user: snapshot.user,
                partner: snapshot.partner, at: now, data: try snapshot.storedJSON()))
    }

    /// - Parameter isNew: whether the order was made just now, so that nothing was audited of it.
    func audit(
        _ order: Order, _ action: String, before: String, after: String, reason: String? = nil, isNew: Bool = false
    ) throws {
        try audit(
            subject: order.id.rawValue, action, before: before, after: after, reason: reason, about: order.user,
            isNew: isNew)
    }

    /// - Parameters:
    ///   - reason: words of whoever does it; they are never in `before` and `after`, which cannot be taken away.
    ///   - user: whom it is done to.
    func audit(
        subject: String, _ action: String, before: String, after: String, reason: String? = nil,
        about user: ID<User>? = nil, isNew: Bool = false
    ) throws {
        var entry = AuditEntry(
            subject: subject, actor: cause.actor.label, requestID: cause.requestID, action: action,
            before: before.withoutNUL,
            after: after.withoutNUL, at: now)
        entry.reason = reason?.withoutNUL
        try tx.audit.insert(entry, about: user, isNew: isNew)
    }
}

extension String {
    /// SQL text cannot hold U+0000.
    fileprivate var withoutNUL: String { utf8.contains(0) ? replacing("\u{0}", with: "") : self }

    /// This text as the database takes it from outside: without control characters (SQL text cannot hold U+0000), without
    /// spaces at its ends, and at most so long.
    func stored(_ length: Int) -> String {
        let plain = unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
        let words = String(String.UnicodeScalarView(plain)).split(separator: " ", omittingEmptySubsequences: true)
        return words.joined(separator: " ").firstScalars(length)
    }
}
