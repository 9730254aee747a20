import Crypto
package import Domain
import FoundationEssentials
import Store

/// A session whose token was accepted.
package struct AuthenticatedSession: Sendable {
    package let session: Session
    package let user: ExternalUserID

    package var id: ID<Session> { session.id }
    package var purpose: Session.Purpose { session.purpose }
}

/// The fields of a new session, checked.
package struct SessionRequest: Sendable {
    package let purpose: Session.Purpose
    package let sale: SessionSale
    /// `en` or `zh-Hans`; nil for the browser's language.
    package let locale: String?
    /// The seconds until it expires; nil for the purpose's own.
    package let lifetime: Int64?
    /// The token of Apple's that its checkouts hand on; nil for none.
    package var external: ExternalClaim?

    package init(purpose: Session.Purpose, sale: SessionSale, locale: String?, lifetime: Int64?) {
        self.purpose = purpose
        self.sale = sale
        self.locale = locale
        self.lifetime = lifetime
    }
}

/// A new session, with the token that is shown once.
package struct IssuedSession: Encodable, Sendable {
    package let id: ID<Session>
    let purpose: String
    /// The address of the page, which has the token.
    package let url: String
    package let token: String
    let expires_at: Timestamp
    let readable_until: Timestamp
}

/// A session that was ended.
package struct EndedSession: Encodable, Sendable, Equatable {
    let id: ID<Session>
    let ended_at: Timestamp
}

/// The caller that ends a session.
package enum SessionEnder: Sendable {
    case user(ExternalUserID)
    /// A partner, by name.
    case partner(String)
    case admin
}

/// The result of looking up a token.
package enum SessionLookup: Sendable {
    /// No session has this token, or it is no longer stored.
    case unknown
    /// The session has ended.
    case expired(Session.Purpose)
    case open(AuthenticatedSession)
}

/// Makes, finds and ends the sessions of browsers.
///
/// Their times are real: `time` is the real clock, also where business time is moved.
package struct Sessions: Sendable {
    let settlements: SettlementRunner
    let ids: IDSource
    let random: RandomSource
    let time: TimeSource
    let publicURL: String

    private var store: StoreAccess { settlements.store }

    /// Makes a session for a user; of its token only the SHA-256 is stored.
    ///
    /// The oldest of the user's running sessions that has no order ends where there are already 20.
    ///
    /// - Throws: `conflict` where all 20 have an order, and where an earlier run under the same key made the session.
    package func make(
        _ request: SessionRequest, for user: ExternalUserID, by maker: Session.Maker, context: CallContext
    ) async throws(GatewayError) -> IssuedSession {
        if context.resumed != nil {
            throw .conflict(
                reason: "this session was made and its token was shown once", resource: context.resumed)
        }
        let (id, ids, now) = (ids.make(Session.self), ids, time.now)
        let token = SessionToken(random.bytes(SessionToken.bytes))
        let expiresAt = now.adding(seconds: request.lifetime ?? Session.lifetime(request.purpose))
        try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            let userID = try tx.users.ensure(user, candidate: ids.make(), at: settlements.time.now)
            try tx.users.lock(userID)
            try Self.makeRoom(for: userID, at: now, settlement)
            var sale = request.sale
            if let claim = request.external, case .given(let token, let account) = claim.token {
                sale.externalToken = try settlement.external.keep(token, at: account, for: userID, source: .checkout).id
            }
            let session = Session(
                id: id, user: userID, purpose: request.purpose, maker: maker, sale: sale,
                locale: request.locale, createdAt: now, expiresAt: expiresAt, readableUntil: expiresAt)
            try tx.sessions.insert(session, digest: Self.digest(token))
            try tx.bind(context, to: id.rawValue)
            try settlement.log.audit(
                subject: id.rawValue, "session.created", before: "", after: request.purpose.rawValue, about: userID,
                isNew: true)
        }
        return IssuedSession(
            id: id, purpose: request.purpose.rawValue, url: address(of: token, request.purpose), token: token.text,
            expires_at: expiresAt, readable_until: expiresAt)
    }

    /// Ends the user's oldest running session without an order where the user has as many as allowed.
    private static func makeRoom(for user: ID<User>, at now: Timestamp, _ settlement: Settlement) throws {
        let running = try settlement.tx.sessions.listRunning(of: user, at: now, limit: Int64(Session.limit))
        guard running.count >= Session.limit else { return }
        guard let oldest = running.first(where: { !$0.hasOrder }) else {
            throw GatewayError.conflict(
                reason: "the user has \(Session.limit) sessions with an order; end one, or wait until one expires")
        }
        _ = try settlement.tx.sessions.end(oldest.id, at: now)
        settlement.log.changed.changes.sessions.insert(oldest.id)
        try settlement.log.audit(
            subject: oldest.id.rawValue, "session.ended", before: "running", after: "ended: too many", about: user)
    }

    private func address(of token: SessionToken, _ purpose: Session.Purpose) -> String {
        "\(publicURL)/\(purpose == .checkout ? "pay" : "portal")/\(token.text)"
    }

    /// Ends a session for the caller that made it, or for an admin; twice is the same.
    ///
    /// - Throws: `notFound`, also for a session of another maker.
    package func end(
        _ session: String, by ender: SessionEnder, context: CallContext
    ) async throws(GatewayError) -> EndedSession {
        guard let id = ID<Session>(session) else { throw .unknown(.session, session) }
        let now = time.now
        return try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            guard let found = try tx.sessions.find(id), try Self.mayEnd(found, ender, tx),
                let ended = try tx.sessions.end(id, at: now)
            else { throw GatewayError.unknown(.session, session) }
            if ended.isNew {
                settlement.log.changed.changes.sessions.insert(id)
                try settlement.log.audit(
                    subject: id.rawValue, "session.ended", before: "running", after: "ended", about: found.user)
            }
            return EndedSession(id: id, ended_at: ended.endedAt)
        }
    }

    private static func mayEnd(_ session: Session, _ ender: SessionEnder, _ db: any Database) throws -> Bool {
        switch ender {
        case .admin: true
        case .partner(let name): session.maker == .partner(name)
        case .user(let user): try session.maker == .user && db.users.findID(user) == session.user
        }
    }

    // MARK: Finding

    /// Finds the session of a token, for a page.
    package func find(token: String) async throws(GatewayError) -> SessionLookup {
        guard let token = SessionToken(token) else { return .unknown }
        let digest = Self.digest(token)
        guard let found = try await store.read({ db in try db.sessions.find(digest: digest) }) else { return .unknown }
        guard found.session.isReadable(at: time.now), let user = found.userName else {
            return .expired(found.session.purpose)
        }
        return .open(AuthenticatedSession(session: found.session, user: user))
    }

    /// Finds the session with an id by its token, for the page of that id.
    ///
    /// - Returns: `unknown` where the token is another session's, whether or not the id exists.
    package func find(_ id: String, token: String, purpose: Session.Purpose) async throws(GatewayError) -> SessionLookup
    {
        guard let token = SessionToken(token) else { return .unknown }
        let digest = Self.digest(token)
        guard let found = try await store.read({ db in try db.sessions.find(digest: digest) }),
            found.session.id.rawValue == id, found.session.purpose == purpose
        else { return .unknown }
        guard found.session.isReadable(at: time.now), let user = found.userName else { return .expired(purpose) }
        return .open(AuthenticatedSession(session: found.session, user: user))
    }

    /// Authenticates a session's token.
    ///
    /// - Throws: `invalidCredential`.
    package func authenticate(token: String) async throws(GatewayError) -> AuthenticatedSession {
        switch try await find(token: token) {
        case .unknown: throw .invalidCredential(.unknownSession)
        case .expired: throw .invalidCredential(.sessionExpired)
        case .open(let session): return session
        }
    }

    /// Requires that a session may see an order: a portal sees all of its user's, a checkout those that it made.
    ///
    /// - Throws: `orderNotFound`.
    package func require(_ order: String, of caller: AuthenticatedSession) async throws(GatewayError) {
        guard caller.purpose == .checkout else { return }
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        guard try await store.read({ db in try db.sessions.hasMade(id, caller.id) }) else {
            throw .orderNotFound(order)
        }
    }

    // MARK: The payer's choices on the page

    /// Keeps the language that the payer chose on the page.
    ///
    /// - Throws: `invalidRequest` for a language that the pages do not have.
    package func setLanguage(_ locale: String, in caller: AuthenticatedSession) async throws(GatewayError) {
        guard Session.locales.contains(locale) else {
            throw .invalidRequest(field: "lang", reason: .words(Session.locales))
        }
        try await store.write { tx in try tx.sessions.setLocale(locale, of: caller.id) }
    }

    private static func digest(_ token: SessionToken) -> Data { Data(SHA256.hash(data: Data(token.text.utf8))) }
}
