import AppleTrust
import Crypto
import Foundation
import TestSupport

/// Verification and decryption of payment tokens in this process, on one thread.
///
/// Both are compared with the elliptic-curve operations in them, which this measures too, in turn with them: the P-256
/// verification of the signature, and the P-256 key agreement.
enum ApplePaySection {
    /// Rounds of each figure, in which everything is measured once.
    private static let rounds = 5
    private static let operations = 2_000
    /// Different tokens under one leaf, as a server sees them.
    private static let tokens = 200
    private static let seconds: Int64 = 1_790_000_000
    private static let applicationData = Array("the order".utf8)

    static func figures() throws -> [Figure] {
        let work = try Work()
        var times = [Times]()
        for _ in 0..<rounds { times.append(try work.measure()) }
        let sum = times.reduce(Times(), +)
        let total = Double(rounds * operations)
        return [
            Figure(
                section: .applepay, name: "Apple Pay token verified, chain remembered",
                value: total / sum.verification, unit: "/CPU s", base: .figure("its EC", total / sum.signature),
                aim: .atLeast(0.6)),
            Figure(
                section: .applepay, name: "Apple Pay token verified and decrypted", value: total / sum.both,
                unit: "/CPU s", base: .figure("its EC", total / (sum.signature + sum.agreement)), aim: .atLeast(0.6)),
        ]
    }

    /// The CPU seconds of each operation.
    private struct Times {
        var verification = 0.0
        var both = 0.0
        var signature = 0.0
        var agreement = 0.0

        static func + (left: Times, right: Times) -> Times {
            Times(
                verification: left.verification + right.verification, both: left.both + right.both,
                signature: left.signature + right.signature, agreement: left.agreement + right.agreement)
        }
    }

    private struct Work {
        let verifier: ApplePayVerifier
        let ring: ApplePayKeyRing
        let tokens: [[UInt8]]
        let signingKey = P256.Signing.PrivateKey()
        let agreementKey = P256.KeyAgreement.PrivateKey()
        let peer = P256.KeyAgreement.PrivateKey().publicKey

        init() throws {
            verifier = try ApplePayVerifier(ApplePayVerifierConfiguration(extraRoots: [ApplePayTestTokens.root.der]))
            ring = ApplePayKeyRing([
                try ApplePayMerchantKey(
                    certificate: ApplePayTestTokens.processingEC.der,
                    privateKey: Array(ApplePayTestTokens.processingEC.keyPEM.utf8),
                    merchantIdentifier: ApplePayTestTokens.merchantIdentifier)
            ])
            tokens = (0..<ApplePaySection.tokens).map { _ in
                ApplePayTestTokens.token(applicationData: applicationData, at: seconds)
            }
            for token in tokens { _ = try ring.decrypt(try verify(token)) }
        }

        func measure() throws -> Times {
            var times = Times()
            times.verification = try time { _ = try verify(tokens[$0 % tokens.count]) }
            times.both = try time { _ = try ring.decrypt(try verify(tokens[$0 % tokens.count])) }
            let digest = SHA256.hash(data: Array("attributes".utf8))
            let signature = try signingKey.signature(for: digest)
            let key = signingKey.publicKey
            times.signature = try time { _ in
                guard key.isValidSignature(signature, for: digest) else {
                    throw BenchFailure(description: "P-256 does not verify")
                }
            }
            times.agreement = try time { _ in
                _ = try agreementKey.sharedSecretFromKeyAgreement(with: peer)
            }
            return times
        }

        private func verify(_ token: [UInt8]) throws -> VerifiedToken {
            try verifier.verify(
                try ApplePayToken(token), applicationData: applicationData, at: seconds * 1_000)
        }

        private func time(_ body: (Int) throws -> Void) rethrows -> Double {
            let started = CPUTime.ofThread
            for number in 0..<operations { try body(number) }
            return CPUTime.ofThread - started
        }
    }
}
