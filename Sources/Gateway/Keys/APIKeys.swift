import Crypto
package import Domain
import FoundationEssentials
import Store
import Synchronization

/// A key that has been authenticated.
package struct AuthenticatedKey: Sendable {
    package let id: ID<APIKey>
    package let partner: String
    package let scopes: Set<Scope>
    /// The session of the console by which the caller has the key; nil for a caller that sent the key.
    package var console: ConsoleSession?

    package func allows(_ scope: Scope) -> Bool { scopes.contains(.admin) || scopes.contains(scope) }
    package var actor: Actor { .partner(name: partner, key: id) }
}

extension AuthenticatedKey {
    init(_ record: APIKeyRecord) {
        self.init(
            id: record.id, partner: record.partner, scopes: Set(record.scopes.compactMap(Scope.init)), console: nil)
    }
}

/// A key without its secret.
package struct KeyView: Encodable, Sendable {
    package let id: ID<APIKey>
    let name: String
    let partner: String
    let scopes: [String]
    let created_at: Timestamp
    @Nullable private(set) var expires_at: Timestamp?
    /// The time of the last use, exact to a minute.
    @Nullable private(set) var last_used_at: Timestamp?
    let revoked_at: Timestamp?

    init(_ record: APIKeyRecord) {
        id = record.id
        name = record.name
        partner = record.partner
        scopes = record.scopes
        created_at = record.createdAt
        expires_at = record.expiresAt
        last_used_at = record.lastUsedAt
        revoked_at = record.revokedAt
    }
}

/// A new key, with the secret that is shown once.
package struct IssuedKey: Encodable, Sendable {
    package let id: ID<APIKey>
    let name: String
    let partner: String
    package let scopes: [String]
    let expires_at: Timestamp?
    package let key: String
}

/// The keys whose use was recorded within the last minute, so that not every call writes to the database.
final class KeyUses: Sendable {
    private static let interval: Int64 = 60

    private let noted = Mutex<[ID<APIKey>: Timestamp]>([:])

    /// Returns true where the use of a key should be recorded now.
    ///
    /// - Returns: false within a minute of the last time on this node.
    func claim(_ key: ID<APIKey>, at now: Timestamp) -> Bool {
        noted.withLock { noted in
            if let last = noted[key], (0..<Self.interval).contains(now.rawValue - last.rawValue) { return false }
            noted[key] = now
            return true
        }
    }
}

/// The API keys of admins and partners.
package struct APIKeys: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let ids: IDSource
    let time: BusinessTime
    let random: RandomSource
    private let uses = KeyUses()

    init(
        store: StoreAccess, settlements: SettlementRunner, ids: IDSource, time: BusinessTime, random: RandomSource
    ) {
        self.store = store
        self.settlements = settlements
        self.ids = ids
        self.time = time
        self.random = random
    }

    /// Makes an API key: `pdk_`, the 26 characters of its id, `_`, and a secret of 43 characters.
    ///
    /// Only the hash of the secret is stored.
    ///
    /// - Parameter expiresAt: the real time from which the key is refused; nil for never.
    /// - Throws: `invalidRequest` for a bad name, partner, scope or end.
    package func create(
        name: String, partner: String?, scopes: [String], expiresAt: Timestamp? = nil, context: CallContext
    ) async throws(GatewayError) -> IssuedKey {
        if let expiresAt, expiresAt <= time.real.now || expiresAt > .farFuture {
            throw .invalidRequest(field: "expires_at", reason: "must lie ahead")
        }
        try Self.checkName(name, "name")
        let partner = partner ?? name
        try Self.checkName(partner, "partner")
        let known = scopes.compactMap(Scope.init)
        guard !scopes.isEmpty, known.count == scopes.count else {
            throw .invalidRequest(field: "scopes", reason: .words(Scope.allCases.map(\.rawValue), isList: true))
        }
        if context.resumed != nil {
            throw .conflict(reason: "this key was made and shown once", resource: context.resumed)
        }
        let id = ids.make(APIKey.self)
        let key = "pdk_\(id.rawValue.dropFirst(4))_\(Base64URL.encoded(random.bytes(32)))"
        let record = APIKeyRecord(
            id: id, name: name, partner: partner, scopes: known.map(\.rawValue), hash: Self.hash(key),
            createdAt: time.now, expiresAt: expiresAt)
        try await settlements.run(context.audit) { settlement in
            try settlement.tx.apiKeys.insert(record)
            try settlement.tx.bind(context, to: id.rawValue)
            try settlement.log.audit(
                subject: id.rawValue, "key.created", before: "",
                after: "\(name) of \(partner): \(record.scopes.joined(separator: " "))")
        }
        return IssuedKey(id: id, name: name, partner: partner, scopes: record.scopes, expires_at: expiresAt, key: key)
    }

    private static func checkName(_ name: String, _ field: String) throws(GatewayError) {
        guard name.hasScalars(1...200), name.isPlain else {
            throw .invalidRequest(
                field: field, reason: "must have 1 to 200 characters, none of them a control character")
        }
    }

    /// Authenticates a key, in a time that does not depend on the number of right characters.
    ///
    /// - Throws: `invalidCredential`.
    package func authenticate(key: String) async throws(GatewayError) -> AuthenticatedKey {
        let parts = key.split(separator: "_", maxSplits: 2, omittingEmptySubsequences: false)
        guard key.utf8.count <= 128, parts.count == 3, parts[0] == "pdk", let id = ID<APIKey>("key_\(parts[1])") else {
            throw .invalidCredential(.noKey)
        }
        let now = time.reading
        guard let record = try await store.read({ db in try db.apiKeys.find(id) }), record.isValid(at: now.real),
            Self.equalInConstantTime(record.hash, Self.hash(key))
        else { throw .invalidCredential(.unknownKey) }
        await recordUse(of: id, at: now)
        return AuthenticatedKey(record)
    }

    /// Records the use of a key, which is accepted even where that cannot be recorded.
    func recordUse(of id: ID<APIKey>, at now: ClockReading) async {
        guard uses.claim(id, at: now.real) else { return }
        try? await store.write { tx in try tx.apiKeys.recordUse(of: id, at: now.business) }
    }

    /// The keys without their secrets, newest first.
    package func list(cursor: String?, limit: Int64) async throws(GatewayError) -> Page<KeyView> {
        let cursor = try Cursor(cursor, of: APIKey.self)
        let keys = try await store.report { db in try db.apiKeys.list(before: cursor.position, limit: limit + 1) }
        return Page(keys.map(KeyView.init), limit: limit) { $0.id.rawValue }
    }

    /// Revokes a key.
    ///
    /// - Throws: `notFound` for a key that is unknown, expired or already revoked.
    package func revoke(_ key: String, context: CallContext) async throws(GatewayError) {
        guard let id = ID<APIKey>(key) else { throw .unknown(.key, key) }
        try await settlements.run(context.audit) { settlement in
            guard try settlement.tx.apiKeys.revoke(id, at: settlement.now) else {
                throw GatewayError.unknown(.key, key)
            }
            try settlement.log.audit(subject: id.rawValue, "key.revoked", before: "good", after: "revoked")
        }
    }

    /// True where an admin key is valid now.
    package func hasAdminKey() async throws(GatewayError) -> Bool {
        let now = time.real.now
        return try await store.read { db in try db.apiKeys.findFirstAdmin(at: now) != nil }
    }

    private static func hash(_ key: String) -> Data { Data(SHA256.hash(data: Data(key.utf8))) }

    private static func equalInConstantTime(_ left: Data, _ right: Data) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
