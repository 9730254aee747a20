/// The explanation of a payment token and its checks: for people, not for decisions.
///
/// All text is bounded and printable; a claim is shown whether it is verified or not. Encrypted content is not decrypted.
public struct ApplePayExplanation: Sendable {
    /// Every check in the verifier's order.
    public let checks: [ApplePayCheck]
    /// The token's fields, as far as it can be read.
    public let token: [AppleFact]
    /// Every certificate of the signature that can be parsed.
    public let certificates: [AppleCertificateFacts]

    /// The first failed check's refusal; nil where every check that needs no order passed.
    public var refusal: ApplePayRefusal? {
        for check in checks {
            if case .failed(let refusal) = check.outcome { return refusal }
        }
        return nil
    }
}

/// A named check with its outcome.
public struct ApplePayCheck: Sendable {
    public enum Name: String, CaseIterable, Sendable {
        /// Strict JSON of one of the shapes that clients send, every field decoded and of the right length.
        case form
        /// The signature is a detached CMS message of one signer, over SHA-256.
        case message
        /// The chain leads to a trusted root.
        case chain
        /// Apple's marker OIDs.
        case purpose
        /// Every certificate was valid at the signing time.
        case validity
        case signature
        /// The token was signed shortly before now.
        case signingTime
        /// The token is bound to the order's request; unknown without the order.
        case applicationData
        /// The identifier outside of the signature is the signed one.
        case transactionIdentifier
    }

    public enum Outcome: Sendable, Equatable {
        case passed
        case failed(ApplePayRefusal)
        /// The check was not decided; the text says why.
        case notReached(String)
    }

    public let name: Name
    public let outcome: Outcome
}

extension ApplePayVerifier {
    /// Returns whether a text is shaped like a payment token: JSON that names its parts.
    public static func isToken(_ text: String) -> Bool {
        guard text.utf8.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else {
            return false
        }
        let start = text.prefix(65_536)
        return start.contains("\"paymentData\"") || start.contains("\"publicKeyHash\"")
            || start.contains("\"ephemeralPublicKey\"")
    }

    /// Explains a token and the result of each check, for a person; the signing time is compared with `now`.
    ///
    /// Any text is accepted, the answer is bounded, and only sound chains are cached.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    public func explain(_ text: String, at now: Int64) -> ApplePayExplanation {
        var explainer = ApplePayExplainer(self, now: now)
        return explainer.explain(Array(text.utf8))
    }
}
