import Crypto
package import Domain
import FoundationEssentials
import SwiftASN1
import X509
import _CryptoExtras

/// The certificates and keys of one App Store in a box: they take the place of Apple's in development.
///
/// Two chains of three certificates, as Apple has them: elliptic curves for JWS, RSA for receipts. The keys of the roots
/// and intermediates are forgotten once the leaves are signed, so that nobody can issue another certificate. Descriptions
/// show no key.
package struct BoxAuthority: Sendable, Equatable {
    /// A leaf with its issuers, each as DER.
    package struct Chain: Sendable, Equatable, Codable {
        package let root: [UInt8]
        package let intermediate: [UInt8]
        package let leaf: [UInt8]
    }

    /// The chain of JWS: P-384, P-384, P-256.
    ///
    /// Its root is the file `root.cer`.
    package let store: Chain
    /// The chain of receipts, RSA of 2,048 bits.
    package let receipts: Chain
    /// The name of the In-App Purchase key: ten letters and digits, as `kid` has it.
    package let keyID: String
    /// The issuer of the tokens, a UUID in lower case, as `iss` has it.
    package let issuerID: String

    private let leafKey: [UInt8]
    private let receiptKey: [UInt8]
    private let apiKey: [UInt8]

    /// Makes an authority that no other is equal to.
    ///
    /// The RSA keys come from the system's generator, because their primes cannot be given to it.
    ///
    /// - Parameter now: the real time. The leaves live 12 years from then, the intermediates 20, the roots 25; all begin
    ///   a day earlier.
    /// - Throws: `keyRefused` where the random bytes make no key.
    package init(at now: Timestamp, random: RandomSource) throws(BoxAuthorityError) {
        do {
            let issuer = CertificateIssuer(now: now, random: random)
            let leaf = try P256.Signing.PrivateKey(random)
            (store, leafKey) = (try issuer.store(leaf.publicKey), Array(leaf.rawRepresentation))
            let receipt = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            (receipts, receiptKey) = (try issuer.receipts(receipt.publicKey), Array(receipt.derRepresentation))
            apiKey = Array(try P256.Signing.PrivateKey(random).rawRepresentation)
        } catch {
            throw .keyRefused
        }
        keyID = String(random.bytes(10).map { Self.letters[Int($0) % Self.letters.count] })
        issuerID = random.uuid()
    }

    // 32 letters divide 256, so that each is as frequent as the others.
    private static let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")

    /// The roots that a verifier needs to accept what the box signs, as DER: that of JWS, then that of receipts.
    package var roots: [[UInt8]] { [store.root, receipts.root] }

    /// The In-App Purchase key as the text of a `.p8` file: PKCS #8 in PEM.
    package func keyFile() throws(BoxAuthorityError) -> String { try signingKey(apiKey).pemRepresentation + "\n" }

    /// The public half of the In-App Purchase key, by which tokens are checked.
    func tokenKey() throws(BoxAuthorityError) -> P256.Signing.PublicKey { try signingKey(apiKey).publicKey }

    /// The key of the leaf of JWS.
    func storeKey() throws(BoxAuthorityError) -> P256.Signing.PrivateKey { try signingKey(leafKey) }

    /// The key of the leaf of receipts.
    func receiptSigner() throws(BoxAuthorityError) -> _RSA.Signing.PrivateKey {
        do { return try _RSA.Signing.PrivateKey(derRepresentation: receiptKey) } catch { throw .damaged }
    }

    private func signingKey(_ raw: [UInt8]) throws(BoxAuthorityError) -> P256.Signing.PrivateKey {
        do { return try P256.Signing.PrivateKey(rawRepresentation: raw) } catch { throw .damaged }
    }
}

/// The reason why an authority cannot be made or read; it shows nothing of a key.
package enum BoxAuthorityError: Error, Equatable, Sendable {
    /// The random bytes make no key, or the system makes no RSA key.
    case keyRefused
    /// The stored bytes are no authority of the box, or one of its keys cannot be used.
    case damaged
}

// The stored form: JSON with certificates and keys in base64.
extension BoxAuthority {
    private struct Stored: Codable {
        let version: Int
        let store: StoredChain
        let receipts: StoredChain
        let keyID: String
        let issuerID: String
        let leafKey: Data
        let receiptKey: Data
        let apiKey: Data
    }

    private struct StoredChain: Codable {
        let root: Data
        let intermediate: Data
        let leaf: Data

        init(_ chain: Chain) {
            (root, intermediate, leaf) = (Data(chain.root), Data(chain.intermediate), Data(chain.leaf))
        }

        var chain: Chain { Chain(root: Array(root), intermediate: Array(intermediate), leaf: Array(leaf)) }
    }

    /// The bytes to seal and store; they hold the keys.
    package func encoded() throws(BoxAuthorityError) -> [UInt8] {
        let stored = Stored(
            version: 1, store: StoredChain(store), receipts: StoredChain(receipts), keyID: keyID, issuerID: issuerID,
            leafKey: Data(leafKey), receiptKey: Data(receiptKey), apiKey: Data(apiKey))
        do { return Array(try JSONText.encoded(stored)) } catch { throw .damaged }
    }

    /// Reads what `encoded()` wrote, and tries every key.
    ///
    /// - Throws: `damaged` for other bytes.
    package init(encoded bytes: [UInt8]) throws(BoxAuthorityError) {
        guard let stored = try? JSONDecoder().decode(Stored.self, from: Data(bytes)), stored.version == 1 else {
            throw .damaged
        }
        (store, receipts) = (stored.store.chain, stored.receipts.chain)
        (keyID, issuerID) = (stored.keyID, stored.issuerID)
        (leafKey, receiptKey, apiKey) = (Array(stored.leafKey), Array(stored.receiptKey), Array(stored.apiKey))
        _ = (try storeKey(), try receiptSigner(), try tokenKey())
        for der in [store.root, store.intermediate, store.leaf, receipts.root, receipts.intermediate, receipts.leaf] {
            guard (try? Certificate(derEncoded: der)) != nil else { throw .damaged }
        }
    }
}

extension BoxAuthority: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "BoxAuthority(\(keyID))" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension P256.Signing.PrivateKey {
    /// - Throws: where the bytes of 8 tries are no key; one try in 2³² is none.
    init(_ random: RandomSource) throws {
        for _ in 0..<7 {
            if let key = try? Self(rawRepresentation: random.bytes(32)) {
                self = key
                return
            }
        }
        try self.init(rawRepresentation: random.bytes(32))
    }
}

extension RandomSource {
    /// Makes a random UUID of version 4 in lower case (RFC 9562 section 5.4).
    func uuid() -> String {
        var bytes = bytes(16)
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]].map { Hex.encoded($0) }
            .joined(separator: "-")
    }
}
