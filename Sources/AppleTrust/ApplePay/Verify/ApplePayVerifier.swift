import Crypto
import Encodings
import RefusalReasons

/// A payment token that Apple signed within the accepted time, bound to the expected application data.
///
/// Only an `ApplePayVerifier` makes one, and only a verified token can be decrypted. The verifier does not look at the
/// amount, nor at whether the token was used before.
public struct VerifiedToken: Sendable {
    public let token: ApplePayToken
    /// The signed transaction id in lower-case hex, by which a second use of the token is recognised.
    public let transactionID: String
    /// The time when Apple signed it, in milliseconds since 1970-01-01 UTC.
    public let signedAt: Int64

    fileprivate init(_ token: ApplePayToken, signedAt: Int64) {
        self.token = token
        transactionID = Hex.encoded(token.fields.transactionID)
        self.signedAt = signedAt
    }
}

extension VerifiedToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "VerifiedToken(\(token.version.rawValue), \(transactionID))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Decides whether Apple signed a payment token just now, without any key of the merchant's.
///
/// Make one and share it: it caches the sound chains, so that a further token under the same leaf costs one P-256 or
/// RSA verification. It reads no clock and opens no connection.
/// Source: Apple, Payment Token Format Reference; RFC 5652; RFC 5280.
public struct ApplePayVerifier: Sendable {
    let ec: TokenAuthenticator<ApplePayECProfile>
    let rsa: TokenAuthenticator<ApplePayRSAProfile>
    let window: SigningWindow

    /// - Throws: where an extra root cannot be used.
    public init(_ configuration: ApplePayVerifierConfiguration = .init()) throws(AppleVerifierSetupError) {
        guard let builtIn = TrustAnchor(der: AppleRoots.g3) else { throw .damagedBuiltInRoot }
        var anchors = [builtIn]
        for (index, der) in configuration.extraRoots.enumerated() {
            guard let anchor = TrustAnchor(der: der) else { throw .unusableRoot(index) }
            anchors.append(anchor)
        }
        ec = .init(chains: .init(anchors: anchors, cache: .init(capacity: configuration.cachedChains)))
        rsa = .init(chains: .init(anchors: anchors, cache: .init(capacity: configuration.cachedChains)))
        window = SigningWindow(
            past: configuration.signingTimeWindowSeconds, ahead: configuration.clockSkewSeconds)
    }

    /// Returns the verified token, if Apple signed it within the time window.
    ///
    /// - Parameters:
    ///   - applicationData: the bytes to which the payment request asked the token to be bound; nil where it asked for
    ///     none, and then the token must be bound to none.
    ///   - now: milliseconds since 1970-01-01 UTC.
    /// - Throws: `ApplePayRefusal`; of several faults the first in the order that `ApplePayRefusal.Reason` describes.
    public func verify(
        _ token: ApplePayToken, applicationData: [UInt8]?, at now: Int64
    ) throws(ApplePayRefusal) -> VerifiedToken {
        let signedAt = try ApplePayRefusal.translating { () throws(AppleRefusal) in try authenticate(token) }
        let late = window.refusal(signedAt, at: now)
        do throws(ApplePayRefusal) {
            try Self.check(token, applicationData: applicationData)
            try Self.checkTransactionIdentifier(token)
        } catch {
            throw late ?? error
        }
        let verified = VerifiedToken(token, signedAt: signedAt)
        if let late { throw ApplePayRefusal(late.reason, late.detail, transactionID: verified.transactionID) }
        return verified
    }

    /// - Returns: the signing time in milliseconds since 1970-01-01 UTC.
    private func authenticate(_ token: ApplePayToken) throws(AppleRefusal) -> Int64 {
        let signature = try TokenSignature(token.fields.signature)
        let digest = token.fields.signedDigest
        switch token.version {
        case .ec: try ec.check(signature, over: digest)
        case .rsa: try rsa.check(signature, over: digest)
        }
        return signature.signingTime
    }

    /// Compares the digests in constant time.
    private static func check(_ token: ApplePayToken, applicationData: [UInt8]?) throws(ApplePayRefusal) {
        switch (applicationData, token.fields.applicationData) {
        case (nil, nil): break
        case (let expected?, let digest?) where SHA256.hash(data: expected) == digest: break
        case (nil, _?):
            throw ApplePayRefusal(.applicationDataMismatch, "bound to application data where none was asked for")
        case (_?, nil): throw ApplePayRefusal(.applicationDataMismatch, "bound to no application data")
        case (_?, _?): throw ApplePayRefusal(.applicationDataMismatch, "bound to other application data")
        }
    }

    /// Compares the identifier outside of the signature, where there is one, with the signed one; their case may
    /// differ.
    static func checkTransactionIdentifier(_ token: ApplePayToken) throws(ApplePayRefusal) {
        guard let outer = token.transactionIdentifier else { return }
        guard Hex.decoded(Array(outer.utf8)[...]) == token.fields.transactionID else {
            throw ApplePayRefusal(
                .transactionIdentifierMismatch, "transactionIdentifier is not the signed transactionId")
        }
    }
}

/// The time around now in which a token must have been signed.
struct SigningWindow: Sendable {
    /// Milliseconds.
    let past: Int64
    let ahead: Int64

    /// - Parameters: seconds; a negative number counts as 0.
    init(past: Int, ahead: Int) {
        self.past = Self.milliseconds(past)
        self.ahead = Self.milliseconds(ahead)
    }

    /// The milliseconds of a number of seconds, from 0 to some thousand years, so that no sum overflows.
    private static func milliseconds(_ seconds: Int) -> Int64 { Int64(min(max(0, seconds), 1 << 36)) * 1_000 }

    /// - Returns: nil for a time within the window.
    func refusal(_ signedAt: Int64, at now: Int64) -> ApplePayRefusal? {
        let (age, overflow) = now.subtractingReportingOverflow(signedAt)
        guard !overflow, age <= past else {
            return ApplePayRefusal(.signingTimeOutOfWindow, "signed \(age / 1_000) s ago, more than \(past / 1_000) s")
        }
        // A signing time has whole seconds, now has not.
        guard -age <= ahead else {
            return ApplePayRefusal(
                .signingTimeOutOfWindow, "signed \(-age / 1_000) s ahead of now, more than \(ahead / 1_000) s")
        }
        return nil
    }
}

/// The configuration of an `ApplePayVerifier`.
public struct ApplePayVerifierConfiguration: Sendable {
    /// Trust anchors besides Apple Root CA - G3, as DER.
    ///
    /// For development only: the holder of such a key can sign anything.
    public var extraRoots: [[UInt8]]
    /// The age up to which a token is accepted, in seconds; Apple recommends five minutes.
    public var signingTimeWindowSeconds: Int
    /// The time by which Apple's clock may be ahead of ours, in seconds.
    public var clockSkewSeconds: Int
    /// The number of chains that are cached for each version, at least 1.
    public var cachedChains: Int

    public init(
        extraRoots: [[UInt8]] = [], signingTimeWindowSeconds: Int = 300, clockSkewSeconds: Int = 60,
        cachedChains: Int = 64
    ) {
        self.extraRoots = extraRoots
        self.signingTimeWindowSeconds = signingTimeWindowSeconds
        self.clockSkewSeconds = clockSkewSeconds
        self.cachedChains = cachedChains
    }
}
