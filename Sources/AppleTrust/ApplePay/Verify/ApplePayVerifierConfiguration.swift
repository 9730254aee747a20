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
