import AppleTrust
import Crypto
import Foundation
import SwiftASN1
import X509

/// A certificate is hostile.
///
/// The first byte says which one, whether its issuer signs the bytes or they come as they are.
struct JWSCertificateTarget: FuzzTarget {
    let name = "jws-certificate"

    private enum Place: UInt8, CaseIterable {
        case signedLeaf, signedIntermediate, leaf, intermediate, root, xcode
    }

    var seeds: [[UInt8]] {
        seeds(.signedLeaf, Certificates.leafContents) + seeds(.signedIntermediate, Certificates.intermediateContents)
            + seeds(.leaf, [Certificates.leaf, Certificates.xcode])
            + seeds(.intermediate, [Certificates.intermediate, Certificates.root])
            + seeds(.root, [Certificates.root, Certificates.leaf, AppleRoots.g3]) + seeds(.xcode, [Certificates.xcode])
    }

    var words: [String] { [] }

    func run(_ input: [UInt8]) -> Bool {
        let bytes = Array(input.dropFirst())
        let reader = Reader.explained.sparing(bytes)
        switch Place.allCases[Int(input.first ?? 0) % Place.allCases.count] {
        case .signedLeaf:
            return checkChain(SignedDER.certificate(bytes, by: Keys.intermediate), Certificates.intermediate, reader)
        case .signedIntermediate:
            return checkChain(Certificates.leaf, SignedDER.certificate(bytes, by: Keys.root), reader)
        case .leaf: return checkChain(bytes, Certificates.intermediate, reader)
        case .intermediate: return checkChain(Certificates.leaf, bytes, reader)
        case .root: return checkRoot(bytes, reader)
        case .xcode: return checkXcode(bytes, reader)
        }
    }

    /// An accepted chain has the markers and the dates that it must have.
    private func checkChain(_ leaf: [UInt8], _ intermediate: [UInt8], _ reader: Reader) -> Bool {
        let header = JWSSamples.base64URL(JWSSamples.header([leaf, intermediate, JWSSamples.unread]))
        let text = JWSSamples.signed(header, Self.payload, by: Keys.leaf)
        guard Verdict(text, Verifiers.store, reader).json != nil else { return false }
        for (der, marker) in [(leaf, Certificates.storeLeaf), (intermediate, Certificates.developerRelations)] {
            guard let certificate = try? Certificate(derEncoded: der) else {
                Harness.finding("accepted no certificate")
            }
            Harness.expect(certificate.extensions[oid: marker] != nil, "accepted without \(marker)")
            let seconds = Double(JWSSamples.now / 1_000)
            Harness.expect(
                certificate.notValidBefore.timeIntervalSince1970 <= seconds
                    && seconds <= certificate.notValidAfter.timeIntervalSince1970, "accepted outside its validity")
        }
        return true
    }

    /// A root that is not ours vouches for nothing of ours.
    private func checkRoot(_ root: [UInt8], _ reader: Reader) -> Bool {
        var configuration = AppleVerifierConfiguration(apps: [AppleApp(bundleID: Verifiers.bundleID)])
        configuration.extraRoots = [root]
        guard let verifier = try? AppleVerifier(configuration) else { return false }
        guard Verdict(Self.sound, verifier, reader).json != nil else { return false }
        let key = (try? Certificate(derEncoded: root)).flatMap { P256.Signing.PublicKey($0.publicKey) }
        Harness.expect(
            key?.rawRepresentation == Keys.root.publicKey.rawRepresentation, "accepted under another root")
        return true
    }

    /// A certificate of Xcode's that is not ours vouches for nothing of ours.
    private func checkXcode(_ certificate: [UInt8], _ reader: Reader) -> Bool {
        var configuration = AppleVerifierConfiguration(apps: [AppleApp(bundleID: Verifiers.bundleID)])
        configuration.environments = [.xcode]
        configuration.xcodeCertificates = [certificate]
        guard let verifier = try? AppleVerifier(configuration) else { return false }
        let text = JWSSamples.signed(JWSSamples.header([certificate]), Payloads.xcode[1], by: Keys.xcode)
        guard Verdict(text, verifier, reader).json != nil else { return false }
        let key = (try? Certificate(derEncoded: certificate)).flatMap { P256.Signing.PublicKey($0.publicKey) }
        Harness.expect(
            key?.rawRepresentation == Keys.xcode.publicKey.rawRepresentation, "accepted under another certificate")
        return true
    }

    private static let payload = JWSSamples.base64URL(Array(Payloads.short.utf8))
    private static let sound = JWSSamples.signed(JWSSamples.base64URL(JWSSamples.appleHeader), payload, by: Keys.leaf)

    private func seeds(_ place: Place, _ inputs: [[UInt8]]) -> [[UInt8]] {
        inputs.map { [place.rawValue] + $0 }
    }
}
