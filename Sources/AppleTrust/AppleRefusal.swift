/// The reason why signed data was not accepted.
///
/// `reason` is for a caller and safe to show; `detail` is for a log, says what was expected, and holds nothing of the
/// payload's content but bundle ids and environments.
public struct AppleRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The closed set of reasons; the raw values are those of the HTTP contract.
    public enum Reason: String, CaseIterable, Sendable {
        /// No strict compact JWS or JSON, no receipt, or a field that is missing or of the wrong type.
        case malformed
        /// The header's `alg` is not exactly `ES256`; a receipt is not signed by RSA over SHA-1 or SHA-256.
        case unsupportedAlgorithm = "unsupported_algorithm"
        /// The two certificates do not lead to a trusted root by the rules of RFC 5280.
        case untrustedChain = "untrusted_chain"
        /// The chain is sound but lacks Apple's marker for App Store signing.
        case wrongPurpose = "wrong_purpose"
        /// A certificate of the chain was not valid at the signing time: no longer, or not yet.
        case certificateExpired = "certificate_expired"
        /// The signature is not the leaf's over this header and payload, or over this receipt.
        case badSignature = "bad_signature"
        /// Signed for an app that is not configured.
        case wrongApp = "wrong_app"
        /// Signed in an environment that is not accepted.
        case wrongEnvironment = "wrong_environment"
    }

    public let reason: Reason
    public let detail: String
    /// The check that a person is shown for this refusal; nil where the reason implies it.
    let check: AppleCheck.Name?

    public var description: String { "\(reason.rawValue): \(detail)" }

    init(_ reason: Reason, _ detail: String, at check: AppleCheck.Name? = nil) {
        self.reason = reason
        self.detail = SafeText.line(detail)
        self.check = check
    }

    /// Returns the same refusal, shown as a failure of this check.
    func at(_ check: AppleCheck.Name) -> AppleRefusal { AppleRefusal(reason, detail, at: check) }

    static func malformed(_ detail: String) -> AppleRefusal { AppleRefusal(.malformed, detail) }
}
