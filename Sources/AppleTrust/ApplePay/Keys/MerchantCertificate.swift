import Crypto
import Encodings
import SwiftASN1
import X509
import _CryptoExtras

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A certificate that Apple issued to a merchant.
struct MerchantCertificate: Sendable {
    let certificate: Certificate

    /// - Parameter bytes: one certificate in PEM, with or without its key beside it, or in DER.
    init(_ bytes: [UInt8]) throws(ApplePayKeyFault) {
        let found = (PEMText.documents(bytes) ?? []).filter { $0.label == nil || $0.label == "CERTIFICATE" }
        guard found.count <= 1 else { throw .severalCertificates(found.count) }
        guard let der = found.first?.der, let certificate = CertificateDER.parse(der) else {
            throw .unreadableCertificate
        }
        self.certificate = certificate
    }

    /// The last moment at which it is valid, in milliseconds since 1970-01-01 UTC.
    var notValidAfter: Int64 { ValidityInterval(of: certificate).last }

    /// The SHA-256 of its SubjectPublicKeyInfo, by which tokens name the key.
    func publicKeyHash() throws(ApplePayKeyFault) -> [UInt8] {
        var serializer = DER.Serializer()
        do {
            try serializer.serialize(certificate.publicKey)
        } catch {
            throw .unsupportedKey
        }
        return Array(SHA256.hash(data: serializer.serializedBytes))
    }

    /// Refuses a certificate of another merchant, or of none.
    ///
    /// Apple writes the SHA-256 of the merchant identifier into an extension, and the identifier itself into the
    /// subject's user id. The extension is required, and both must be right.
    func check(merchantIdentifier: String) throws(ApplePayKeyFault) {
        guard let hash = merchantHash else { throw .noMerchantIdentifier }
        guard SHA256.hash(data: Array(merchantIdentifier.utf8)) == hash,
            userIDs.allSatisfy({ $0 == merchantIdentifier })
        else { throw .anotherMerchant(configured: merchantIdentifier) }
    }

    /// The value of Apple's extension: a UTF8String of 64 hex digits, in DER.
    private var merchantHash: [UInt8]? {
        guard let value = certificate.extensions[oid: AppleOID.merchantIdentifier]?.value, value.count <= 128,
            let node = try? DER.parse(value), let text = node.contents(.utf8String), text.count == 64
        else { return nil }
        return Hex.decoded(text)
    }

    private var userIDs: [String] {
        certificate.subject.flatMap { Array($0) }.filter { $0.type == Self.userID }
            .map { String($0.value) ?? "" }
    }

    /// RFC 4519 section 2.39.
    private static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
}
