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

/// A payment token as Apple makes them, for one self-test.
struct SelfTestToken {
    let json: [UInt8]
    /// The same with one byte of the encrypted content changed.
    let changed: [UInt8]

    init(_ authority: SelfTestAuthority, payment: String, applicationData: [UInt8], at now: Int64) throws {
        let envelope = try Envelope(authority)
        let box = try AES.GCM.seal(
            Array(payment.utf8), using: envelope.contentKey,
            nonce: AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16)))
        let data = Array(box.ciphertext) + Array(box.tag)
        let transactionID = [UInt8](repeating: 0xA5, count: 32)
        let binding = Array(SHA256.hash(data: applicationData))
        let signature = try Self.sign(envelope.bytes + data + transactionID + binding, authority, at: now)
        let hash = try MerchantCertificate(authority.merchantCertificate).publicKeyHash()
        func text(_ data: [UInt8]) -> [UInt8] {
            let text = """
                {"paymentData":{"version":"\(authority.version.rawValue)","data":"\(Base64.encode(data))",\
                "signature":"\(Base64.encode(signature))","header":{"\(envelope.field)":"\
                \(Base64.encode(envelope.bytes))","publicKeyHash":"\(Base64.encode(hash))","transactionId":\
                "\(Hex.encoded(transactionID))","applicationData":"\(Hex.encoded(binding))"}},"paymentMethod":{},\
                "transactionIdentifier":"\(Hex.encoded(transactionID, .upper))"}
                """
            return Array(text.utf8)
        }
        json = text(data)
        changed = text(data.dropLast() + [(data.last ?? 0) ^ 1])
    }

    /// A content key and the form in which it is sent.
    private struct Envelope {
        let field: String
        let bytes: [UInt8]
        let contentKey: SymmetricKey

        init(_ authority: SelfTestAuthority) throws {
            switch authority.merchantPublicKey {
            case .ec(let key):
                let ephemeral = P256.KeyAgreement.PrivateKey()
                let recipient = try P256.KeyAgreement.PublicKey(x963Representation: key.publicKey.x963Representation)
                let secret = try ephemeral.sharedSecretFromKeyAgreement(with: recipient)
                let party = Array("\u{0D}id-aes256-GCMApple".utf8) + authority.merchantHash
                let digest = secret.withUnsafeBytes { SHA256.hash(data: [0, 0, 0, 1] + Array($0) + party) }
                field = "ephemeralPublicKey"
                bytes = Array(ephemeral.publicKey.derRepresentation)
                contentKey = digest.withUnsafeBytes { SymmetricKey(data: $0) }
            case .rsa(let key):
                let recipient = try _RSA.Encryption.PublicKey(derRepresentation: key.publicKey.derRepresentation)
                contentKey = SymmetricKey(size: .bits128)
                field = "wrappedKey"
                bytes = Array(
                    try recipient.encrypt(contentKey.withUnsafeBytes { Data($0) }, padding: .PKCS1_OAEP_SHA256))
            }
        }
    }

    /// A detached CMS message with signed attributes, in BER of indefinite length.
    private static func sign(
        _ content: [UInt8], _ authority: SelfTestAuthority, at now: Int64
    ) throws -> [UInt8] {
        let sha256 = DERElement.encode(0x30, try oid(CMSOID.sha256), [5, 0])
        let attributes = [
            try attribute(CMSOID.contentType, try oid(CMSOID.data)),
            try attribute(CMSOID.signingTime, time(now)),
            try attribute(CMSOID.messageDigest, DERElement.encode(0x04, Array(SHA256.hash(data: content)))),
        ].sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
        let digest = SHA256.hash(data: DERElement.encode(0x31, attributes))
        let (algorithm, signature) =
            switch authority.leafKey {
            case .ec(let key):
                (
                    DERElement.encode(0x30, try oid(CMSOID.ecdsaWithSHA256)),
                    Array(try key.signature(for: digest).derRepresentation)
                )
            case .rsa(let key):
                (
                    DERElement.encode(0x30, try oid(CMSOID.rsaWithSHA256), [5, 0]),
                    Array(try key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
                )
            }
        guard let name = CertificateName(certificate: authority.leaf[...]) else { throw SelfTestFault.noName }
        let signer = DERElement.encode(
            0x30, [2, 1, 1], DERElement.encode(0x30, Array(name.issuer), DERElement.encode(0x02, Array(name.serial))),
            sha256, DERElement.encode(0xA0, attributes), algorithm, DERElement.encode(0x04, signature))
        let body = DERElement.indefinite(
            0x30, [2, 1, 1], DERElement.encode(0x31, sha256), DERElement.indefinite(0x30, try oid(CMSOID.data)),
            DERElement.indefinite(0xA0, authority.leaf, authority.intermediate), DERElement.encode(0x31, signer))
        return DERElement.indefinite(0x30, try oid(CMSOID.signedData), DERElement.indefinite(0xA0, body))
    }

    private static func attribute(_ name: ASN1ObjectIdentifier, _ value: [UInt8]) throws -> [UInt8] {
        DERElement.encode(0x30, try oid(name), DERElement.encode(0x31, value))
    }

    private static func oid(_ name: ASN1ObjectIdentifier) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(name)
        return serializer.serializedBytes
    }

    /// A GeneralizedTime, which can name every year.
    private static func time(_ now: Int64) -> [UInt8] {
        let text = Date(timeIntervalSince1970: Double(now / 1_000)).formatted(
            .iso8601.year().month().day().dateSeparator(.omitted).time(includingFractionalSeconds: false)
                .timeSeparator(.omitted).timeZone(separator: .omitted))
        return DERElement.encode(0x18, Array(text.utf8.filter { $0 != UInt8(ascii: "T") }))
    }
}

/// A fault that a certificate of the self-test cannot have.
private enum SelfTestFault: Error { case noName }
