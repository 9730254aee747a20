import AppleTrust
import Domain
import Foundation
import TestSupport

/// Verification of signed transactions in this process, on one thread.
enum VerifySection {
    private static let coldRounds = 500
    private static let warmRounds = 20_000
    /// The number of different payloads under one leaf, as a server sees them.
    private static let payloads = 2_000
    private static let notices = 5_000

    /// Verifications of transactions per second of CPU time, their chain seen before.
    static func rateWithKnownChain() throws -> Double { try warm(root(), transactions()) }

    private static func root() throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: AppleTestCertificates.rootFile)))
    }

    private static func transactions() -> [String] { (0..<payloads).map { _ in Customer.purchase().jws } }

    static func figures() throws -> [Figure] {
        let (root, transactions) = (try root(), transactions())
        return [
            Figure(
                section: .verify, name: "verification, chain remembered", value: try warm(root, transactions),
                unit: "/CPU s", base: .openSSL, aim: .atLeast(0.7)),
            Figure(
                section: .verify, name: "verification, chain new", value: try cold(root, transactions),
                unit: "/CPU s", base: .openSSL),
            Figure(
                section: .verify, name: "notification of three signatures, chain remembered",
                value: try notifications(root), unit: "/CPU s", base: .openSSL, aim: .atLeast(0.25)),
        ]
    }

    private static func notifications(_ root: [UInt8]) throws -> Double {
        let app = AppleApp(bundleID: "com.example.app", appAppleID: AppleNotice.appNumber)
        let verifier = try AppleVerifier(AppleVerifierConfiguration(apps: [app], extraRoots: [root]))
        let now = Timestamp(1_767_225_600)
        let signed = (0..<payloads).map { _ in
            let sale = AppleSale("com.example.apple.auto", AppleSale.subscription, at: now) {
                $0.expires = $0.purchased + 30 * 86_400_000
            }
            return AppleNotice("DID_RENEW", nil, sale, AppleRenewal(sale), status: 1, at: now).signedPayload
        }
        for text in signed { _ = try verifier.notification(text) }
        let started = CPUTime.ofThread
        for round in 0..<notices { _ = try verifier.notification(signed[round % payloads]) }
        return Double(notices) / (CPUTime.ofThread - started)
    }

    private static func verifier(_ root: [UInt8]) throws -> AppleVerifier {
        try AppleVerifier(AppleVerifierConfiguration(apps: [AppleApp(bundleID: "com.example.app")], extraRoots: [root]))
    }

    private static func warm(_ root: [UInt8], _ transactions: [String]) throws -> Double {
        let verifier = try verifier(root)
        for transaction in transactions { _ = try verifier.transaction(transaction) }
        let started = CPUTime.ofThread
        for round in 0..<warmRounds { _ = try verifier.transaction(transactions[round % payloads]) }
        return Double(warmRounds) / (CPUTime.ofThread - started)
    }

    /// The rate with a new verifier for each verification, made before, because a verifier remembers chains.
    private static func cold(_ root: [UInt8], _ transactions: [String]) throws -> Double {
        let verifiers = try (0..<coldRounds).map { _ in try verifier(root) }
        let started = CPUTime.ofThread
        for (verifier, transaction) in zip(verifiers, transactions) { _ = try verifier.transaction(transaction) }
        return Double(coldRounds) / (CPUTime.ofThread - started)
    }
}
