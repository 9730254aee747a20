import Encodings
import Foundation

/// A JSON object whose values are raw JSON text, so that a test can write whatever it likes.
typealias RawJSON = [String: String]

extension RawJSON {
    var bytes: [UInt8] {
        let members = sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    /// This object with some members replaced; nil removes one.
    func with(_ changes: [String: String?]) -> RawJSON {
        var copy = self
        for (name, value) in changes { copy[name] = value }
        return copy
    }
}

/// How a compact JWS is made; the defaults make a sound transaction.
struct TestJWS: Sendable {
    var chain = TestChain.sound
    var payload = TestJWS.transaction
    var header: [String: String?] = [:]
    var x5c: [String]?
    /// The whole header or payload as bytes, instead of the above.
    var headerBytes: [UInt8]?
    var payloadBytes: [UInt8]?
    var signer: TestKey?
    /// Changes the signature's bytes.
    var signature: @Sendable ([UInt8]) -> [UInt8] = { $0 }

    static let transaction: RawJSON = [
        "transactionId": "\"2000000000000001\"", "originalTransactionId": "\"2000000000000000\"",
        "bundleId": "\"com.example.app\"", "productId": "\"com.example.vip.month\"",
        "purchaseDate": "\(TestTime.now - 5_000)", "originalPurchaseDate": "\(TestTime.now - 9_000)",
        "quantity": "1", "type": "\"Non-Renewing Subscription\"", "inAppOwnershipType": "\"PURCHASED\"",
        "signedDate": "\(TestTime.now)", "environment": "\"Production\"", "transactionReason": "\"PURCHASE\"",
        "storefront": "\"USA\"", "storefrontId": "\"143441\"", "price": "1990", "currency": "\"USD\"",
        "appTransactionId": "\"704000000000001\"",
        "appAccountToken": "\"6D7A1A51-0F0A-4F6E-9C1B-4A0A9C3F1E2D\"",
    ]

    static let renewalInfo: RawJSON = [
        "originalTransactionId": "\"2000000000000000\"", "productId": "\"com.example.vip.month\"",
        "autoRenewProductId": "\"com.example.vip.month\"", "autoRenewStatus": "1",
        "environment": "\"Production\"", "signedDate": "\(TestTime.now)",
    ]

    var text: String {
        let raw = RawJSON().with([
            "alg": "\"ES256\"", "x5c": "[\((x5c ?? chain.x5c).map { "\"\($0)\"" }.joined(separator: ","))]",
        ]).with(header)
        let input = "\(Base64URL.encoded(headerBytes ?? raw.bytes)).\(Base64URL.encoded(payloadBytes ?? payload.bytes))"
        let signed = (signer ?? chain.leaf.key).sign(Array(input.utf8))
        return "\(input).\(Base64URL.encoded(signature(signed)))"
    }

    /// A transaction as Xcode's local StoreKit signs it: one self-signed certificate, times with fractions.
    static func xcode(_ changes: [String: String?] = [:], signer: TestIdentity = xcodeSigner) -> TestJWS {
        TestJWS(
            payload: transaction.with([
                "environment": "\"Xcode\"", "transactionId": "\"0\"", "originalTransactionId": "\"0\"",
                "purchaseDate": "\(TestTime.now).75", "signedDate": "\(TestTime.now).25",
                "originalPurchaseDate": "-62135769600000",
            ]).with(changes),
            header: ["kid": "\"Apple_Xcode_Key\"", "typ": "\"JWT\""], x5c: [signer.base64], signer: signer.key)
    }

    static let xcodeSigner = TestCertificate(name: "StoreKit Testing", days: -1...364, curve: .p256).issue(by: nil)
}
