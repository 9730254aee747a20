import Crypto
import Domain
import Foundation
package import SwiftASN1

/// Certificate authorities for payment tokens built like Apple's, and a merchant with its certificates.
package enum ApplePayTestTokens {
    package static let merchantIdentifier = "merchant.com.example.mint"
    /// The card number in every token; a test finds it wherever the server leaks it.
    package static let accountNumber = "4111111111111111"
    /// The cryptogram in every token, decoded.
    package static let cryptogram = [UInt8]((1...20).map { 0xC0 &+ $0 })

    /// The root that a configuration trusts.
    package static let root = root("Mint Pay Root", key: fixed384(11))
    /// The path of the root's file, for the `root_certificates` of an account.
    package static let rootFile = AppleTestCertificates.file("apple_pay_root.der", Data(root.der))

    package static let intermediate = ApplePayCertificate("Mint Application Integration CA", fixed256(12)) {
        $0.isAuthority = true
        $0.extensions = [intermediateMarker]
    }.issued(by: root)
    package static let leafEC = leaf("Mint ecc broker", fixed256(13)).issued(by: intermediate)
    package static let leafRSA = leaf("Mint rsa broker", .newRSA()).issued(by: intermediate)

    /// The payment processing certificates for EC_v1 and RSA_v1, and the Merchant Identity certificate.
    package static let processingEC = merchant("Payment Processing", fixed256(14))
    package static let processingRSA = merchant("Payment Processing", .newRSA())
    package static let identity = merchant("Merchant Identity", .newRSA())

    package static let leafMarker: (ASN1ObjectIdentifier, [UInt8]) = ([1, 2, 840, 113_635, 100, 6, 29], [5, 0])
    package static let intermediateMarker: (ASN1ObjectIdentifier, [UInt8]) = (
        [1, 2, 840, 113_635, 100, 6, 2, 14], [5, 0]
    )

    /// A self-signed root.
    package static func root(_ name: String, key: ApplePayIdentity.Key) -> ApplePayIdentity {
        ApplePayCertificate(name, key) { $0.isAuthority = true }.issued(by: nil)
    }

    package static func leaf(
        _ name: String, _ key: ApplePayIdentity.Key, _ edit: (inout ApplePayCertificate) -> Void = { _ in }
    ) -> ApplePayCertificate {
        ApplePayCertificate(name, key) {
            $0.extensions = [leafMarker]
            edit(&$0)
        }
    }

    /// A certificate as Apple issues them to merchants.
    package static func merchant(
        _ name: String, _ key: ApplePayIdentity.Key, of identifier: String = merchantIdentifier,
        _ edit: (inout ApplePayCertificate) -> Void = { _ in }
    ) -> ApplePayIdentity {
        ApplePayCertificate("Apple Pay \(name)", key) {
            $0.userID = identifier
            $0.extensions = [merchantExtension(identifier)]
            edit(&$0)
        }.issued(by: intermediate)
    }

    /// The merchant extension: a UTF8String of the identifier's SHA-256 in upper-case hex.
    package static func merchantExtension(_ identifier: String) -> (ASN1ObjectIdentifier, [UInt8]) {
        let hex = Hex.encoded(SHA256.hash(data: Data(identifier.utf8)), .upper)
        return ([1, 2, 840, 113_635, 100, 6, 32], ApplePayDER.element(0x0C, [Array(hex.utf8)]))
    }

    /// The JSON of a token, sound or with a fault.
    ///
    /// - Parameters:
    ///   - amount: in minor units.
    ///   - currency: the numeric code of ISO 4217.
    ///   - applicationData: the data to which the payment request binds the token.
    ///   - seconds: the time of the signature, in seconds since 1970-01-01 UTC.
    package static func token(
        amount: Int64 = 3_990, currency: String = "156", applicationData: [UInt8]? = nil,
        version: ApplePayRecipe.Version = .ec, at seconds: Int64, variant: ApplePayVariant? = nil,
        _ edit: (inout ApplePayRecipe) -> Void = { _ in }
    ) -> [UInt8] {
        var recipe = ApplePayRecipe(version, at: seconds)
        recipe.payment["transactionAmount"] = "\(amount)"
        recipe.payment["currencyCode"] = "\"\(currency)\""
        recipe.applicationData = applicationData
        variant?.edit(&recipe)
        edit(&recipe)
        return recipe.json
    }

    static func fixed256(_ byte: UInt8) -> ApplePayIdentity.Key {
        .p256(AppleTestCertificates.made { try .init(rawRepresentation: Data(repeating: byte, count: 32)) })
    }

    static func fixed384(_ byte: UInt8) -> ApplePayIdentity.Key {
        .p384(AppleTestCertificates.made { try .init(rawRepresentation: Data(repeating: byte, count: 48)) })
    }
}
