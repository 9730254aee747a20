package import Domain
import FoundationEssentials
import JWTKit

/// Makes a user's token (JWT, HS256), for development.
package enum DevelopmentToken {
    /// - Parameter lifetime: the validity in seconds.
    package static func make(
        user: String, secret: [UInt8], rules: UserTokenRules, now: Timestamp, lifetime: Int64
    ) async throws -> String {
        let keys = await JWTKeyCollection().add(hmac: HMACKey(from: Data(secret)), digestAlgorithm: .sha256)
        var claims: [String: JSONValue] = [
            rules.claim: .string(user), "iat": .integer(now.rawValue),
            "exp": .integer(now.adding(seconds: lifetime).rawValue),
        ]
        if !rules.issuer.isEmpty { claims["iss"] = .string(rules.issuer) }
        if !rules.audience.isEmpty { claims["aud"] = .string(rules.audience) }
        return try await keys.sign(TokenClaims(members: claims))
    }
}

private struct TokenClaims: JWTPayload {
    let members: [String: JSONValue]

    init(members: [String: JSONValue]) { self.members = members }
    init(from decoder: any Decoder) throws { members = try [String: JSONValue](from: decoder) }
    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
    func verify(using _: some JWTAlgorithm) async throws {}
}
