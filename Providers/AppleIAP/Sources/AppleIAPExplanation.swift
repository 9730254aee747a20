import AppleTrust
import Foundation
public import ProviderKit

extension AppleIAPProvider {
    /// Returns true for anything but a payment token; text that is no evidence is explained as an invalid JWS.
    public func recognizes(_ text: String) -> Bool { !ApplePayVerifier.isToken(text) }

    /// Explains each check of a JWS or a receipt by the account's own settings, then its content, its certificates and
    /// its signer.
    ///
    /// The decision is that of the functions that the server calls.
    public func explain(_ text: String) -> EvidenceExplanation {
        if trust.takesSimulatorReceipts, SimulatorReceipt.purchase(text) != nil {
            return EvidenceExplanation(
                kind: "simulatorReceipt",
                checks: [.init(name: AppleCheck.Name.form.rawValue, outcome: .passed, why: "")],
                facts: [])
        }
        let explanation = trust.verifier.explain(text)
        let checks = explanation.checks.map { check in
            switch check.outcome {
            case .passed: EvidenceExplanation.Check(name: check.name.rawValue, outcome: .passed, why: "")
            case .failed(let refusal):
                EvidenceExplanation.Check(name: check.name.rawValue, outcome: .failed, why: refusal.description)
            case .notReached(let why):
                EvidenceExplanation.Check(name: check.name.rawValue, outcome: .notReached, why: why)
            }
        }
        let header = explanation.kind == .receipt ? "message" : "header"
        let facts =
            explanation.header.map { EvidenceExplanation.Fact(name: "\(header) \($0.name)", value: $0.value) }
            + explanation.certificates.map {
                EvidenceExplanation.Fact(
                    name: "certificate",
                    value: "\($0.subject), valid \(Self.day($0.validFrom)) to \(Self.day($0.validUntil)), \($0.key)")
            } + explanation.payload.map { EvidenceExplanation.Fact(name: $0.name, value: $0.value) }
        return EvidenceExplanation(
            kind: explanation.kind.rawValue, checks: checks, facts: facts,
            refusal: explanation.refusal.map {
                .init(check: explanation.refusedCheck?.rawValue ?? "", why: $0.description)
            })
    }

    private static func day(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(milliseconds / 1_000)).formatted(.iso8601.year().month().day())
    }
}
