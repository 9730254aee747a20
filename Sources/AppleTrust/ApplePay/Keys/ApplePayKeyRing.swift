import Encodings
import RefusalReasons

/// The payment processing keys to which tokens may be encrypted: the current one and earlier ones still in use.
public struct ApplePayKeyRing: Sendable {
    private let keys: [[UInt8]: ApplePayMerchantKey]

    public init(_ keys: [ApplePayMerchantKey]) {
        self.keys = Dictionary(keys.map { ($0.publicKeyHash, $0) }, uniquingKeysWith: { first, _ in first })
    }

    public var isEmpty: Bool { keys.isEmpty }

    /// Decrypts a verified token.
    ///
    /// - Throws: `unknownMerchantKey`, whose detail names the hashes of the configured keys, and `decryptionFailed`.
    public func decrypt(_ token: VerifiedToken) throws(ApplePayRefusal) -> DecryptedToken {
        guard let key = keys[token.token.publicKeyHash] else {
            let held = keys.keys.map { Base64.encode($0) }.sorted()
            throw ApplePayRefusal(
                .unknownMerchantKey,
                "encrypted to \(Base64.encode(token.token.publicKeyHash)); held: \(held.joined(separator: " "))")
        }
        return try TokenDecryption.decrypt(token.token.fields, with: key)
    }
}

extension ApplePayKeyRing: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "ApplePayKeyRing(\(keys.count) keys)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
