package import Domain
import FoundationEssentials
import Logging
import Store

/// An entry of the audit as an admin sees it.
package struct AuditView: Encodable, Sendable {
    let subject: String
    let position: Int64
    let at: Timestamp
    let actor: String
    let request_id: String
    let action: String
    let before: String
    let after: String
    /// The reason that the actor gave; nil where none was given or the user is erased.
    let reason: String?
    /// `console` for an act on that page.
    @Nullable private(set) var via: String?
}

/// The log of every change: a hash chain for each subject, sealed into one global chain.
package struct AuditLog: Sendable {
    let store: StoreAccess
    let time: BusinessTime
    let logger: Logger

    private static let sealInterval: Int64 = 60
    private static let sealLimit: Int64 = 2_000

    /// Lists entries, newest first: all, or those that every filter admits.
    ///
    /// - Parameters:
    ///   - subject: an id, or the app's own id of a user.
    ///   - actor: the whole actor, or an API key's id.
    package func list(
        subject: String?, user: ExternalUserID?, actor: String? = nil, from: Timestamp? = nil, to: Timestamp? = nil,
        cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<AuditView> {
        let cursor = try Cursor(threeParts: cursor) { at, position, subject -> AuditCursor? in
            guard let at = Int64(at), let position = Int64(position) else { return nil }
            return AuditCursor(at: Timestamp(at), subject: subject, position: position)
        }
        let found = try await store.report { db -> [AuditView] in
            var (subject, actor) = (subject, actor)
            if let user {
                guard let id = try db.users.findID(user) else { return [] }
                subject = id.rawValue
            } else if let name = subject.flatMap({ ExternalUserID($0) }), let id = try db.users.findID(name) {
                subject = id.rawValue
            }
            if let key = try actor.flatMap({ ID<APIKey>($0) }).flatMap({ try db.apiKeys.find($0) }) {
                actor = Actor.partner(name: key.partner, key: key.id).label
            }
            return try db.audit.list(
                subject: subject, actor: actor, from: from, to: to, before: cursor.position, limit: limit + 1
            ).map {
                position, entry in
                AuditView(
                    subject: entry.subject, position: position, at: entry.at, actor: entry.actor,
                    request_id: entry.requestID,
                    action: entry.action, before: entry.before, after: entry.after, reason: entry.reason,
                    via: entry.via)
            }
        }
        return Page(found, limit: limit) { "\($0.at.rawValue)~\($0.position)~\($0.subject)" }
    }

    /// Seals the entries since the last seal.
    ///
    /// Each seal's hash is also written to the server's log, so that somebody who can rewrite the whole database cannot
    /// rewrite the copy of the hash elsewhere.
    func seal() async throws(GatewayError) -> JobOutcome {
        let now = time.now
        guard let seal = try await store.write({ tx in try tx.audit.seal(limit: Self.sealLimit, at: now) }) else {
            return .again(after: Self.sealInterval)
        }
        logger.info(
            "the audit was sealed",
            metadata: [
                "position": "\(seal.position)", "entries": "\(seal.entries)",
                "digest": "\(seal.digest.base64EncodedString())",
            ])
        return .again(after: seal.entries == Self.sealLimit ? 0 : Self.sealInterval)
    }
}
