import AppleTrust
import Testing

/// A generated JWS and its expected refusal.
struct SignedTextCase: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    /// The expected reason; nil where the JWS must be accepted.
    let reason: AppleRefusal.Reason?
    /// The known difference of Apple's library; nil where it must agree with us.
    let difference: Difference?

    /// The reason why Apple's library may decide otherwise.
    enum Difference: Sendable {
        /// Apple's library accepts what we refuse: it lacks this check.
        case itIsLaxer
        /// Apple's library refuses what we accept: it requires strict certificates of OpenSSL.
        case itIsStricter
    }

    var testDescription: String { name }

    init(
        _ name: String, _ text: String, _ reason: AppleRefusal.Reason?, difference: Difference? = nil
    ) {
        self.name = name
        self.text = text
        self.reason = reason
        self.difference = difference
    }

    init(
        _ name: String, _ jws: TestJWS, _ reason: AppleRefusal.Reason?, difference: Difference? = nil
    ) {
        self.init(name, jws.text, reason, difference: difference)
    }
}

/// The verifier of most tests.
enum TestVerifier {
    static func new(
        environments: Set<AppleEnvironment> = [.production, .sandbox], roots: [TestIdentity] = [TestChain.root],
        xcode: [TestIdentity] = [], cachedChains: Int = 64
    ) -> AppleVerifier {
        let configuration = AppleVerifierConfiguration(
            apps: [AppleApp(bundleID: "com.example.app", appAppleID: 1_234_567_890)], environments: environments,
            extraRoots: roots.map(\.der), xcodeCertificates: xcode.map(\.der), cachedChains: cachedChains)
        return minted { try AppleVerifier(configuration) }
    }

    /// The reason of a refusal; nil where the transaction was accepted.
    static func reason(_ text: String, _ verifier: AppleVerifier = new()) -> AppleRefusal.Reason? {
        do throws(AppleRefusal) {
            _ = try verifier.transaction(text)
            return nil
        } catch {
            return error.reason
        }
    }
}
