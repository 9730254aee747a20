import RefusalReasons

/// Decides what Apple said: verifies App Store JWS and app receipts offline, at the time when they were signed.
///
/// A value to make once and share: it remembers the chains that it found sound, so that a further payload under the
/// same leaf costs one P-256 or RSA verification. It has no clock and makes no connection, so it does not ask whether a
/// certificate was revoked.
/// Source: Apple, App Store Server API, JWSDecodedHeader; RFC 7515; RFC 7518 section 3.4; RFC 5280; for receipts Apple,
/// Receipt Validation Programming Guide; RFC 5652.
public struct AppleVerifier: Sendable {
    let audience: Audience
    let authenticator: JWSAuthenticator
    let receipts: ReceiptAuthenticator

    /// - Throws: where the configuration names no app or no environment, or a certificate that cannot be used.
    public init(_ configuration: AppleVerifierConfiguration) throws(AppleVerifierSetupError) {
        guard !configuration.apps.isEmpty else { throw .noApps }
        guard !configuration.environments.isEmpty else { throw .noEnvironments }
        guard let builtIn = TrustAnchor(der: AppleRoots.g3) else { throw .damagedBuiltInRoot }
        var extraAnchors: [TrustAnchor] = []
        for (index, der) in configuration.extraRoots.enumerated() {
            guard let anchor = TrustAnchor(der: der) else { throw .unusableRoot(index) }
            extraAnchors.append(anchor)
        }
        var xcode: [XcodeCertificate] = []
        for (index, der) in configuration.xcodeCertificates.enumerated() {
            guard let certificate = XcodeCertificate(der: der) else { throw .unusableXcodeCertificate(index) }
            xcode.append(certificate)
        }
        audience = Audience(
            apps: Dictionary(configuration.apps.map { ($0.bundleID, $0) }, uniquingKeysWith: { first, _ in first }),
            environments: configuration.environments)
        authenticator = JWSAuthenticator(
            chains: ChainValidator(
                anchors: [builtIn] + extraAnchors, cache: ChainCache(capacity: configuration.cachedChains)),
            allowsXcode: configuration.environments.contains(.xcode), xcodeCertificates: xcode)
        receipts = ReceiptAuthenticator(
            chains: ChainValidator(anchors: extraAnchors, cache: ChainCache(capacity: configuration.cachedChains)),
            pinnedRoot: AppleRoots.receiptRootSHA256)
    }

    /// The configured app of this id, for payloads that name theirs elsewhere than transactions do.
    public func app(bundleID: String) -> AppleApp? { audience.apps[bundleID] }

    /// Returns whether purchases of this environment are accepted.
    public func accepts(_ environment: AppleEnvironment) -> Bool { audience.environments.contains(environment) }

    /// The transaction in a compact JWS (JWSTransaction), for a configured app in an accepted environment.
    ///
    /// - Throws: `AppleRefusal`; of several faults the one that `AppleRefusal.Reason` lists first, with this exception:
    ///   fields other than `signedDate` are read once the signature is known to be good.
    public func transaction(_ jws: String) throws(AppleRefusal) -> VerifiedTransaction {
        try VerifiedTransaction(try authenticator.authenticate(jws, xcode: true), for: audience)
    }

    /// The transaction in a compact JWS that Apple's server gave when it was asked for those of an app.
    ///
    /// Apple leaves the app out of very old ones: whose they are then stands in the question alone. So this is for
    /// answers of the App Store Server API, which knows the app by its key, and for nothing that a client can send.
    public func transaction(_ jws: String, of bundleID: String) throws(AppleRefusal) -> VerifiedTransaction {
        try VerifiedTransaction(try authenticator.authenticate(jws, xcode: false), for: audience, of: bundleID)
    }

    /// The renewal information in a compact JWS (JWSRenewalInfo), in an accepted environment; it names no app.
    public func renewalInfo(_ jws: String) throws(AppleRefusal) -> VerifiedRenewalInfo {
        try VerifiedRenewalInfo(try authenticator.authenticate(jws, xcode: true), for: audience)
    }

    /// The notification in a `signedPayload`, with each JWS that it holds verified on its own.
    public func notification(_ jws: String) throws(AppleRefusal) -> VerifiedNotification {
        try VerifiedNotification(try authenticator.authenticate(jws, xcode: false), self)
    }

    /// The app receipt in a PKCS #7 message: base64 of DER or BER, for a configured app in an accepted environment.
    ///
    /// - Throws: `AppleRefusal`; of several faults the one that `AppleRefusal.Reason` lists first, with this exception:
    ///   attributes other than the creation date are read once the signature is known to be good.
    public func receipt(_ text: String) throws(AppleRefusal) -> VerifiedReceipt {
        let authentic = try receipts.authenticate(try UnverifiedReceipt(try ReceiptText.decode(text)))
        return try VerifiedReceipt(authentic, for: audience)
    }

    /// The payload of any JWS that Apple's servers sign, such as a notification's `signedPayload`.
    ///
    /// Neither app nor environment is checked: see `VerifiedPayload`. What Xcode signs is refused.
    public func payload(_ jws: String) throws(AppleRefusal) -> VerifiedPayload {
        try authenticator.authenticate(jws, xcode: false)
    }
}

extension AppleVerifier {
    /// Explains a JWS or receipt and the result of each check, for a person: `refusal` is the verifier's own answer.
    ///
    /// A text that starts like base64 of a SEQUENCE is judged like `receipt(_:)`. Of JWS, a transaction and renewal
    /// information are judged like `transaction(_:)` and `renewalInfo(_:)`; anything else like `payload(_:)`, and the
    /// app and the environment that it names are checked as well. It takes any text, remembers nothing but a sound
    /// chain, and its answer is bounded.
    public func explain(_ text: String) -> AppleExplanation {
        if ReceiptText.isReceipt(text) {
            var explainer = ReceiptExplainer(self)
            return explainer.explain(text)
        }
        var explainer = Explainer(self)
        return explainer.explain(text)
    }
}
