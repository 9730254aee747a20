import Crypto
import Foundation
import _CryptoExtras

/// Payment tokens and their signatures, out of parts that need not fit each other.
enum PaymentSamples {
    /// The signing time of every seed, in milliseconds; all certificates are valid then.
    static let now: Int64 = 1_790_000_000_000
    static let applicationData = Array("fuzz".utf8)
    static let payment = """
        {"applicationPrimaryAccountNumber":"4111111111111111","applicationExpirationDate":"311231",\
        "currencyCode":"156","transactionAmount":3990,"paymentDataType":"3DSecure",\
        "paymentData":{"onlinePaymentCryptogram":"AAAA","eciIndicator":"7"}}
        """

    /// What one token is signed over.
    struct Parts: Hashable {
        var isEC: Bool
        var key: [UInt8]
        var data: [UInt8]
        var transactionID: [UInt8]
        var applicationData: [UInt8]?

        var signed: [UInt8] { key + data + transactionID + (applicationData ?? []) }
    }

    /// The first is sound, bound and encrypted to the merchant; the others cannot be decrypted.
    static let parts: [Parts] = {
        let digest = Array(SHA256.hash(data: applicationData))
        let id = [UInt8](repeating: 0xA5, count: 32)
        let ephemeral = Harness.minted {
            try P256.KeyAgreement.PrivateKey(rawRepresentation: SHA256.hash(data: Array("ephemeral".utf8)))
        }
        let secret = Harness.minted {
            try ephemeral.sharedSecretFromKeyAgreement(
                with: .init(rawRepresentation: Keys.merchant.publicKey.rawRepresentation))
        }.withUnsafeBytes { Array($0) }
        let party =
            Array("\u{0D}id-aes256-GCMApple".utf8)
            + Array(SHA256.hash(data: Array(PaymentCertificates.merchantIdentifier.utf8)))
        let key = SHA256.hash(data: [0, 0, 0, 1] + secret + party).withUnsafeBytes { SymmetricKey(data: $0) }
        let box = Harness.minted {
            try AES.GCM.seal(
                Array(payment.utf8), using: key, nonce: .init(data: [UInt8](repeating: 0, count: 16)))
        }
        let point = Array(ephemeral.publicKey.derRepresentation)
        let sealed = Array(box.ciphertext + box.tag)
        let wrapped = [UInt8](repeating: 3, count: 256)
        return [
            Parts(isEC: true, key: point, data: sealed, transactionID: id, applicationData: digest),
            Parts(isEC: true, key: point, data: sealed, transactionID: id),
            Parts(isEC: false, key: wrapped, data: sealed, transactionID: id, applicationData: digest),
        ]
    }()

    static func token(_ parts: Parts, signature: [UInt8]) -> String {
        var header = [
            "\"\(parts.isEC ? "ephemeralPublicKey" : "wrappedKey")\":\(base64(parts.key))",
            "\"publicKeyHash\":\(base64(keyHash))", "\"transactionId\":\"\(hex(parts.transactionID))\"",
        ]
        if let digest = parts.applicationData { header.append("\"applicationData\":\"\(hex(digest))\"") }
        return """
            {"paymentData":{"version":"\(parts.isEC ? "EC_v1" : "RSA_v1")","data":\(base64(parts.data)),\
            "signature":\(base64(signature)),"header":{\(header.joined(separator: ","))}},\
            "paymentMethod":{"displayName":"Visa 1"},"transactionIdentifier":"\(hex(parts.transactionID).uppercased())"}
            """
    }

    static func signature(_ parts: Parts) -> [UInt8] {
        let attributes = attributes(over: parts.signed)
        return message(leaf(parts), [signer(parts, attributes, sign(attributes, parts))])
    }

    /// The contents of the set of signed attributes.
    static func attributes(over content: [UInt8]) -> [UInt8] {
        attribute(3, oid(7, 1)) + attribute(5, SignedDER.element(0x17, Array("260921141320Z".utf8)))
            + attribute(4, SignedDER.element(0x04, Array(SHA256.hash(data: content))))
    }

    static func sign(_ attributes: [UInt8], _ parts: Parts) -> [UInt8] {
        Harness.minted {
            let digest = SHA256.hash(data: SignedDER.element(0x31, attributes))
            return parts.isEC
                ? Array(try Keys.leaf.signature(for: digest).derRepresentation)
                : Array(
                    try ReceiptKey.key.signature(for: digest, padding: .insecurePKCS1v1_5).rawRepresentation)
        }
    }

    static func signer(_ parts: Parts, _ attributes: [UInt8], _ signature: [UInt8]) -> [UInt8] {
        let name = SignedDER.element(
            0x30, PaymentCertificates.issuer + SignedDER.element(0x02, PaymentCertificates.serial))
        let algorithm = parts.isEC ? ecdsaWithSHA256 : SignedDER.element(0x30, oid(1, 11) + [5, 0])
        return SignedDER.element(
            0x30,
            [2, 1, 1] + name + sha256 + SignedDER.element(0xA0, attributes) + algorithm
                + SignedDER.element(0x04, signature))
    }

    static func message(_ certificates: [[UInt8]], _ signers: [[UInt8]], isDER: Bool = false) -> [UInt8] {
        let wrap: (UInt8, [UInt8]) -> [UInt8] = { tag, inner in
            isDER ? SignedDER.element(tag, inner) : [tag, 0x80] + inner + [0, 0]
        }
        let body =
            [2, 1, 1] + SignedDER.element(0x31, sha256) + wrap(0x30, oid(7, 1))
            + wrap(0xA0, Array(certificates.joined())) + SignedDER.element(0x31, Array(signers.joined()))
        return wrap(0x30, oid(7, 2) + wrap(0xA0, wrap(0x30, body)))
    }

    static func leaf(_ parts: Parts) -> [[UInt8]] {
        [parts.isEC ? PaymentCertificates.leafEC : PaymentCertificates.leafRSA, PaymentCertificates.intermediate]
    }

    private static let keyHash = Array(SHA256.hash(data: Keys.merchant.publicKey.derRepresentation))
    private static func attribute(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
        SignedDER.element(0x30, oid(9, number) + SignedDER.element(0x31, value))
    }
    /// Of the arc 1.2.840.113549.1, which is that of PKCS.
    private static func oid(_ arc: UInt8, _ number: UInt8) -> [UInt8] {
        SignedDER.element(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, arc, number])
    }
    private static let sha256 = SignedDER.element(
        0x30, SignedDER.element(0x06, [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1]) + [5, 0])
    private static let ecdsaWithSHA256 = SignedDER.element(
        0x30, SignedDER.element(0x06, [0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]))

    private static func base64(_ bytes: [UInt8]) -> String { "\"\(Data(bytes).base64EncodedString())\"" }
    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) + 0x100, radix: 16).suffix(2) }.joined()
    }
}
