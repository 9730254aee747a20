/// An app whose purchases are accepted.
public struct AppleApp: Hashable, Sendable {
    public let bundleID: String
    /// The app's numeric id in the App Store; notifications of Production name it, transactions do not.
    public let appAppleID: Int64?

    public init(bundleID: String, appAppleID: Int64? = nil) {
        self.bundleID = bundleID
        self.appAppleID = appAppleID
    }
}

/// The configuration of an `AppleVerifier`; all certificates are DER.
public struct AppleVerifierConfiguration: Sendable {
    public var apps: [AppleApp]
    public var environments: Set<AppleEnvironment>
    /// Trust anchors besides Apple Root CA - G3.
    ///
    /// For development only: the holder of such a key can sign anything.
    public var extraRoots: [[UInt8]]
    /// Trust anchors of an App Store in a box; what it signs has the signer ``VerifiedPayload/Signer/box``.
    ///
    /// For development only, like ``extraRoots``.
    public var boxRoots: [[UInt8]]
    /// Xcode's certificates; without any, an Xcode signature is not checked where `.xcode` is accepted.
    public var xcodeCertificates: [[UInt8]]
    /// The number of chains that are cached, at least 1.
    public var cachedChains: Int

    public init(
        apps: [AppleApp], environments: Set<AppleEnvironment> = [.production, .sandbox], extraRoots: [[UInt8]] = [],
        boxRoots: [[UInt8]] = [], xcodeCertificates: [[UInt8]] = [], cachedChains: Int = 64
    ) {
        self.apps = apps
        self.environments = environments
        self.extraRoots = extraRoots
        self.boxRoots = boxRoots
        self.xcodeCertificates = xcodeCertificates
        self.cachedChains = cachedChains
    }
}

/// The reason why a configuration cannot verify anything.
public enum AppleVerifierSetupError: Error, Hashable, Sendable {
    case noApps
    case noEnvironments
    /// An extra root, counted from 0, is no DER certificate of a CA that may have an intermediate below it.
    case unusableRoot(Int)
    /// A root of the App Store in a box, counted from 0, is no such certificate.
    case unusableBoxRoot(Int)
    /// An Xcode certificate, counted from 0, is no DER certificate with a P-256 key.
    case unusableXcodeCertificate(Int)
    /// The built-in root cannot be read: the program is damaged.
    case damagedBuiltInRoot
}

/// The environment in which a purchase was made, as Apple signs it in `environment`.
public enum AppleEnvironment: String, CaseIterable, Sendable {
    case production = "Production"
    case sandbox = "Sandbox"
    /// Xcode's local StoreKit; also for `LocalTesting`, Apple's name for its own unit tests.
    case xcode = "Xcode"

    /// - Returns: nil for a name that Apple does not use.
    public init?(appleName: String) {
        self.init(rawValue: appleName == "LocalTesting" ? "Xcode" : appleName)
    }
}
