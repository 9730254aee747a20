import Crypto
package import Domain
package import FoundationEssentials

/// Who did what to which subject, with its state before and after as JSON text.
package struct AuditEntry: Sendable {
    package let subject: String
    package let actor: String
    package let requestID: String
    package let action: String
    package let before: String
    package let after: String
    package let at: Timestamp
    /// Words of whoever did it, which stand beside the chain and go when the person is erased whom they may name.
    package var reason: String?

    package init(
        subject: String, actor: String, requestID: String, action: String, before: String, after: String, at: Timestamp
    ) {
        self.subject = subject
        self.actor = actor
        self.requestID = requestID
        self.action = action
        self.before = before
        self.after = after
        self.at = at
    }

    /// The hash that chains this entry to the one before it: every field by its length, so that no two entries share a form.
    ///
    /// The reason is not in it, so that it can be taken away.
    package func digest(after previous: Data, position: Int64) -> Data {
        var hash = SHA256()
        hash.update(data: previous)
        for field in [subject, String(position), String(at.rawValue), actor, requestID, action, before, after] {
            hash.update(data: Data("\(field.utf8.count):\(field)".utf8))
        }
        return Data(hash.finalize())
    }
}

extension Transaction {
    /// Appends to the subject's chain; the caller holds a lock that covers the subject.
    ///
    /// - Parameters:
    ///   - user: whom the entry's reason may name; of who was erased none is kept.
    ///   - isNew: whether the subject is new, so that nothing was audited of it.
    package func appendAudit(
        _ entry: AuditEntry, about user: ID<User>? = nil, isNew: Bool = false
    ) throws(StoreError) {
        let last =
            isNew
            ? nil
            : try row(
                "SELECT position, digest FROM audit WHERE subject = ? ORDER BY position DESC LIMIT 1", entry.subject)
        let position = (try last?.int("position") ?? 0) + 1
        let digest = entry.digest(after: try last?.blob("digest") ?? Data(), position: position)
        try send(
            """
            INSERT INTO audit (subject, position, at, actor, request_id, action, before, after, digest)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            entry.subject, position, entry.at, entry.actor, entry.requestID, entry.action, entry.before, entry.after,
            digest)
        guard let user, let reason = entry.reason, !reason.isEmpty else { return }
        try send(
            """
            INSERT INTO audit_reasons (subject, position, user_id, reason)
            SELECT ?, ?, u.id, ? FROM users u WHERE u.id = ?
            """, entry.subject, position, reason, user)
    }
}

extension Database {
    /// Newest first, with a cursor made of the last entry's time, subject and position.
    package func audit(
        subject: String?, before cursor: AuditCursor?, limit: Int64
    ) throws(StoreError) -> [(position: Int64, entry: AuditEntry)] {
        let (restriction, order): (String, String)
        var arguments: [any SQLBindable]
        if let subject {
            // Its positions tell their order, whatever the clocks of the nodes said.
            (restriction, order) = ("a.subject = ? AND a.position < ?", "a.position DESC")
            arguments = [subject, cursor?.position ?? .max]
        } else {
            (restriction, order) = (
                "(a.at, a.subject, a.position) < (?, ?, ?)", "a.at DESC, a.subject DESC, a.position DESC"
            )
            arguments = [cursor?.at ?? Timestamp(.max), cursor?.subject ?? "", cursor?.position ?? 0]
        }
        arguments.append(limit)
        return try rows(
            """
            SELECT a.*, r.reason FROM audit a
            LEFT JOIN audit_reasons r ON r.subject = a.subject AND r.position = a.position
            WHERE \(restriction) ORDER BY \(order) LIMIT ?
            """, arguments
        ).map { row throws(StoreError) in
            var entry = try Self.auditEntry(row)
            entry.reason = try row.optionalText("reason")
            return (try row.int("position"), entry)
        }
    }

    /// The chains of all subjects one after the other, each from its beginning, with the digests.
    ///
    /// - Parameter position: the last that was read of `subject`, which is empty at first.
    package func auditChains(
        after subject: String, _ position: Int64, limit: Int64
    ) throws(StoreError) -> [(position: Int64, entry: AuditEntry, digest: Data)] {
        try rows(
            "SELECT * FROM audit WHERE (subject, position) > (?, ?) ORDER BY subject, position LIMIT ?",
            [subject, position, limit]
        ).map { row throws(StoreError) in
            (try row.int("position"), try Self.auditEntry(row), try row.blob("digest"))
        }
    }

    private static func auditEntry(_ row: Row) throws(StoreError) -> AuditEntry {
        AuditEntry(
            subject: try row.text("subject"), actor: try row.text("actor"), requestID: try row.text("request_id"),
            action: try row.text("action"), before: try row.text("before"), after: try row.text("after"),
            at: try row.time("at"))
    }
}

package struct AuditCursor: Sendable {
    package let at: Timestamp
    package let subject: String
    package let position: Int64

    package init(at: Timestamp, subject: String, position: Int64) {
        self.at = at
        self.subject = subject
        self.position = position
    }
}
