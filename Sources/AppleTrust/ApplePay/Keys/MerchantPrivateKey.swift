import Crypto
import SwiftASN1
import X509
import _CryptoExtras

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The private key of a merchant's certificate.
enum MerchantPrivateKey: Sendable {
    case ec(P256.KeyAgreement.PrivateKey)
    /// The key in DER, because the key's own type is not Sendable; reading it costs little beside its use.
    case rsa(WipedBytes)

    /// - Parameter bytes: PKCS #8, SEC 1 or PKCS #1, in PEM, with or without a certificate beside it, or in DER.
    init(_ bytes: [UInt8], of certificate: MerchantCertificate) throws(ApplePayKeyFault) {
        let der = try Self.der(bytes)
        let key = certificate.certificate.publicKey
        if let expected = P256.Signing.PublicKey(key) {
            guard let own = try? P256.KeyAgreement.PrivateKey(derRepresentation: der) else {
                throw Self.isKey(der) ? .keyOfAnotherCertificate : .unreadableKey
            }
            guard own.publicKey.x963Representation == expected.x963Representation else {
                throw .keyOfAnotherCertificate
            }
            self = .ec(own)
        } else if let expected = _RSA.Signing.PublicKey(key), expected.keySizeInBits >= 2_048 {
            guard let own = try? _RSA.Encryption.PrivateKey(derRepresentation: der) else {
                throw Self.isKey(der) ? .keyOfAnotherCertificate : .unreadableKey
            }
            guard own.publicKey.derRepresentation == expected.derRepresentation else {
                throw .keyOfAnotherCertificate
            }
            var bytes = der
            self = .rsa(WipedBytes(taking: &bytes))
        } else {
            throw .unsupportedKey
        }
    }

    private static func der(_ bytes: [UInt8]) throws(ApplePayKeyFault) -> [UInt8] {
        let documents = PEMText.documents(bytes) ?? []
        guard !documents.contains(where: { $0.label == "ENCRYPTED PRIVATE KEY" }) else { throw .encryptedKey }
        let found = documents.filter { $0.label.map(labels.contains) ?? true }
        guard let key = found.first?.der, found.count == 1 else { throw .unreadableKey }
        return key
    }

    private static let labels: Set<String> = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]

    /// Returns whether this is a key of a kind that a merchant can have.
    private static func isKey(_ der: [UInt8]) -> Bool {
        (try? P256.KeyAgreement.PrivateKey(derRepresentation: der)) != nil
            || (try? _RSA.Encryption.PrivateKey(derRepresentation: der)) != nil
    }
}

/// Files that hold PEM or DER.
enum PEMText {
    /// The documents of a PEM file with their labels, or one document without a label for DER.
    ///
    /// - Returns: nil for anything else.
    static func documents(_ bytes: [UInt8]) -> [(label: String?, der: [UInt8])]? {
        guard bytes.count <= limit else { return nil }
        // DER begins with the tag of a SEQUENCE, 0x30; PEM does not begin with that character, "0".
        if bytes.first == 0x30 { return [(nil, bytes)] }
        // Editors of some systems end lines with a carriage return as well.
        guard let text = String(validating: bytes.filter { $0 != 0x0D }, as: UTF8.self),
            let documents = try? PEMDocument.parseMultiple(pemString: text)
        else { return nil }
        return documents.map { ($0.discriminator, $0.derBytes) }
    }

    /// The most bytes of a file; a certificate with its key has some four thousand.
    private static let limit = 65_536
}
