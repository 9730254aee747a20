/// The configuration of an `ApplePayVerifier`.
public struct ApplePayVerifierConfiguration: Sendable {
    /// Trust anchors besides Apple Root CA - G3, as DER: for development only, whoever holds their keys can sign anything.
    public var extraRoots: [[UInt8]]
    /// The age up to which a token is accepted; Apple says five minutes.
    public var signingTimeWindowSeconds: Int
    /// The time by which Apple's clock may be ahead of ours.
    public var clockSkewSeconds: Int
    /// The number of chains of each version that are remembered, at least 1.
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
