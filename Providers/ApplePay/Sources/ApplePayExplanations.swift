import AppleTrust
import Domain
import Foundation
public import ProviderKit

extension ApplePayProvider: EvidenceExplaining {
    public func recognizes(_ text: String) -> Bool { ApplePayVerifier.isToken(text) }

    /// Each check of a payment token, its time against now, then what it, its certificates and its signer say.
    ///
    /// It is not decrypted, and what it is bound to is a fact: without its order there is nothing to compare that with.
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
