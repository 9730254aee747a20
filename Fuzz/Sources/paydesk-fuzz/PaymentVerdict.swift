import AppleTrust
import Crypto
import Foundation

/// The verifier's and the explainer's results for one payment token, and the properties that hold for any bytes.
struct PaymentVerdict {
    /// Nil where it was refused.
    private(set) var token: VerifiedToken?

    static let verifier = Harness.minted {
        try ApplePayVerifier(ApplePayVerifierConfiguration(extraRoots: [PaymentCertificates.root]))
    }
    private static let ring = Harness.minted {
        ApplePayKeyRing([
            try ApplePayMerchantKey(
                certificate: PaymentCertificates.merchant, privateKey: Array(Keys.merchant.derRepresentation),
                merchantIdentifier: PaymentCertificates.merchantIdentifier)
        ])
    }

    /// Reports a finding where the two differ, an answer is not bounded, or what nobody minted is decrypted.
    init(_ json: [UInt8], isExplained: Bool) {
        var refusal: ApplePayRefusal?
        do throws(ApplePayRefusal) {
            token = try Self.verify(try ApplePayToken(json))
        } catch {
            refusal = error
            Self.check(error)
        }
        if let token { Self.decrypt(token) }
        guard isExplained else { return }
        let explanation = Self.verifier.explain(String(decoding: json, as: UTF8.self), at: PaymentSamples.now)
        Self.checkBounds(explanation)
        guard String(validating: json, as: UTF8.self) != nil else { return }
        // Of what a token is bound to the explainer knows nothing.
        Harness.expect(
            explanation.refusal?.reason == refusal?.reason || refusal?.reason == .applicationDataMismatch,
            "verified: \(String(describing: refusal)); explained: \(String(describing: explanation.refusal))")
    }

    /// For the order, or, where the token is bound to nothing, for nothing.
    private static func verify(_ token: ApplePayToken) throws(ApplePayRefusal) -> VerifiedToken {
        do throws(ApplePayRefusal) {
            return try verifier.verify(token, applicationData: PaymentSamples.applicationData, at: PaymentSamples.now)
        } catch {
            guard error.reason == .applicationDataMismatch else { throw error }
            return try verifier.verify(token, applicationData: nil, at: PaymentSamples.now)
        }
    }

    private static func decrypt(_ token: VerifiedToken) {
        do throws(ApplePayRefusal) {
            let payment = try ring.decrypt(token)
            Harness.expect(
                payment.amountMinor == 3_990 && payment.currencyNumeric == "156"
                    && payment.withCard { $0.accountNumber.count } == 16,
                "decrypted, and nobody minted it")
        } catch {
            check(error)
        }
    }

    private static func check(_ refusal: ApplePayRefusal) {
        Harness.expect(refusal.detail.unicodeScalars.count <= 1_001, "a detail without bound")
        Harness.expect(!refusal.detail.contains("4111111111111111"), "a detail shows the card")
        Verdict.checkLine(String(refusal.detail.unicodeScalars.prefix(200).map(Character.init)))
    }

    private static func checkBounds(_ explanation: ApplePayExplanation) {
        Harness.expect(explanation.checks.map(\.name) == ApplePayCheck.Name.allCases, "a check is missing")
        Harness.expect(explanation.token.count <= 12 && explanation.certificates.count <= 3, "too many facts")
        for fact in explanation.token { Verdict.checkLine(fact.name, fact.value) }
        for facts in explanation.certificates {
            Verdict.checkLine(facts.subject, facts.issuer, facts.key, facts.signatureAlgorithm)
        }
    }
}
