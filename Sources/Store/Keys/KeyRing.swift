import Crypto
package import Foundation

/// The keys that encrypt secrets at rest with AES-256-GCM; a secret is bound to the context in which it is stored.
///
/// A sealed secret is a version byte (1), the first 4 bytes of the SHA-256 of its key, a nonce of 12 bytes, the
/// ciphertext and a tag of 16 bytes. The first key seals; every key opens, so a new key is put in front of the old one.
package struct KeyRing: Sendable {
    private struct Key: Sendable {
        let id: Data
        let secret: SymmetricKey

        /// Derives a key that serves one purpose only (HKDF, RFC 5869).
        func derived(for purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Data(purpose.utf8), outputByteCount: 32)
        }
    }

    private static let version: UInt8 = 1
    private static let keyLength = 32
    private static let idLength = 4
    private static let headerLength = 1 + idLength

    private let first: Key
    private let all: [Key]

    /// - Throws: ``KeyRingError/noKeys`` or ``KeyRingError/keyLength(_:)``.
    package init(keys: [Data]) throws(KeyRingError) {
        for key in keys where key.count != Self.keyLength { throw .keyLength(key.count) }
        let all = keys.map { key in
            Key(id: Data(SHA256.hash(data: key).prefix(Self.idLength)), secret: SymmetricKey(data: key))
        }
        guard let first = all.first else { throw .noKeys }
        self.first = first
        self.all = all
    }

    /// Returns whether the key that sealed this is in the ring, without opening it.
    package func hasKey(of sealed: Data) -> Bool {
        let id = Data(sealed.dropFirst().prefix(Self.idLength))
        return all.contains { $0.id == id }
    }

    /// Returns whether this was sealed with the first key.
    package func isNewest(_ sealed: Data) -> Bool {
        Data(sealed.dropFirst().prefix(Self.idLength)) == first.id
    }

    /// - Parameter context: the table, column and key under which the result is stored, such as
    ///   "payments.contract/pay_…"; it can be opened only with this context.
    package func seal(_ plaintext: Data, context: String) throws(KeyRingError) -> Data {
        do {
            let box = try AES.GCM.seal(plaintext, using: first.secret, authenticating: Data(context.utf8))
            return Data([Self.version]) + first.id + Data(box.nonce) + box.ciphertext + box.tag
        } catch {
            throw .notSealed
        }
    }

    /// Returns an HMAC-SHA256 over a message, under a key derived from the first key for this purpose.
    package func authenticationCode(of message: Data, purpose: String) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: message, using: first.derived(for: purpose)))
    }

    /// Returns the HMAC-SHA256 over a message by every key of the ring, the first one's first.
    package func authenticationCodes(of message: Data, purpose: String) -> [Data] {
        all.map { Data(HMAC<SHA256>.authenticationCode(for: message, using: $0.derived(for: purpose))) }
    }

    /// Returns whether any key of the ring made this code for the message, in constant time.
    package func isAuthentic(_ code: Data, of message: Data, purpose: String) -> Bool {
        all.contains {
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message, using: $0.derived(for: purpose))
        }
    }

    /// - Throws: ``KeyRingError/unknownKey`` or ``KeyRingError/damaged`` (a changed byte, or another context).
    package func open(_ sealed: Data, context: String) throws(KeyRingError) -> Data {
        guard sealed.first == Self.version, sealed.count > Self.headerLength else { throw .damaged }
        let id = Data(sealed.dropFirst().prefix(Self.idLength))
        let keys = all.filter { $0.id == id }
        guard !keys.isEmpty else { throw .unknownKey }
        let body = Data(sealed.dropFirst(Self.headerLength))
        for key in keys {
            guard let box = try? AES.GCM.SealedBox(combined: body) else { throw .damaged }
            let opened = try? AES.GCM.open(box, using: key.secret, authenticating: Data(context.utf8))
            if let opened { return opened }
        }
        throw .damaged
    }
}

/// The errors of making a key ring and of sealing and opening with it.
package enum KeyRingError: Error, Sendable, Equatable {
    case noKeys
    /// A key with this number of bytes; a key must have 32.
    case keyLength(Int)
    case notSealed
    /// The text was sealed with a key that is not in the ring.
    case unknownKey
    /// The text was not sealed by this ring with this context.
    case damaged
}

extension KeyRing: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "KeyRing(\(all.count) keys)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
