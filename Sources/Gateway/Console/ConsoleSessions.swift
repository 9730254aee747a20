import Crypto
import Domain
import FoundationEssentials
import Store

/// A session of the console, as its page sees it.
package struct ConsoleSession: Encodable, Sendable, Equatable {
    /// The seconds without a call after which a session ends.
    package static let idleSeconds: Int64 = 3_600
    /// The seconds after which a session ends whatever happens.
    package static let lifetime: Int64 = 43_200

    let key_id: ID<APIKey>
    let name: String
    let scopes: [String]
    let expires_at: Timestamp
    let idle_seconds: Int64

    init(_ key: APIKeyRecord, until end: Timestamp) {
        key_id = key.id
        name = key.name
        scopes = key.scopes
        expires_at = end
        idle_seconds = Self.idleSeconds
    }
}

/// A new session of the console, with the value of its cookie, which is shown once.
package struct OpenedConsole: Sendable {
    package let session: ConsoleSession
    /// 32 random bytes in base64url.
    package let cookie: String
}

/// Signs people in to the console with an API key, whose rights they then have (`docs/api.md` section 14).
///
/// All its times are real: a moved clock ends no session.
package struct ConsoleSessions: Sendable {
    let settlements: SettlementRunner
    let keys: APIKeys
    let random: RandomSource
    let time: BusinessTime
    let links = ConsoleLinks()

    private static let cookieBytes = 32
    /// The step in seconds in which the last use of a session is kept.
    private static let useStep: Int64 = 60

    private var store: StoreAccess { settlements.store }

    /// Opens a session for a key.
    ///
    /// - Throws: `invalidCredential` for a key that is wrong, `forbidden` for one that may not read as an admin.
    package func signIn(key: String, requestID: String) async throws(GatewayError) -> OpenedConsole {
        let known = try await keys.authenticate(key: key)
        guard known.allows(.adminRead) else { throw .forbidden }
        return try await open(known.id, refusal: .unknownKey, requestID)
    }

    /// Opens a session for the link that `serve` printed, with the rights of the oldest valid admin key.
    ///
    /// - Throws: `invalidCredential` where the link was used, is too old or was never given.
    package func signIn(once: String, requestID: String) async throws(GatewayError) -> OpenedConsole {
        let now = time.real.now
        guard links.redeem(once, at: now),
            let key = try await store.read({ db in try db.apiKeys.findFirstAdmin(at: now) })
        else { throw .invalidCredential(.noSignIn) }
        return try await open(key.id, refusal: .noSignIn, requestID)
    }

    /// Makes the code of a link that signs in once, within ten minutes; the one before is no longer valid.
    package func makeLink() -> String { links.make(random, at: time.real.now) }

    private func open(
        _ id: ID<APIKey>, refusal: InvalidCredential, _ requestID: String
    ) async throws(GatewayError) -> OpenedConsole {
        let cookie = Base64URL.encoded(random.bytes(Self.cookieBytes))
        let (digest, now) = (Self.digest(cookie), time.real.now)
        let session = try await settlements.store.write { tx -> ConsoleSession in
            // Locked, so that a key that is being revoked opens no session after it.
            guard let key = try tx.apiKeys.lock(id), key.isValid(at: now) else {
                throw GatewayError.invalidCredential(refusal)
            }
            let end = now.adding(seconds: ConsoleSession.lifetime)
            let session = ConsoleSession(key, until: key.expiresAt.map { min($0, end) } ?? end)
            try tx.consoleSessions.insert(digest: digest, key: id, at: now, until: session.expires_at)
            try self.audit("console.opened", before: "", after: "signed in", of: key, requestID, in: tx)
            return session
        }
        return OpenedConsole(session: session, cookie: cookie)
    }

    /// Finds the key of a cookie, and keeps its session from ending by idleness.
    ///
    /// - Throws: `invalidCredential` where the session, or its key, has ended.
    package func authenticate(cookie: String) async throws(GatewayError) -> AuthenticatedKey {
        let (digest, now) = (Self.digest(cookie), time.reading)
        guard let found = try await store.read({ db in try db.consoleSessions.find(digest: digest) }),
            now.real < found.expiresAt, now.real < found.usedAt.adding(seconds: ConsoleSession.idleSeconds),
            found.key.isValid(at: now.real)
        else { throw .invalidCredential(.noConsoleSession) }
        if now.real >= found.usedAt.adding(seconds: Self.useStep) {
            // A call counts even where its time cannot be recorded.
            try? await store.write { tx in try tx.consoleSessions.recordUse(digest: digest, at: now.real) }
        }
        await keys.recordUse(of: found.key.id, at: now)
        var key = AuthenticatedKey(found.key)
        key.console = ConsoleSession(found.key, until: found.expiresAt)
        return key
    }

    /// Ends the session of a cookie, if there is one.
    package func end(cookie: String, requestID: String) async throws(GatewayError) {
        let digest = Self.digest(cookie)
        guard let found = try await store.read({ db in try db.consoleSessions.find(digest: digest) }) else { return }
        try await store.write { tx in
            guard let key = try tx.apiKeys.lock(found.key.id), try tx.consoleSessions.delete(digest: digest) else {
                return
            }
            try self.audit("console.closed", before: "signed in", after: "signed out", of: key, requestID, in: tx)
        }
    }

    /// Writes an audit entry about a key, in whose name the act is; the caller holds the key's lock.
    private func audit(
        _ action: String, before: String, after: String, of key: APIKeyRecord, _ requestID: String,
        in tx: any Transaction
    ) throws {
        let actor = Actor.partner(name: key.partner, key: key.id)
        let log = ChangeLog(
            tx: tx, ids: settlements.ids, now: settlements.time.now,
            context: AuditContext(actor: actor, requestID: requestID, via: .console))
        try log.audit(subject: key.id.rawValue, action, before: before, after: after)
    }

    private static func digest(_ cookie: String) -> Data { Data(SHA256.hash(data: Data(cookie.utf8))) }
}
