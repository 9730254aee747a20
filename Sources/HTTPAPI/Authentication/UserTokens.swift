import Crypto
import Domain
import FoundationEssentials
import Gateway
import JWTKit
import Synchronization

/// The source of the keys that verify users' tokens.
package enum UserKeys: Sendable {
    /// A shared secret of at least 32 bytes, for HS256 (RFC 7518 section 3.2).
    case secret([UInt8])
    /// Several secrets, of which each verifies, so that one can be replaced.
    case secrets([[UInt8]])
    /// A JWK set (RFC 7517) that does not change while the process runs.
    case set(json: String)
    /// A JWK set at an address: fetched when first needed, and again for an unknown key, at most once a minute.
    case remote(fetch: @Sendable () async -> String?)
}

/// The rules for a user's token.
package struct UserTokenRules: Sendable {
    package var keys: UserKeys
    /// The required `iss`; empty = not checked.
    package var issuer: String
    package var audience: String
    /// The claim with the user id, a string or an integer.
    package var claim: String
    package var maxLifetimeHours: Int64

    package init(
        keys: UserKeys, issuer: String = "", audience: String = "", claim: String = "sub", maxLifetimeHours: Int64 = 720
    ) {
        self.keys = keys
        self.issuer = issuer
        self.audience = audience
        self.claim = claim
        self.maxLifetimeHours = maxLifetimeHours
    }
}

/// Finds the user of a token; a token that was verified a moment ago is not verified again.
final class UserTokens: Sendable {
    private let verifier: Mutex<TokenVerifier>
    private let cache = VerifiedTokens()
    private let time: TimeSource

    init(_ rules: UserTokenRules, time: TimeSource) {
        verifier = Mutex(TokenVerifier(rules, time: time))
        self.time = time
    }

    /// Verifies by other rules from now on; tokens that were verified by the old ones are verified again.
    func replace(by rules: UserTokenRules) {
        verifier.withLock { $0 = TokenVerifier(rules, time: time) }
        cache.forget()
    }

    /// Returns the user that a token names.
    ///
    /// - Throws: `invalidCredential`, without details that would help a forger.
    func user(_ token: String) async throws(GatewayError) -> ExternalUserID {
        guard token.utf8.count <= TokenVerifier.limit else { throw .invalidCredential(.noToken) }
        let now = time.now
        let digest = Self.digest(token)
        if let user = cache.user(digest, at: now) { return user }
        let generation = cache.generation
        let verified = try await verifier.withLock { $0 }.verify(token)
        cache.keep(verified, digest, at: now, of: generation)
        return verified.user
    }

    /// Returns the time from which a token is no longer accepted.
    ///
    /// - Throws: `invalidCredential`.
    func end(of token: String) async throws(GatewayError) -> Timestamp {
        guard token.utf8.count <= TokenVerifier.limit else { throw .invalidCredential(.noToken) }
        return Timestamp(try await verifier.withLock { $0 }.verify(token).expiry)
    }

    private static func digest(_ token: String) -> SHA256Digest {
        var (token, hash) = (token, SHA256())
        token.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hash.finalize()
    }
}

/// A verified token: its user and its end.
struct VerifiedToken: Sendable {
    let user: ExternalUserID
    /// The time from which the token is no longer accepted, in seconds since 1970.
    let expiry: Int64
}

/// Verifies users' JWTs (RFC 7519); the algorithm is fixed by the configuration, never by the token.
actor TokenVerifier {
    static let limit = 8_192

    private static let refetchInterval: Int64 = 60
    private static let leeway: Int64 = 60
    private static let asymmetric: Set<String> = [
        "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
    ]

    private let rules: UserTokenRules
    private let time: TimeSource
    private var keys: TokenKeys?
    private var fetchedAt: Timestamp?
    /// The fetch that is under way; further callers wait for the same one.
    private var fetching: Task<Bool, Never>?

    init(_ rules: UserTokenRules, time: TimeSource) {
        self.rules = rules
        self.time = time
    }

    /// - Throws: `invalidCredential`; `temporarilyUnavailable` while no key is known that could verify the token.
    func verify(_ token: String) async throws(GatewayError) -> VerifiedToken {
        guard let algorithm = Self.algorithm(of: token), Self.isUnambiguous(token) else {
            throw .invalidCredential(.noToken)
        }
        let isConfigured =
            switch rules.keys {
            case .secret, .secrets: algorithm == "HS256"
            case .set, .remote: Self.asymmetric.contains(algorithm)
            }
        guard isConfigured else { throw .invalidCredential(.signature) }
        await prepareKeys()
        guard keys != nil else { throw .temporarilyUnavailable(retryAfter: Self.refetchInterval) }
        var claims = await verified(token, algorithm)
        if claims == nil, await refetch() { claims = await verified(token, algorithm) }
        guard let claims else { throw .invalidCredential(.signature) }
        do throws(InvalidCredential) { return try check(claims.members) } catch { throw .invalidCredential(error) }
    }

    private func verified(_ token: String, _ algorithm: String) async -> Claims? {
        for collection in await keys?.collections(for: algorithm) ?? [] {
            if let claims = try? await collection.verify(token, as: Claims.self) { return claims }
        }
        return nil
    }

    private func prepareKeys() async {
        guard keys == nil else { return }
        switch rules.keys {
        case .secret(let bytes): keys = await TokenKeys(secrets: [bytes])
        case .secrets(let secrets): keys = await TokenKeys(secrets: secrets)
        case .set(let json): keys = TokenKeys(set: json)
        case .remote: _ = await refetch()
        }
    }

    /// Fetches the set again; the last good set stays where the fetch fails or brings no usable key.
    private func refetch() async -> Bool {
        guard case .remote(let fetch) = rules.keys else { return false }
        if let fetching { return await fetching.value }
        let now = time.now
        // After the clock was set back, a plain comparison would wait for as long as it had been ahead.
        let isRecent = fetchedAt.map { (0..<Self.refetchInterval).contains(now.rawValue - $0.rawValue) } ?? false
        guard !isRecent else { return false }
        fetchedAt = now
        let task = Task { take(await fetch()) }
        fetching = task
        defer { fetching = nil }
        return await task.value
    }

    private func take(_ json: String?) -> Bool {
        guard let fresh = json.flatMap(TokenKeys.init(set:)) else { return false }
        keys = fresh
        return true
    }

    private func check(_ claims: [String: JSONValue]) throws(InvalidCredential) -> VerifiedToken {
        func require(_ holds: Bool, _ claim: String) throws(InvalidCredential) {
            guard holds else { throw .claim(claim) }
        }
        let now = time.now.rawValue
        guard let expiry = claims["exp"]?.seconds else { throw .claim("exp") }
        guard now < expiry else { throw .expired }
        let issuedAt = claims["iat"]?.seconds ?? now
        try require(issuedAt <= now + Self.leeway, "iat")
        let (lifetime, overflow) = expiry.subtractingReportingOverflow(min(issuedAt, now))
        try require(!overflow && lifetime <= rules.maxLifetimeHours * 3_600 + Self.leeway, "exp")
        if let notBefore = claims["nbf"] {
            try require(notBefore.seconds.map { $0 <= now + Self.leeway } ?? false, "nbf")
        }
        try require(rules.issuer.isEmpty || claims["iss"] == .string(rules.issuer), "iss")
        try require(rules.audience.isEmpty || claims["aud"]?.names(rules.audience) == true, "aud")
        let user: ExternalUserID? =
            switch claims[rules.claim] {
            case .string(let text)?: ExternalUserID(text)
            case .integer(let number)?: ExternalUserID(String(number))
            default: nil
            }
        guard let user else { throw .claim(rules.claim) }
        return VerifiedToken(user: user, expiry: expiry)
    }

    /// Returns the `alg` of the header; nil for a token without three parts or with critical extensions (`crit`).
    private static func algorithm(of token: String) -> String? {
        struct Header: Decodable {
            let alg: String
            let crit: [String]?
            let typ: String?
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let json = Base64URL.decoded(parts[0]),
            let header = try? JSONDecoder().decode(Header.self, from: Data(json)), header.crit == nil,
            // A signed snapshot is no login, whatever keys verify logins.
            header.typ?.lowercased() != SignedSnapshots.type
        else { return nil }
        return header.alg
    }

    /// Returns whether all readers agree on the token: no member of the header or the claims appears twice (RFC 7519
    /// section 4).
    private static func isUnambiguous(_ token: String) -> Bool {
        token.split(separator: ".", omittingEmptySubsequences: false).prefix(2).allSatisfy { part in
            Base64URL.decoded(part).map { !JSONTree.isAmbiguous($0) } ?? false
        }
    }
}

/// All claims of a token; ``UserTokens`` checks them with the injected clock.
private struct Claims: JWTPayload {
    let members: [String: JSONValue]

    init(from decoder: any Decoder) throws { members = try [String: JSONValue](from: decoder) }
    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
    func verify(using _: some JWTAlgorithm) async throws {}
}

extension JSONValue {
    /// The value as a NumericDate (RFC 7519 section 2), without its fraction; nil for other types.
    fileprivate var seconds: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value.rounded(.down))
        default: nil
        }
    }

    /// Returns whether an `aud` claim, which is one name or a list of them (RFC 7519 section 4.1.3), names this
    /// audience.
    fileprivate func names(_ audience: String) -> Bool {
        switch self {
        case .string(let text): text == audience
        case .array(let values): values.contains(.string(audience))
        default: false
        }
    }
}
