import Crypto
import Domain
import FoundationEssentials
import Store

/// A key that signs snapshots: ES256 (RFC 7518 section 3.4).
struct SnapshotKey: Sendable {
    let key: P256.Signing.PrivateKey
    let published: PublishedSnapshotKey

    var kid: String { published.kid }

    /// Makes a key of random bytes; nearly every value of 32 bytes is one.
    init(random: RandomSource) throws(GatewayError) {
        for _ in 0..<8 {
            if let key = try? P256.Signing.PrivateKey(rawRepresentation: random.bytes(32)) {
                self.init(key)
                return
            }
        }
        throw .internalError
    }

    init(_ key: P256.Signing.PrivateKey) {
        self.key = key
        published = PublishedSnapshotKey(key.publicKey.rawRepresentation)
    }

    /// Opens a stored key.
    init(_ record: SnapshotKeyRecord, with keyRing: KeyRing) throws {
        let secret = try keyRing.open(record.secret, context: Self.place(record.kid))
        self.init(try P256.Signing.PrivateKey(rawRepresentation: secret))
    }

    func sealed(by keyRing: KeyRing) throws(KeyRingError) -> SnapshotKeyRecord {
        SnapshotKeyRecord(
            kid: kid, secret: try keyRing.seal(key.rawRepresentation, context: Self.place(kid)),
            publicKey: key.publicKey.rawRepresentation)
    }

    /// Signs claims as a JWS (RFC 7515 section 7.1).
    ///
    /// - Parameter claims: a JSON object.
    func sign(_ claims: Data, type: String) throws -> String {
        let header = Data(#"{"alg":"ES256","kid":"\#(kid)","typ":"\#(type)"}"#.utf8)
        let signed = "\(Base64URL.encoded(header)).\(Base64URL.encoded(claims))"
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return "\(signed).\(Base64URL.encoded(signature))"
    }

    /// The context to which a stored key is sealed.
    static func place(_ kid: String) -> String { "snapshot_keys.secret/\(kid)" }
}

/// A public key of the published set (RFC 7517 section 4, RFC 7518 section 6.2.1).
package struct PublishedSnapshotKey: Encodable, Sendable, Equatable {
    let kty = "EC"
    let crv = "P-256"
    let x: String
    let y: String
    /// The thumbprint of the key (RFC 7638).
    package let kid: String
    let alg = "ES256"
    let use = "sig"

    private enum CodingKeys: String, CodingKey { case kty, crv, x, y, kid, alg, use }

    /// - Parameter point: the coordinates x and y, 32 bytes each.
    init(_ point: Data) {
        x = Base64URL.encoded(point.prefix(32))
        y = Base64URL.encoded(point.suffix(32))
        let members = #"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#
        kid = Base64URL.encoded(SHA256.hash(data: Data(members.utf8)))
    }
}
