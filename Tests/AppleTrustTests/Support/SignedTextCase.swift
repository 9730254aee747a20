import AppleTrust
import Testing

/// A minted JWS and what must become of it.
struct SignedTextCase: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    /// Nil where it must be accepted.
    let reason: AppleRefusal.Reason?
    /// What Apple's own library is known to do differently; nil where it must agree with us.
    let difference: Difference?

    /// The reason why Apple's library may decide otherwise.
    enum Difference: Sendable {
        /// It accepts what we refuse: it does not look at this.
        case itIsLaxer
        /// It refuses what we accept: it asks OpenSSL for strict conformance of the certificates.
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

/// The verifier that most tests ask.
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
