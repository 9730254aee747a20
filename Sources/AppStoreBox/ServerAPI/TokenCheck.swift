import Crypto
import Domain
import FoundationEssentials

/// Checks the bearer tokens of the server API: JWT by ES256 under the box's In-App Purchase key.
///
/// Source: Apple, App Store Server API, "Generating JSON Web Tokens for API requests".
struct TokenCheck: Sendable {
    let keyID: String
    let issuerID: String
    let bundleID: String
    let key: P256.Signing.PublicKey

    /// The longest life of a token, in seconds.
    static let lifetime: Double = 3_600
    /// The seconds by which the caller's clock may be ahead.
    static let skew: Double = 60
    /// The most bytes of a token that are read.
    private static let limit = 8_192

    private struct Header: Decodable {
        let alg: String
        let kid: String
    }

    private struct Claims: Decodable {
        let iss: String
        let iat: Double?
        let exp: Double
        let aud: String
        let bid: String
    }

    /// Returns whether the value of an `Authorization` header is a valid token at a real time.
    func accepts(_ authorization: String?, at now: Timestamp) -> Bool {
        guard let authorization, authorization.utf8.count <= Self.limit else { return false }
        let words = authorization.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return false }
        let parts = words[1].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.read(Header.self, parts[0]), header.alg == "ES256",
            header.kid == keyID, let claims = Self.read(Claims.self, parts[1]), isSound(claims, at: now),
            let signature = Base64.decodeURL(Array(parts[2].utf8)[...]),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
    }

    private func isSound(_ claims: Claims, at now: Timestamp) -> Bool {
        let now = Double(now.rawValue)
        return claims.iss == issuerID && claims.bid == bundleID && claims.aud == "appstoreconnect-v1"
            && claims.exp > now && isShort(claims, at: now)
    }

    /// Returns whether a token lives an hour at most; Apple's library for Python leaves `iat` out.
    private func isShort(_ claims: Claims, at now: Double) -> Bool {
        guard let issued = claims.iat else { return claims.exp <= now + Self.lifetime + Self.skew }
        return issued <= now + Self.skew && claims.exp > issued && claims.exp - issued <= Self.lifetime
    }

    private static func read<Value: Decodable>(_ type: Value.Type, _ part: Substring) -> Value? {
        Base64.decodeURL(Array(part.utf8)[...]).flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
    }
}
