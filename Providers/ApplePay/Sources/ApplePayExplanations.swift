import AppleTrust
import Domain
import Foundation
public import ProviderKit

extension ApplePayProvider: EvidenceExplaining {
    public func recognizes(_ text: String) -> Bool { ApplePayVerifier.isToken(text) }

    /// Explains each check of a payment token, with its age now, then its content, its certificates and its signer.
    ///
    /// It is not decrypted, and its binding is only shown: without the order there is nothing to compare it with.
    public func explain(_ text: String) -> EvidenceExplanation {
        let explanation = trust.verifier.explain(text, at: context.time.milliseconds())
        let checks = explanation.checks.filter { $0.name != .applicationData }.map { check in
            switch check.outcome {
            case .passed: EvidenceExplanation.Check(name: check.name.rawValue, outcome: .passed, why: "")
            case .failed(let refusal):
                EvidenceExplanation.Check(name: check.name.rawValue, outcome: .failed, why: refusal.description)
            case .notReached(let why):
                EvidenceExplanation.Check(name: check.name.rawValue, outcome: .notReached, why: why)
            }
        }
        let facts =
            explanation.token.map { EvidenceExplanation.Fact(name: $0.name, value: $0.value) }
            + explanation.certificates.map { certificate in
                let validity = "valid \(Self.day(certificate.validFrom)) to \(Self.day(certificate.validUntil))"
                return EvidenceExplanation.Fact(
                    name: "certificate", value: "\(certificate.subject), \(validity), \(certificate.key)")
            }
        return EvidenceExplanation(kind: "applePayToken", checks: checks, facts: facts)
    }

    private static func day(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(milliseconds / 1_000)).formatted(.iso8601.year().month().day())
    }
}
