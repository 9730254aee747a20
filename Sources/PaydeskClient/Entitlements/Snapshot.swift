public import Foundation

/// A check of a P-256 signature; `PaydeskStoreKit` has CryptoKit's.
public protocol SnapshotVerifier: Sendable {
    /// - Parameters:
    ///   - signature: 64 bytes, r and s.
    ///   - x: 32 bytes of the public key's point, as `y`.
    func isValid(signature: Data, of message: Data, x: Data, y: Data) -> Bool
}

/// The public keys of the server, as `/.well-known/jwks.json` has them.
struct SnapshotKeys: Sendable, Codable {
    struct Key: Sendable, Codable {
        let kid: String
        let kty: String
        let crv: String
        let x: String
        let y: String
    }

    let keys: [Key]
}

/// The entitlements of a user, as the server signed them (`live.md`).
public struct EntitlementSnapshot: Sendable, Equatable {
    public let entitlements: ClientEntitlements
    /// Seconds since 1970.
    public let issuedAt: Int64
    /// The time beyond which it is never believed.
    public let endsAt: Int64
    let text: String

    /// Returns true while the membership holds, also offline.
    ///
    /// - Parameters:
    ///   - time: seconds since 1970.
    ///   - tolerance: seconds after the next known change for which the state before it is believed: a renewal that
    ///     the device has not heard of.
    public func isActive(at time: Int64, tolerance: Int64) -> Bool {
        entitlements.isActive && isBelieved(at: time, tolerance: tolerance)
    }

    /// Returns true while this SKU is owned, also offline.
    public func owns(_ sku: String, at time: Int64, tolerance: Int64) -> Bool {
        entitlements.owns(sku) && isBelieved(at: time, tolerance: tolerance)
    }

    private func isBelieved(at time: Int64, tolerance: Int64) -> Bool {
        time <= endsAt && (entitlements.nextChangeAt.map { time <= $0 + tolerance } ?? true)
    }

    /// Returns true where this one replaces another of the same user: a higher version, or the same and signed later.
    func isNewer(than other: EntitlementSnapshot) -> Bool {
        (entitlements.version, issuedAt) > (other.entitlements.version, other.issuedAt)
    }
}

/// The reason for which a snapshot is not believed.
public enum SnapshotRefusal: String, Error, Sendable, CaseIterable {
    case malformed, algorithm, type, unknownKey, signature, issuer, user, ended
}

/// Reads signed snapshots and believes only what the server signed for this user.
struct SnapshotReader: Sendable {
    /// The seconds for which a snapshot counts after its end, because clocks differ.
    static let leeway: Int64 = 60

    let issuer: String
    let verifier: any SnapshotVerifier

    /// - Parameter now: seconds since 1970.
    func read(_ text: String, user: String, keys: SnapshotKeys, now: Int64) throws -> EntitlementSnapshot {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decoded(parts[0]), let body = Base64URL.decoded(parts[1]),
            let signature = Base64URL.decoded(parts[2]),
            let header = try? JSONDecoder().decode(Header.self, from: head)
        else { throw SnapshotRefusal.malformed }
        guard header.alg == "ES256" else { throw SnapshotRefusal.algorithm }
        guard header.typ == "paydesk-entitlements+jwt" else { throw SnapshotRefusal.type }
        guard let key = keys.keys.first(where: { $0.kid == header.kid && $0.kty == "EC" && $0.crv == "P-256" }),
            let x = Base64URL.decoded(key.x), let y = Base64URL.decoded(key.y)
        else { throw SnapshotRefusal.unknownKey }
        guard verifier.isValid(signature: signature, of: Data("\(parts[0]).\(parts[1])".utf8), x: x, y: y) else {
            throw SnapshotRefusal.signature
        }
        guard let claims = try? JSONDecoder().decode(Claims.self, from: body) else { throw SnapshotRefusal.malformed }
        guard claims.iss == issuer else { throw SnapshotRefusal.issuer }
        guard claims.sub == user, claims.data.userID == user else { throw SnapshotRefusal.user }
        guard now <= claims.exp + Self.leeway else { throw SnapshotRefusal.ended }
        return EntitlementSnapshot(
            entitlements: claims.data, issuedAt: claims.iat, endsAt: claims.exp, text: text)
    }

    private struct Header: Decodable {
        let alg: String
        let typ: String
        let kid: String
    }

    private struct Claims: Decodable {
        let iss: String
        let sub: String
        let iat: Int64
        let exp: Int64
        let data: ClientEntitlements
    }
}
