/// What an `ApplePayVerifier` accepts.
public struct ApplePayVerifierConfiguration: Sendable {
    /// Trust anchors besides Apple Root CA - G3, as DER: for development only, whoever holds their keys can sign anything.
    public var extraRoots: [[UInt8]]
    /// How long ago a token may have been signed; Apple says five minutes.
    public var signingTimeWindowSeconds: Int
    /// How far ahead of ours Apple's clock may be.
    public var clockSkewSeconds: Int
    /// How many chains of each version are remembered, at least 1.
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
