package import Domain
import Store

/// A session in an admin's list, without its token.
package struct ListedSession: Encodable, Sendable {
    let id: ID<Session>
    let purpose: String
    /// The app's own id of the user.
    let user_id: String
    let maker: String
    let skus: [String]
    @Nullable private(set) var currency: Currency?
    @Nullable private(set) var provider: String?
    let created_at: Timestamp
    let expires_at: Timestamp
    let readable_until: Timestamp
    @Nullable private(set) var ended_at: Timestamp?

    init(_ session: Session, userName: String) {
        id = session.id
        purpose = session.purpose.rawValue
        user_id = userName
        maker =
            switch session.maker {
            case .user: "user"
            case .admin: "admin"
            case .partner(let name): "partner:\(name)"
            }
        skus = session.sale.skus.map(\.rawValue)
        currency = session.sale.currency
        provider = session.sale.provider
        created_at = session.createdAt
        expires_at = session.expiresAt
        readable_until = session.readableUntil
        ended_at = session.endedAt
    }
}

extension Sessions {
    /// Lists a user's sessions, newest first; a user who was never seen has none.
    package func list(
        of user: ExternalUserID, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<ListedSession> {
        let cursor = try Cursor(cursor, of: Session.self)
        let found = try await settlements.store.report { db -> [Session] in
            guard let id = try db.users.findID(user) else { return [] }
            return try db.sessions.list(of: id, before: cursor.position, limit: limit + 1)
        }
        return Page(found.map { ListedSession($0, userName: user.rawValue) }, limit: limit) { $0.id.rawValue }
    }
}
