import Crypto
package import Domain
package import FoundationEssentials

/// An entry of the audit log: actor, act and subject, with the subject's state before and after as JSON text.
package struct AuditEntry: Sendable {
    package let subject: String
    package let actor: String
    package let requestID: String
    package let action: String
    package let before: String
    package let after: String
    package let at: Timestamp
    /// The page on which the act was made, `console`; nil for a call without one.
    package let via: String?
    /// Free text of the actor.
    ///
    /// Stored beside the chain and deleted with the user whom it may name.
    package var reason: String?

    package init(
        subject: String, actor: String, requestID: String, action: String, before: String, after: String, at: Timestamp,
        via: String? = nil
    ) {
        self.subject = subject
        self.actor = actor
        self.requestID = requestID
        self.action = action
        self.before = before
        self.after = after
        self.at = at
        self.via = via
    }

    /// The hash that chains this entry to the one before it; each field is written with its length, so that no two
    /// entries have the same bytes.
    ///
    /// The reason is left out, so that it can be deleted.
    package func digest(after previous: Data, position: Int64) -> Data {
        var hash = SHA256()
        hash.update(data: previous)
        for field in [subject, String(position), String(at.rawValue), actor, requestID, action, before, after]
            + (via.map { [$0] } ?? [])
        {
            hash.update(data: Data("\(field.utf8.count):\(field)".utf8))
        }
        return Data(hash.finalize())
    }
}

/// The position of the last entry of a page.
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

/// An audited act: the state before and after it, and its reason.
package struct AuditedAct: Sendable {
    package let at: Timestamp
    package let before: String
    package let after: String
    package let reason: String?
}

/// The audit log: a hash chain of entries for each subject, and seals over all of them.
///
/// `db.audit` reads; `tx.audit` also writes.
package struct AuditQueries<Connection> {
    let db: any Database
    let tx: Connection
}

extension Database {
    package var audit: AuditQueries<any Database> { AuditQueries(db: self, tx: self) }
}

extension Transaction {
    package var audit: AuditQueries<any Transaction> { AuditQueries(db: self, tx: self) }
}

extension AuditQueries {
    /// Lists entries, newest first, with a cursor made of the last entry's time, subject and position.
    ///
    /// - Parameter actor: the whole actor.
    package func list(
        subject: String?, actor: String? = nil, from: Timestamp? = nil, to: Timestamp? = nil,
        before cursor: AuditCursor?, limit: Int64
    ) throws(StoreError) -> [(position: Int64, entry: AuditEntry)] {
        let (restriction, order): (String, String)
        var arguments: [any SQLBindable]
        if let subject {
            // Positions are in order even where the clocks of the nodes were not.
            (restriction, order) = ("a.subject = ? AND a.position < ?", "a.position DESC")
            arguments = [subject, cursor?.position ?? .max]
        } else {
            (restriction, order) = (
                "(a.at, a.subject, a.position) < (?, ?, ?)", "a.at DESC, a.subject DESC, a.position DESC"
            )
            arguments = [cursor?.at ?? Timestamp(.max), cursor?.subject ?? "", cursor?.position ?? 0]
        }
        var conditions = [restriction]
        for (condition, argument) in [
            ("a.actor = ?", actor as (any SQLBindable)?), ("a.at >= ?", from), ("a.at < ?", to),
        ] {
            guard let argument else { continue }
            conditions.append(condition)
            arguments.append(argument)
        }
        arguments.append(limit)
        return try db.rows(
            """
            SELECT a.*, r.reason FROM audit a
            LEFT JOIN audit_reasons r ON r.subject = a.subject AND r.position = a.position
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(order) LIMIT ?
            """, arguments
        ).map { row throws(StoreError) in
            var entry = try AuditEntry(row: row)
            entry.reason = try row.optionalText("reason")
            return (try row.int("position"), entry)
        }
    }

    /// Lists the chains of all subjects one after the other, each from its beginning, with the digests.
    ///
    /// - Parameter position: the last position that was read of `subject`; `subject` is empty at first.
    package func listChains(
        after subject: String, _ position: Int64, limit: Int64
    ) throws(StoreError) -> [(position: Int64, entry: AuditEntry, digest: Data)] {
        try db.rows(
            "SELECT * FROM audit WHERE (subject, position) > (?, ?) ORDER BY subject, position LIMIT ?",
            [subject, position, limit]
        ).map { row throws(StoreError) in
            (try row.int("position"), try AuditEntry(row: row), try row.blob("digest"))
        }
    }

    /// Lists the latest acts with one name, for each of many subjects, oldest first.
    package func listActs(
        subjects: [String], action: String, limit: Int
    ) throws(StoreError) -> [String: [AuditedAct]] {
        let found = try db.rowsByKey(subjects, "subject", binding: [action]) {
            """
            SELECT subject, at, before, after, NULL AS reason FROM audit WHERE action = ? AND subject IN (\($0))
            ORDER BY subject, position
            """
        }
        var acts: [String: [AuditedAct]] = [:]
        for (subject, rows) in found {
            acts[subject] = try rows.suffix(limit).map(AuditedAct.init(row:))
        }
        return acts
    }

    /// Lists the latest acts with one name about a subject, newest first.
    package func listActs(
        subject: String, action: String, limit: Int64
    ) throws(StoreError) -> [AuditedAct] {
        try db.rows(
            """
            SELECT a.at, a.before, a.after, r.reason FROM audit a
            LEFT JOIN audit_reasons r ON r.subject = a.subject AND r.position = a.position
            WHERE a.subject = ? AND a.action = ? ORDER BY a.position DESC LIMIT ?
            """,
            [subject, action, limit]
        ).map(AuditedAct.init(row:))
    }
}

extension AuditQueries where Connection == any Transaction {
    /// Appends to the subject's chain; the caller holds a lock that covers the subject.
    ///
    /// - Parameters:
    ///   - user: the user whom the entry's reason may name; no reason is stored for an erased user.
    ///   - isNew: true for a new subject, which has no entry yet.
    package func insert(
        _ entry: AuditEntry, about user: ID<User>? = nil, isNew: Bool = false
    ) throws(StoreError) {
        let last =
            isNew
            ? nil
            : try tx.row(
                "SELECT position, digest FROM audit WHERE subject = ? ORDER BY position DESC LIMIT 1", entry.subject)
        let position = (try last?.int("position") ?? 0) + 1
        let digest = entry.digest(after: try last?.blob("digest") ?? Data(), position: position)
        try tx.enqueue(
            """
            INSERT INTO audit (subject, position, at, actor, request_id, action, before, after, digest, via)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            entry.subject, position, entry.at, entry.actor, entry.requestID, entry.action, entry.before, entry.after,
            digest, entry.via)
        guard let user, let reason = entry.reason, !reason.isEmpty else { return }
        try tx.enqueue(
            """
            INSERT INTO audit_reasons (subject, position, user_id, reason)
            SELECT ?, ?, u.id, ? FROM users u WHERE u.id = ?
            """, entry.subject, position, reason, user)
    }
}

extension AuditEntry {
    init(row: Row) throws(StoreError) {
        self.init(
            subject: try row.text("subject"), actor: try row.text("actor"), requestID: try row.text("request_id"),
            action: try row.text("action"), before: try row.text("before"), after: try row.text("after"),
            at: try row.time("at"), via: try row.optionalText("via"))
    }
}

extension AuditedAct {
    init(row: Row) throws(StoreError) {
        self.init(
            at: try row.time("at"), before: try row.text("before"), after: try row.text("after"),
            reason: try row.optionalText("reason"))
    }
}
