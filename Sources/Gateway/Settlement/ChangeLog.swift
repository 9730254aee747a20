import Domain
import Store

/// The records of a change in its own transaction: timeline entries, anomalies, events and audit entries.
struct ChangeLog {
    /// The length of a timeline up to which attempts to pay are recorded; beyond it only the other entries are.
    static let attemptLimit: Int64 = 150
    static let timelineLimit: Int64 = 400
    /// The largest number of characters of a timeline entry's detail.
    static let detailLength = 500

    let tx: any Transaction
    let ids: IDSource
    let now: Timestamp
    var context: AuditContext
    let changed = ChangedSubjects()

    /// Appends to an order's timeline, which its owner reads.
    @discardableResult
    func appendTimeline(_ order: Order, _ type: String, _ detail: String) throws -> TimelineEntry {
        let limit = type.hasPrefix("payment.") ? Self.attemptLimit : Self.timelineLimit
        let entry = TimelineEntry(at: now, type: type, detail: detail.stored(Self.detailLength))
        try tx.orders.insertTimeline(order.id, entry, limit: limit)
        changed.changes.orders[order.id] = order.user
        if let external = order.external { changed.externalTokens.insert(external.token) }
        return entry
    }

    /// Records an anomaly of an order and announces it, once.
    func record(_ anomaly: Anomaly, _ order: Order, _ detail: String) throws {
        guard try tx.orders.insertAnomaly(anomaly, order.id, detail: detail.stored(500), at: now) else { return }
        try appendTimeline(order, "anomaly.\(anomaly.rawValue)", detail)
        try audit(order, "anomaly.\(anomaly.rawValue)", before: "", after: detail)
        try emit(.orderAnomaly, order.id)
    }

    /// Writes an event with the order's state after this change.
    ///
    /// - Parameter payments: the order's payments where the transaction has read them; nil reads them.
    /// - Returns: the order as the event tells it.
    @discardableResult
    func emit(_ type: EventType, _ order: ID<Order>, payments: [PaymentRecord]? = nil) throws -> OrderSnapshot? {
        let snapshot = try tx.orders.find(order).map {
            try OrderSnapshot($0, from: tx, audience: .stored, payments: payments)
        }
        if let snapshot { try emit(type, snapshot) }
        return snapshot
    }

    func emit(_ type: EventType, _ snapshot: OrderSnapshot) throws {
        changed.changes.orders[snapshot.order.id] = snapshot.user
        try emit(
            type, subject: snapshot.order.id.rawValue, user: snapshot.user, partner: snapshot.partner,
            data: try snapshot.storedJSON())
    }

    /// Writes an event.
    ///
    /// - Parameters:
    ///   - subject: the id of the order, user, subscription or purchase by which events are ordered.
    ///   - data: the event's JSON object.
    func emit(
        _ type: EventType, subject: String, user: ID<User>?, partner: String? = nil, data: String
    ) throws {
        if type == .entitlementsChanged, let user { changed.changes.users.insert(user) }
        var event = EventRecord(
            id: ids.make(), subject: subject, type: type, user: user, partner: partner, at: now, data: data)
        event.trace = context.trace?.stored
        try tx.events.insert(event)
    }

    /// Writes an audit entry about an order.
    ///
    /// - Parameter isNew: true where this transaction made the order, so that its chain is empty.
    func audit(
        _ order: Order, _ action: String, before: String, after: String, reason: String? = nil, isNew: Bool = false
    ) throws {
        try audit(
            subject: order.id.rawValue, action, before: before, after: after, reason: reason, about: order.user,
            isNew: isNew)
    }

    /// Writes an audit entry.
    ///
    /// - Parameters:
    ///   - before: the state before the change. Like `after` it never contains free text, because the hash chain covers
    ///     both and an erasure cannot remove them.
    ///   - reason: free text of the actor, which an erasure removes.
    ///   - user: the user whom the change concerns.
    ///   - isNew: true where this transaction made the subject, so that its chain is empty.
    func audit(
        subject: String, _ action: String, before: String, after: String, reason: String? = nil,
        about user: ID<User>? = nil, isNew: Bool = false
    ) throws {
        var entry = AuditEntry(
            subject: subject, actor: context.actor.label, requestID: context.requestID, action: action,
            before: before.withoutNUL,
            after: after.withoutNUL, at: now, via: context.via?.rawValue)
        entry.reason = reason?.withoutNUL
        try tx.audit.insert(entry, about: user, isNew: isNew)
    }
}

extension String {
    /// This text without U+0000, which SQL text cannot contain.
    fileprivate var withoutNUL: String { utf8.contains(0) ? replacing("\u{0}", with: "") : self }

    /// True for a text without control characters, and without repeated or outer spaces, as most are.
    private var isOneLine: Bool {
        var isAfterSpace = true
        for byte in utf8 {
            guard byte >= 0x20, byte != 0x7F, byte != 0x20 || !isAfterSpace else { return false }
            isAfterSpace = byte == 0x20
        }
        return !isAfterSpace
    }

    /// Returns this text without control characters (SQL text cannot contain U+0000) and without repeated or outer
    /// spaces, cut to `length` Unicode scalars.
    func stored(_ length: Int) -> String {
        guard utf8.count > length || !isOneLine else { return self }
        let plain = unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
        let words = String(String.UnicodeScalarView(plain)).split(separator: " ", omittingEmptySubsequences: true)
        return words.joined(separator: " ").firstScalars(length)
    }
}
