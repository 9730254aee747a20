import AppleTrust

/// The installations that targets ask.
enum Verifiers {
    static let bundleID = "com.example.app"

    /// As in production, with our root beside Apple's.
    static let store = make { $0.extraRoots = [Certificates.root] }
    /// Xcode is accepted as well, under its certificate.
    static let signed = make {
        $0.environments = Set(AppleEnvironment.allCases)
        $0.extraRoots = [Certificates.root]
        $0.xcodeCertificates = [Certificates.xcode]
    }
    /// Xcode is believed unchecked: payloads are read without any signature.
    static let unchecked = make { $0.environments = Set(AppleEnvironment.allCases) }

    /// As in production, with the root of our receipts.
    static let receipts = make { $0.extraRoots = [ReceiptCertificates.root] }

    static func make(_ edit: (inout AppleVerifierConfiguration) -> Void) -> AppleVerifier {
        var configuration = AppleVerifierConfiguration(apps: [AppleApp(bundleID: bundleID, appAppleID: 1)])
        edit(&configuration)
        return Harness.minted { try AppleVerifier(configuration) }
    }
}
