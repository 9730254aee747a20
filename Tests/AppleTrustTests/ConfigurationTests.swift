import AppleTrust
import Crypto
import Encodings
import SwiftASN1
import Testing
import X509

@Suite("Roots and configuration")
struct ConfigurationTests {
    @Test func `the built-in root is Apple Root CA - G3`() throws {
        let fingerprint = Hex.encoded(SHA256.hash(data: AppleRoots.g3), .upper)
        #expect(fingerprint == "63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179")
        let root = try Certificate(derEncoded: AppleRoots.g3)
        #expect("\(root.subject)".contains("Apple Root CA - G3"))
        #expect(root.publicKey.isValidSignature(root.signature, for: root))
    }

    @Test func `a configuration that cannot verify anything is refused`() {
        let app = AppleApp(bundleID: "com.example.app")
        let sound = TestChain.root.der
        let rows: [(AppleVerifierConfiguration, AppleVerifierSetupError)] = [
            (.init(apps: []), .noApps),
            (.init(apps: [app], environments: []), .noEnvironments),
            (.init(apps: [app], extraRoots: [sound, []]), .unusableRoot(1)),
            (.init(apps: [app], extraRoots: [Array(sound.dropLast())]), .unusableRoot(0)),
            (.init(apps: [app], extraRoots: [TestChain.sound.leaf.der]), .unusableRoot(0)),
            (.init(apps: [app], extraRoots: [TestChain.sound.intermediate.der]), .unusableRoot(0)),
            (.init(apps: [app], xcodeCertificates: [[1, 2, 3]]), .unusableXcodeCertificate(0)),
            (.init(apps: [app], xcodeCertificates: [sound]), .unusableXcodeCertificate(0)),
        ]
        for (configuration, error) in rows {
            #expect(throws: error) { try AppleVerifier(configuration) }
        }
    }

    @Test func `reasons are the words of the HTTP contract`() {
        #expect(
            AppleRefusal.Reason.allCases.map(\.rawValue) == [
                "malformed", "unsupported_algorithm", "untrusted_chain", "wrong_purpose", "certificate_expired",
                "bad_signature", "wrong_app", "wrong_environment",
            ])
    }
}
