package import Domain
import Store

/// One audited act.
package struct AuditView: Encodable, Sendable {
    let subject: String
    let position: Int64
    let at: Timestamp
    let actor: String
    let request_id: String
    let action: String
    let before: String
    let after: String
    /// Why it was done, in words of whoever did it; nil where nothing was said or the person is erased.
    let reason: String?
}

extension Gateway {
    /// Who did what, newest first: everything, or what was done about one subject or one user.
    package func listAudit(
        subject: String?, user: ExternalUserID?, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<AuditView> {
        let cursor = try Cursor(cursor) { text -> AuditCursor? in
            let parts = text.split(separator: "~", maxSplits: 2).map(String.init)
            guard parts.count == 3, let at = Int64(parts[0]), let position = Int64(parts[1]) else { return nil }
            return AuditCursor(at: Timestamp(at), subject: parts[2], position: position)
        }
        let found = try await report { db -> [AuditView] in
            var subject = subject
            if let user {
                guard let id = try db.users.findID(user) else { return [] }
                subject = id.rawValue
            }
            return try db.audit.list(subject: subject, before: cursor.position, limit: limit + 1).map {
                position, entry in
                AuditView(
                    subject: entry.subject, position: position, at: entry.at, actor: entry.actor,
                    request_id: entry.requestID,
                    action: entry.action, before: entry.before, after: entry.after, reason: entry.reason)
            }
        }
        return Page(found, limit: limit) { "\($0.at.rawValue)~\($0.position)~\($0.subject)" }
    }
}
