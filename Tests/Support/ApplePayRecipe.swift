import Crypto
import Domain
import Foundation
import _CryptoExtras

/// A recipe for one payment token.
package struct ApplePayRecipe: Sendable {
    package enum Version: String, CaseIterable, Sendable {
        case ec = "EC_v1"
        case rsa = "RSA_v1"
    }

    /// The form in which clients send the payment data.
    package enum Form: CaseIterable, Sendable { case object, text, base64, bare }

    package let version: Version
    package var form = Form.object
    /// The raw JSON of the payment's fields by name.
    package var payment: [String: String] = [
        "applicationPrimaryAccountNumber": "\"\(ApplePayTestTokens.accountNumber)\"",
        "applicationExpirationDate": "\"311231\"", "currencyCode": "\"156\"", "transactionAmount": "3990",
        "deviceManufacturerIdentifier": "\"040010030273\"", "paymentDataType": "\"3DSecure\"",
        "paymentData": """
        {"onlinePaymentCryptogram":"\(Data(ApplePayTestTokens.cryptogram).base64EncodedString())","eciIndicator":"7"}
        """,
    ]
    /// The bytes that are encrypted instead of these fields; nil encrypts the fields.
    package var content: [UInt8]?
    /// Bytes that are encrypted with the same key after the signature, and sent in place of the signed content.
    package var resealed: [UInt8]?
    package var applicationData: [UInt8]?
    package var transactionID = (0..<32).map { _ in UInt8.random(in: 0...255) }
    package var signer: ApplePaySigner
    /// The key that the content is encrypted to; the header names a key by `publicKeyHash`, which a test may
    /// change.
    package var recipient: ApplePayIdentity.Key
    package var publicKeyHash: [UInt8]
    /// Makes the shared secret begin with a zero.
    package var hasLeadingZero = false
    /// Changes the encoded key in the message before the signature.
    package var editKey: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    /// Changes the raw JSON of the fields after signing: those of the payment data, of its header and of the token
    /// around them.
    package var editData: @Sendable (inout [String: String]) -> Void = { _ in }
    package var editHeader: @Sendable (inout [String: String]) -> Void = { _ in }
    package var editToken: @Sendable (inout [String: String]) -> Void = { _ in }

    package init(_ version: Version, at seconds: Int64) {
        self.version = version
        let leaf = version == .ec ? ApplePayTestTokens.leafEC : ApplePayTestTokens.leafRSA
        let merchant = version == .ec ? ApplePayTestTokens.processingEC : ApplePayTestTokens.processingRSA
        signer = ApplePaySigner(
            named: leaf, certificates: [leaf.der, ApplePayTestTokens.intermediate.der], signedAt: seconds)
        recipient = merchant.key
        publicKeyHash = merchant.publicKeyHash
    }

    package var json: [UInt8] {
        let envelope = envelope()
        let data = Self.seal(content ?? Array(Self.object(payment).utf8), envelope.key)
        let binding = applicationData.map { Array(SHA256.hash(data: $0)) }
        let signature = signer.signature(over: envelope.bytes + data + transactionID + (binding ?? []))
        let sent = resealed.map { Self.seal($0, envelope.key) } ?? data
        var header = [
            envelope.field: Self.base64(envelope.bytes), "publicKeyHash": Self.base64(publicKeyHash),
            "transactionId": Self.hex(transactionID),
        ]
        header["applicationData"] = binding.map(Self.hex)
        editHeader(&header)
        var fields = [
            "version": "\"\(version.rawValue)\"", "data": Self.base64(sent), "signature": Self.base64(signature),
            "header": Self.object(header),
        ]
        editData(&fields)
        let text = Self.object(fields)
        let paymentData =
            switch form {
            case .object, .bare: text
            case .text: Self.quoted(text)
            case .base64: Self.base64(Array(text.utf8))
            }
        var token = [
            "paymentData": paymentData, "transactionIdentifier": Self.hex(transactionID).uppercased(),
            "paymentMethod": #"{"displayName":"Visa 1111","network":"Visa","type":"debit"}"#,
        ]
        editToken(&token)
        return Array((form == .bare ? text : Self.object(token)).utf8)
    }

    package static func base64(_ bytes: [UInt8]) -> String { "\"\(Data(bytes).base64EncodedString())\"" }
    package static func hex(_ bytes: [UInt8]) -> String {
        "\"\(Hex.encoded(bytes))\""
    }

    package static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    private static func object(_ fields: [String: String]) -> String {
        "{\(fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ","))}"
    }

    private static func seal(_ content: [UInt8], _ key: SymmetricKey) -> [UInt8] {
        AppleTestCertificates.made {
            let box = try AES.GCM.seal(content, using: key, nonce: .init(data: [UInt8](repeating: 0, count: 16)))
            return Array(box.ciphertext + box.tag)
        }
    }

    private func envelope() -> (field: String, bytes: [UInt8], key: SymmetricKey) {
        AppleTestCertificates.made {
            if case .rsa(let recipient) = recipient {
                let key = SymmetricKey(size: .bits128)
                let wrapped = try _RSA.Encryption.PublicKey(derRepresentation: recipient.publicKey.derRepresentation)
                    .encrypt(key.withUnsafeBytes { Data($0) }, padding: .PKCS1_OAEP_SHA256)
                return ("wrappedKey", editKey(Array(wrapped)), key)
            }
            guard case .p256(let recipient) = recipient else { throw CocoaError(.featureUnsupported) }
            let own = try P256.KeyAgreement.PublicKey(rawRepresentation: recipient.publicKey.rawRepresentation)
            while true {
                let ephemeral = P256.KeyAgreement.PrivateKey()
                let secret = try ephemeral.sharedSecretFromKeyAgreement(with: own).withUnsafeBytes { Array($0) }
                guard !hasLeadingZero || secret[0] == 0 else { continue }
                let party = Array(SHA256.hash(data: Data(ApplePayTestTokens.merchantIdentifier.utf8)))
                let key = SHA256.hash(
                    data: [0, 0, 0, 1] + secret + [0x0D] + Array("id-aes256-GCM".utf8) + Array("Apple".utf8) + party)
                return (
                    "ephemeralPublicKey", editKey(Array(ephemeral.publicKey.derRepresentation)),
                    key.withUnsafeBytes { SymmetricKey(data: $0) }
                )
            }
        }
    }
}
