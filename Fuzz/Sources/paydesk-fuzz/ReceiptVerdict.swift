import AppleTrust
import Foundation

/// The results of the verifier and the explainer for a receipt, and the properties that hold for any bytes.
struct ReceiptVerdict {
    /// The verified receipt; nil where it was refused.
    private(set) var receipt: VerifiedReceipt?

    /// Checks the explanation of unsigned bytes: a refusal, and facts within bounds.
    static func checkUnsigned(_ bytes: [UInt8]) {
        let explanation = Verifiers.receipts.explain(Data(bytes).base64EncodedString())
        Harness.expect(
            explanation.kind == .receipt && explanation.refusal?.reason == .malformed, "nobody signed it, and it passes"
        )
        check(explanation)
    }

    /// Reports a finding where the two differ or an answer is not bounded.
    init(_ bytes: [UInt8], isExplained: Bool) {
        let text = Data(bytes).base64EncodedString()
        var refusal: AppleRefusal?
        do throws(AppleRefusal) {
            receipt = try Verifiers.receipts.receipt(text)
        } catch {
            refusal = error
            Verdict.checkLine(error.detail)
        }
        guard isExplained else { return }
        let explanation = Verifiers.receipts.explain(text)
        guard explanation.kind == .receipt else {
            Harness.expect(refusal?.reason == .malformed, "accepted, and explained as \(explanation.kind)")
            return
        }
        Harness.expect(
            explanation.refusal == refusal,
            "verified: \(String(describing: refusal)); explained: \(String(describing: explanation.refusal))")
        Self.check(explanation)
    }

    private static func check(_ explanation: AppleExplanation) {
        Harness.expect(
            explanation.payload.count <= 31 && explanation.header.count <= 5 && explanation.certificates.count <= 8,
            "too many facts")
        Verdict.checkFacts(explanation)
    }
}
