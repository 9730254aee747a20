import AppleTrust

/// The results of the verifier and the explainer for a text, and the properties that hold for any text.
struct Verdict {
    /// The accepted payload; nil where the text was refused.
    private(set) var json: [UInt8]?
    private(set) var signer: VerifiedPayload.Signer?
    private(set) var transaction: VerifiedTransaction?
    let explanation: AppleExplanation?
    private var refusal: AppleRefusal?

    /// Reports a finding where the two differ or an answer is not bounded.
    init(_ text: String, _ verifier: AppleVerifier, _ reader: Reader) {
        explanation = reader == .explained ? verifier.explain(text) : nil
        do throws(AppleRefusal) {
            switch explanation.map({ Self.reader(of: $0.kind) }) ?? reader {
            case .transaction:
                let read = try verifier.transaction(text)
                (json, signer, transaction) = (read.json, read.signer, read)
            case .renewalInfo:
                let read = try verifier.renewalInfo(text)
                (json, signer) = (read.json, read.signer)
            case .payload, .explained:
                let read = try verifier.payload(text)
                (json, signer) = (read.json, read.signer)
            }
        } catch {
            refusal = error
            Self.checkLine(error.detail)
        }
        guard let explanation else { return }
        checkAgreement(explanation, text, verifier)
        checkBounds(explanation)
    }

    private static func reader(of kind: AppleExplanation.Kind) -> Reader {
        switch kind {
        case .transaction: .transaction
        case .renewalInfo: .renewalInfo
        case .notification, .appTransaction, .receipt, .unknown: .payload
        }
    }

    private func checkAgreement(_ explanation: AppleExplanation, _ text: String, _ verifier: AppleVerifier) {
        let explained = explanation.refusal?.reason
        if refusal == nil, Self.reader(of: explanation.kind) == .payload {
            // The verifier leaves the app and environment of these to its caller, the explainer does not; and it reads
            // the fields of a notification and each JWS in it, as notification() does.
            let isUnread = explained == .malformed && explanation.kind == .notification
            Harness.expect(
                explained == nil || explained == .wrongApp || explained == .wrongEnvironment
                    || isUnread && (try? verifier.notification(text)) == nil,
                "payload() accepts what explain() refuses: \(String(describing: explanation.refusal))")
        } else {
            Harness.expect(
                explained == refusal?.reason,
                "verified: \(String(describing: refusal)); explained: \(String(describing: explanation.refusal))")
        }
    }

    private func checkBounds(_ explanation: AppleExplanation) {
        Harness.expect(
            explanation.kind == .receipt || explanation.checks.map(\.name) == AppleCheck.Name.allCases,
            "a check is missing")
        let count = explanation.header.count + explanation.payload.count
        Harness.expect(count <= 128 && explanation.certificates.count <= 2, "too many facts")
        Self.checkFacts(explanation)
    }

    /// Checks that every shown value fits on one line.
    static func checkFacts(_ explanation: AppleExplanation) {
        for fact in explanation.header + explanation.payload { checkLine(fact.name, fact.value) }
        for facts in explanation.certificates {
            checkLine(facts.subject, facts.issuer, facts.key, facts.signatureAlgorithm)
            Harness.expect(facts.extensions.count <= 32, "too many extensions")
            for oid in facts.extensions { checkLine(oid) }
        }
    }

    /// Checks that a text fits on one line of a log: at most 200 scalars and an ellipsis, without control characters.
    static func checkLine(_ lines: String...) {
        for line in lines {
            Harness.expect(line.unicodeScalars.count <= 201, "a line of \(line.unicodeScalars.count) scalars")
            Harness.expect(
                line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) },
                "a control character in \(line.debugDescription)")
        }
    }
}
