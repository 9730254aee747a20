import Crypto
import RefusalReasons

/// A test that tokens can be verified and decrypted on this machine: it makes one under an authority of its own and
/// reads it.
///
/// The token goes through the public verifier with that authority as an extra root; no other verifier trusts it.
public enum ApplePaySelfTest {
    /// Makes a token of each version, verifies and decrypts it, and compares its content; a changed token must be
    /// refused.
    ///
    /// - Parameters:
    ///   - now: milliseconds since 1970-01-01 UTC.
    ///   - versions: RSA_v1 takes two RSA keys, which cost some tenths of a second.
    /// - Throws: a description of the failure.
    public static func run(
        at now: Int64, versions: [ApplePayToken.Version] = [.ec]
    ) throws(ApplePaySelfTestFailure) {
        // The years that a certificate's dates can have, with a day to spare on either side.
        guard (0...253_402_000_000_000).contains(now) else {
            throw ApplePaySelfTestFailure("the clock is at \(now) ms since 1970-01-01")
        }
        for version in versions {
            do throws(ApplePaySelfTestFailure) {
                try run(version, at: now)
            } catch {
                throw ApplePaySelfTestFailure("\(version.rawValue): \(error.description)")
            }
        }
    }

    private static let merchant = "merchant.paydesk.self-test"
    private static let applicationData = Array("the order of the self-test".utf8)
    private static let amount: Int64 = 3_990
    private static let currency = "156"

    private static func run(_ version: ApplePayToken.Version, at now: Int64) throws(ApplePaySelfTestFailure) {
        let authority = try step("minting certificates") {
            try SelfTestAuthority(version, merchant: merchant, at: now)
        }
        let payment = """
            {"applicationPrimaryAccountNumber":"4000000000000002","applicationExpirationDate":"991231",\
            "currencyCode":"\(currency)","transactionAmount":\(amount),"paymentDataType":"3DSecure",\
            "paymentData":{"onlinePaymentCryptogram":"AAAAAAAAAAAAAAAAAAAAAAAAAAA="}}
            """
        let minted = try step("minting a token") {
            try SelfTestToken(authority, payment: payment, applicationData: applicationData, at: now)
        }
        let verifier = try step("making a verifier") {
            try ApplePayVerifier(ApplePayVerifierConfiguration(extraRoots: [authority.root]))
        }
        let ring = try step("reading the merchant's key") {
            ApplePayKeyRing([
                try ApplePayMerchantKey(
                    certificate: authority.merchantCertificate, privateKey: authority.merchantKey,
                    merchantIdentifier: merchant)
            ])
        }
        let verified = try step("verifying a token") {
            try verifier.verify(try ApplePayToken(minted.json), applicationData: applicationData, at: now)
        }
        let decrypted = try step("decrypting a token") { try ring.decrypt(verified) }
        guard decrypted.amountMinor == amount, decrypted.currencyNumeric == currency else {
            throw ApplePaySelfTestFailure("a token says another amount or currency than was minted")
        }
        guard let changed = try? ApplePayToken(minted.changed) else {
            throw ApplePaySelfTestFailure("a changed token cannot be read")
        }
        do throws(ApplePayRefusal) {
            _ = try verifier.verify(changed, applicationData: applicationData, at: now)
        } catch {
            guard error.reason == .badSignature else {
                throw ApplePaySelfTestFailure("a changed token is refused for another reason: \(error.description)")
            }
            return
        }
        throw ApplePaySelfTestFailure("a changed token is accepted")
    }

    private static func step<Value>(
        _ name: String, _ body: () throws -> Value
    ) throws(ApplePaySelfTestFailure) -> Value {
        do {
            return try body()
        } catch {
            throw ApplePaySelfTestFailure("\(name) failed: \(error)")
        }
    }
}

/// The description of a failed self-test.
public struct ApplePaySelfTestFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = SafeText.line(description) }
}
