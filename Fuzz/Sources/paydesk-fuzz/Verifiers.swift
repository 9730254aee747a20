import AppleTrust

/// The verifiers that the targets call.
enum Verifiers {
    static let bundleID = "com.example.app"

    /// A verifier as in production, with our root beside Apple's.
    static let store = make { $0.extraRoots = [Certificates.root] }
    /// A verifier that accepts Xcode as well, with its certificate.
    static let signed = make {
        $0.environments = Set(AppleEnvironment.allCases)
        $0.extraRoots = [Certificates.root]
        $0.xcodeCertificates = [Certificates.xcode]
    }
    /// A verifier that accepts Xcode without a check: payloads are read without any signature.
    static let unchecked = make { $0.environments = Set(AppleEnvironment.allCases) }

    /// A verifier as in production, with the root of our receipts.
    static let receipts = make { $0.extraRoots = [ReceiptCertificates.root] }

    static func make(_ edit: (inout AppleVerifierConfiguration) -> Void) -> AppleVerifier {
        var configuration = AppleVerifierConfiguration(apps: [AppleApp(bundleID: bundleID, appAppleID: 1)])
        edit(&configuration)
        return Harness.minted { try AppleVerifier(configuration) }
    }
}
