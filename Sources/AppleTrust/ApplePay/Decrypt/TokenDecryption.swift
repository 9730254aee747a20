import Crypto
import RefusalReasons
import _CryptoExtras

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decrypts a token (Apple, Payment Token Format Reference, "Decrypt the token").
enum TokenDecryption {
    static func decrypt(
        _ fields: PaymentDataFields, with key: ApplePayMerchantKey
    ) throws(ApplePayRefusal) -> DecryptedToken {
        let contentKey =
            switch (fields.envelope, key.key) {
            case (.ec(let ephemeral), .ec(let own)): try agree(own, ephemeral, key.merchantHash)
            case (.rsa, .rsa(let own)): try unwrap(fields.wrappedKey, own)
            case (.ec, .rsa), (.rsa, .ec): throw refusal("the key named is not of the token's version")
            }
        var plain = try open(fields.data, with: contentKey)
        defer { WipedBytes.wipe(&plain) }
        return try read(plain)
    }

    /// A function of its own, so that no reference to the content is left when it is wiped.
    @inline(never)
    private static func read(_ plain: [UInt8]) throws(ApplePayRefusal) -> DecryptedToken {
        let json: JSONDocument
        do throws(JSONSyntaxError) {
            json = try JSONDocument(plain)
        } catch {
            throw refusal("the content is no JSON object: \(error.problem)")
        }
        return try DecryptedToken(PaymentReader(json: json, members: json.root))
    }

    /// ECDH, and one round of the single-step key derivation of NIST SP 800-56A, whose counter comes before the secret
    /// (in X9.63 it comes after).
    private static func agree(
        _ own: P256.KeyAgreement.PrivateKey, _ ephemeral: P256.KeyAgreement.PublicKey, _ merchantHash: [UInt8]
    ) throws(ApplePayRefusal) -> SymmetricKey {
        guard let secret = try? own.sharedSecretFromKeyAgreement(with: ephemeral) else {
            throw refusal("no secret can be agreed")
        }
        var hash = SHA256()
        hash.update(data: [0, 0, 0, 1] as [UInt8])
        // The secret has 32 octets, leading zeros included.
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: otherInformation)
        hash.update(data: merchantHash)
        return hash.finalize().withUnsafeBytes { SymmetricKey(data: $0) }
    }

    /// The algorithm's name with its length in front, and the name of the encrypting party.
    private static let otherInformation = [0x0D] + Array("id-aes256-GCM".utf8) + Array("Apple".utf8)

    private static func unwrap(_ wrapped: [UInt8], _ own: WipedBytes) throws(ApplePayRefusal) -> SymmetricKey {
        let unwrapped = own.withBytes { der in
            try? _RSA.Encryption.PrivateKey(derRepresentation: der).decrypt(wrapped, padding: .PKCS1_OAEP_SHA256)
        }
        guard var key = unwrapped else {
            throw refusal("the key cannot be unwrapped")
        }
        defer { WipedBytes.wipe(&key) }
        guard key.count == 16 else { throw refusal("the unwrapped key has \(key.count) bytes") }
        return SymmetricKey(data: key)
    }

    /// AES-GCM under a nonce of sixteen zeros, which is safe because no key is used twice.
    private static func open(_ data: [UInt8], with key: SymmetricKey) throws(ApplePayRefusal) -> [UInt8] {
        do {
            let box = try AES.GCM.SealedBox(
                nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)),
                ciphertext: data.dropLast(TokenLimits.tag), tag: data.suffix(TokenLimits.tag))
            var plain = try AES.GCM.open(box, using: key)
            defer { WipedBytes.wipe(&plain) }
            return Array(plain)
        } catch {
            throw refusal("the content does not decrypt")
        }
    }

    static func refusal(_ detail: String) -> ApplePayRefusal { ApplePayRefusal(.decryptionFailed, detail) }
}
