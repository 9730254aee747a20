import AppleTrust
import TestSupport

/// A verifier and a merchant's keys that read what `ApplePayTestTokens` makes.
enum ApplePayTokenFixture {
    /// Seconds since 1970-01-01 UTC.
    static let seconds: Int64 = 1_790_000_000
    static let now = seconds * 1_000
    static let applicationData = Array("the order".utf8)

    static let verifier = minted {
        try ApplePayVerifier(ApplePayVerifierConfiguration(extraRoots: [ApplePayTestTokens.root.der]))
    }
    static let ring = ApplePayKeyRing([key(ApplePayTestTokens.processingEC), key(ApplePayTestTokens.processingRSA)])

    static func key(_ identity: ApplePayIdentity) -> ApplePayMerchantKey {
        minted {
            try ApplePayMerchantKey(
                certificate: identity.der, privateKey: Array(identity.keyPEM.utf8),
                merchantIdentifier: ApplePayTestTokens.merchantIdentifier)
        }
    }

    static func token(
        _ version: ApplePayRecipe.Version = .ec, _ variant: ApplePayVariant? = nil,
        _ edit: (inout ApplePayRecipe) -> Void = { _ in }
    ) -> [UInt8] {
        ApplePayTestTokens.token(
            applicationData: applicationData, version: version, at: seconds, variant: variant, edit)
    }

    /// What becomes of a token: its refusal, or nil where it verifies and decrypts.
    static func refusal(
        _ json: [UInt8], applicationData: [UInt8]? = applicationData, at now: Int64 = now,
        _ verifier: ApplePayVerifier = verifier, ring: ApplePayKeyRing = ring
    ) -> ApplePayRefusal? {
        do throws(ApplePayRefusal) {
            _ = try ring.decrypt(
                try verifier.verify(try ApplePayToken(json), applicationData: applicationData, at: now))
            return nil
        } catch {
            return error
        }
    }

    static func reason(_ json: [UInt8], applicationData: [UInt8]? = applicationData, at now: Int64 = now) -> String? {
        refusal(json, applicationData: applicationData, at: now)?.reason.rawValue
    }

    static func decrypted(_ json: [UInt8]) throws(ApplePayRefusal) -> DecryptedToken {
        try ring.decrypt(try verifier.verify(try ApplePayToken(json), applicationData: applicationData, at: now))
    }
}
