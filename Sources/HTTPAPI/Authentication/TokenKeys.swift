import Crypto
import Domain
import FoundationEssentials
import JWTKit
import _CryptoExtras

/// The keys that verify users' tokens.
///
/// A key set (RFC 7517) has one collection for each algorithm. A key without `alg` takes the algorithm of the first
/// token that is checked with it and keeps it, so it needs a collection for each algorithm.
actor TokenKeys {
    private let keys: [JWK]
    private var collections: [String: [JWTKeyCollection]]

    /// - Parameter secrets: tried one after the other, because a token need not name the one that signed it.
    init(secrets: [[UInt8]]) async {
        keys = []
        var made: [JWTKeyCollection] = []
        for secret in secrets {
            made.append(await JWTKeyCollection().add(hmac: HMACKey(from: Data(secret)), digestAlgorithm: .sha256))
        }
        collections = ["HS256": made]
    }

    /// Reads a key set and skips the keys that cannot be used (RFC 7517 section 5): those of other kinds and
    /// algorithms, and those without `kid` beside others.
    ///
    /// - Returns: nil where no key can be used.
    init?(set json: String) {
        struct Members: Decodable { let keys: [JSONValue] }
        guard let members = try? JSONDecoder().decode(Members.self, from: Data(json.utf8)) else { return nil }
        let signing = members.keys.filter { key in
            guard case .object(let members) = key else { return false }
            return members["use"] ?? .string("sig") == .string("sig")
        }
        var keys = signing.compactMap { key in
            (try? JSONEncoder().encode(key)).flatMap { try? JSONDecoder().decode(JWK.self, from: $0) }
        }
        keys.removeAll { !$0.isPublicKey }
        if keys.count == 1, keys[0].keyIdentifier == nil {
            keys[0].keyIdentifier = JWKIdentifier(string: "the only one")
        }
        keys.removeAll { $0.keyIdentifier == nil }
        guard !keys.isEmpty else { return nil }
        self.keys = keys
        collections = [:]
    }

    /// - Parameter algorithm: the token's `alg`, which the caller has checked against a closed list.
    func collections(for algorithm: String) async -> [JWTKeyCollection] {
        if let known = collections[algorithm] { return known }
        let made = JWTKeyCollection()
        for key in keys { _ = try? await made.add(jwk: key) }
        collections[algorithm] = [made]
        return [made]
    }
}

extension UserKeys {
    /// Returns whether a set has a key that can verify tokens.
    package static func isUsable(set json: String) -> Bool { TokenKeys(set: json) != nil }
}

extension JWK {
    /// True for a complete public key of a signature algorithm that is accepted.
    fileprivate var isPublicKey: Bool {
        do {
            switch keyType {
            case .rsa:
                guard algorithm != .rsaOAEP, let modulus = Self.bytes(modulus), let exponent = Self.bytes(exponent)
                else { return false }
                _ = try Insecure.RSA.PublicKey(backing: _RSA.Signing.PublicKey(n: modulus, e: exponent))
            case .ecdsa:
                guard let x, let y else { return false }
                switch curve?.rawValue {
                case ECDSACurve.p256.rawValue: _ = try ES256PublicKey(parameters: (x, y))
                case ECDSACurve.p384.rawValue: _ = try ES384PublicKey(parameters: (x, y))
                case ECDSACurve.p521.rawValue: _ = try ES512PublicKey(parameters: (x, y))
                default: return false
                }
            case .octetKeyPair:
                guard let x, curve?.rawValue == EdDSACurve.ed25519.rawValue else { return false }
                _ = try EdDSA.PublicKey(x: x, curve: .ed25519)
            default: return false
            }
            return true
        } catch {
            return false
        }
    }

    /// Decodes base64url text (RFC 7515 section 2).
    private static func bytes(_ text: String?) -> Data? {
        text.flatMap { Base64URL.decoded($0) }.map { Data($0) }
    }
}
