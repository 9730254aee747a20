import RefusalReasons

/// Verifies App Store JWS and app receipts offline, at the time when they were signed.
///
/// Make one and share it: it caches the sound chains, so that a further payload under the same leaf costs one P-256 or
/// RSA verification. It reads no clock and opens no connection, so it does not ask whether a certificate was revoked.
/// Source: Apple, App Store Server API, JWSDecodedHeader; RFC 7515; RFC 7518 section 3.4; RFC 5280; for receipts Apple,
/// Receipt Validation Programming Guide; RFC 5652.
public struct AppleVerifier: Sendable {
    let audience: Audience
    let authenticator: JWSAuthenticator
    let receipts: ReceiptAuthenticator

    /// - Throws: an error where the configuration names no app or no environment, or a certificate that cannot be used.
    public init(_ configuration: AppleVerifierConfiguration) throws(AppleVerifierSetupError) {
        guard !configuration.apps.isEmpty else { throw .noApps }
        guard !configuration.environments.isEmpty else { throw .noEnvironments }
        guard let builtIn = TrustAnchor(der: AppleRoots.g3) else { throw .damagedBuiltInRoot }
        var extraAnchors: [TrustAnchor] = []
        for (index, der) in configuration.extraRoots.enumerated() {
            guard let anchor = TrustAnchor(der: der) else { throw .unusableRoot(index) }
            extraAnchors.append(anchor)
        }
        var boxAnchors: [TrustAnchor] = []
        for (index, der) in configuration.boxRoots.enumerated() {
            guard let anchor = TrustAnchor(der: der) else { throw .unusableBoxRoot(index) }
            boxAnchors.append(anchor)
        }
        let box = Set(boxAnchors.map(\.fingerprint))
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
                anchors: [builtIn] + extraAnchors + boxAnchors, cache: ChainCache(capacity: configuration.cachedChains)),
            box: box, allowsXcode: configuration.environments.contains(.xcode), xcodeCertificates: xcode)
        receipts = ReceiptAuthenticator(
            chains: ChainValidator(
                anchors: extraAnchors + boxAnchors, cache: ChainCache(capacity: configuration.cachedChains)), box: box,
            pinnedRoot: AppleRoots.receiptRootSHA256)
    }

    /// The configured app with this bundle id, for payloads that name their app elsewhere than transactions do.
    public func app(bundleID: String) -> AppleApp? { audience.apps[bundleID] }

    /// Returns whether purchases of this environment are accepted.
    public func accepts(_ environment: AppleEnvironment) -> Bool { audience.environments.contains(environment) }

    /// Verifies the transaction in a compact JWS (JWSTransaction), for a configured app in an accepted environment.
    ///
    /// - Throws: `AppleRefusal`; of several faults the one that `AppleRefusal.Reason` lists first, with this exception:
    ///   fields other than `signedDate` are read once the signature is known to be good.
    public func transaction(_ jws: String) throws(AppleRefusal) -> VerifiedTransaction {
        try VerifiedTransaction(try authenticator.authenticate(jws, xcode: true), for: audience)
    }

    /// Verifies the transaction in a compact JWS that Apple's server returned for a request about one app.
    ///
    /// Apple leaves the app out of very old transactions, so that only the request names it. Use this for answers of
    /// the App Store Server API, which knows the app by its key, and never for anything that a client can send.
    public func transaction(_ jws: String, of bundleID: String) throws(AppleRefusal) -> VerifiedTransaction {
        try VerifiedTransaction(try authenticator.authenticate(jws, xcode: false), for: audience, of: bundleID)
    }

    /// Verifies the renewal information in a compact JWS (JWSRenewalInfo), in an accepted environment; it names no app.
    public func renewalInfo(_ jws: String) throws(AppleRefusal) -> VerifiedRenewalInfo {
        try VerifiedRenewalInfo(try authenticator.authenticate(jws, xcode: true), for: audience)
    }

    /// Verifies the notification in a `signedPayload`, and each JWS inside it on its own.
    public func notification(_ jws: String) throws(AppleRefusal) -> VerifiedNotification {
        try VerifiedNotification(try authenticator.authenticate(jws, xcode: false), self)
    }

    /// Verifies the app receipt in a PKCS #7 message: base64 of DER or BER, for a configured app in an accepted
    /// environment.
    ///
    /// - Throws: `AppleRefusal`; of several faults the one that `AppleRefusal.Reason` lists first, with this exception:
    ///   attributes other than the creation date are read once the signature is known to be good.
    public func receipt(_ text: String) throws(AppleRefusal) -> VerifiedReceipt {
        let authentic = try receipts.authenticate(try UnverifiedReceipt(try ReceiptText.decode(text)))
        return try VerifiedReceipt(authentic, for: audience)
    }

    /// Verifies any JWS that Apple's servers sign, such as a notification's `signedPayload`, and returns its payload.
    ///
    /// Neither app nor environment is checked: see `VerifiedPayload`. What Xcode signs is refused.
    public func payload(_ jws: String) throws(AppleRefusal) -> VerifiedPayload {
        try authenticator.authenticate(jws, xcode: false)
    }
}

extension AppleVerifier {
    /// Explains a JWS or receipt and the result of each check, for a person: `refusal` is the verifier's own answer.
    ///
    /// A text that starts like base64 of a SEQUENCE is judged by `receipt(_:)`. Of JWS, a transaction and renewal
    /// information are judged by `transaction(_:)` and `renewalInfo(_:)`; any other by `payload(_:)`, and the app and
    /// the environment that it names are checked as well. Any text is accepted, the answer is bounded, and only sound
    /// chains are cached.
    public func explain(_ text: String) -> AppleExplanation {
        if ReceiptText.isReceipt(text) {
            var explainer = ReceiptExplainer(self)
            return explainer.explain(text)
        }
        var explainer = Explainer(self)
        return explainer.explain(text)
    }
}

/// The apps and environments that this installation accepts.
struct Audience: Sendable {
    let apps: [String: AppleApp]
    let environments: Set<AppleEnvironment>

    func checkApp(_ bundleID: String) throws(AppleRefusal) {
        guard apps[bundleID] != nil else {
            throw AppleRefusal(.wrongApp, "signed for \(bundleID), which is not configured")
        }
    }

    func environment(_ name: String) throws(AppleRefusal) -> AppleEnvironment {
        guard let environment = AppleEnvironment(appleName: name), environments.contains(environment) else {
            throw AppleRefusal(.wrongEnvironment, "signed in \(name), which is not accepted")
        }
        return environment
    }
}
