import RefusalReasons

/// The explanation of a JWS or a receipt and its checks: for people, not for decisions.
///
/// All text is bounded and printable; a claim is shown whether it is verified or not.
public struct AppleExplanation: Sendable {
    /// The kind of text: a JWS, by its payload's fields, or an app receipt.
    public enum Kind: String, CaseIterable, Sendable {
        case transaction, renewalInfo, notification, appTransaction, receipt, unknown
    }

    public let kind: Kind
    /// Every check in the verifier's order; checks of a JWS only are not among a receipt's.
    public let checks: [AppleCheck]
    /// The header's members, with a count in place of the certificates; of a receipt, its signature algorithms.
    public let header: [AppleFact]
    /// The leaf and the intermediate as far as they can be parsed; of a receipt, every certificate.
    public let certificates: [AppleCertificateFacts]
    /// The payload's members, with a count in place of objects and arrays; of a receipt, its fields and first
    /// purchases.
    public let payload: [AppleFact]

    /// The verifier's own refusal of this text; nil where it accepts it.
    ///
    /// The answer of the function that the server calls for this kind of text; `checks` do not decide it.
    public let refusal: AppleRefusal?

    /// The check that `refusal` is about.
    public var refusedCheck: AppleCheck.Name? {
        guard let refusal else { return nil }
        if let check = refusal.check { return check }
        let failed = checks.first { if case .failed = $0.outcome { true } else { false } }
        return failed?.name ?? AppleCheck.Name(refusal.reason)
    }
}

/// A named check with its outcome.
public struct AppleCheck: Sendable {
    public enum Name: String, CaseIterable, Sendable {
        /// Three segments of strict base64url; or base64 of a PKCS #7 message with one signer.
        case form
        /// The header is a strict JSON object.
        case header
        /// ES256; or RSA over SHA-1 or SHA-256.
        case algorithm
        /// No extension is declared critical.
        case critical
        /// `x5c` is an array of texts.
        case certificateList
        /// The payload is a strict JSON object; or a set of attributes.
        case payload
        /// The time at which the chain has to be valid.
        case signedDate
        /// A leaf and an intermediate that can be parsed, or Xcode's one certificate where it may be; or certificates
        /// that can all be parsed, of which one is the signer's.
        case certificates
        /// The chain leads to a trusted root.
        case chain
        /// Apple's marker OIDs.
        case purpose
        /// Every certificate was valid at the signing time.
        case validity
        case signature
        /// The payload's fields are there and have their types.
        case fields
        case app
        case environment
        /// A Production notification names the app's number in the App Store, and it is the configured one.
        case appAppleID = "app_apple_id"
        /// The signed texts inside a notification, each verified on its own.
        case signedTransactionInfo, signedRenewalInfo, signedAppTransactionInfo

        /// The checks that every text has; the others are listed where they fail.
        public static let common = allCases.filter {
            ![.appAppleID, .signedTransactionInfo, .signedRenewalInfo, .signedAppTransactionInfo].contains($0)
        }

        /// The check as which a refusal with this reason is shown.
        init(_ reason: AppleRefusal.Reason) {
            switch reason {
            case .malformed: self = .fields
            case .unsupportedAlgorithm: self = .algorithm
            case .untrustedChain: self = .chain
            case .wrongPurpose: self = .purpose
            case .certificateExpired: self = .validity
            case .badSignature: self = .signature
            case .wrongApp: self = .app
            case .wrongEnvironment: self = .environment
            }
        }
    }

    public enum Outcome: Sendable, Equatable {
        case passed
        case failed(AppleRefusal)
        /// The check was not decided; the text says why.
        case notReached(String)
    }

    public let name: Name
    public let outcome: Outcome
}

/// A name and a value to show.
public struct AppleFact: Sendable, Equatable {
    public let name: String
    public let value: String
}

/// The subject, issuer and validity of a certificate.
public struct AppleCertificateFacts: Sendable {
    public let subject: String
    public let issuer: String
    /// Milliseconds since 1970-01-01 UTC, both ends included.
    public let validFrom: Int64
    public let validUntil: Int64
    public let isAuthority: Bool
    /// The key's kind and the algorithm of the issuer's signature.
    public let key: String
    public let signatureAlgorithm: String
    /// Dotted OIDs of the extensions, at most 32.
    public let extensions: [String]
    /// SHA-256 of the DER in upper-case hex.
    public let fingerprint: String
}
