import AppleTrust
import Domain
import Foundation
import ProviderKit

/// The verifier and the keys of an account from its certificates; all of them are tested at the start.
struct ApplePayTrust: Sendable {
    let verifier: ApplePayVerifier
    let keyRing: ApplePayKeyRing
    /// The merchant identity; nil where none is configured, because apps need no merchant session.
    let identity: OutgoingIdentity?
    let certificates: [Expiry]

    /// The end of a certificate's validity.
    struct Expiry: Sendable {
        /// The certificate's name: `Merchant Identity`, `Payment Processing 1`.
        let name: String
        let lastMoment: Timestamp
    }

    init(_ settings: ApplePaySettings, time: TimeSource) throws(ProviderSetupError) {
        var faults: [ProviderSetupError.Fault] = []
        var keys: [ApplePayMerchantKey] = []
        var certificates: [Expiry] = []
        for (index, pair) in settings.processing.enumerated() {
            do throws(ApplePayKeyFault) {
                let key = try ApplePayMerchantKey(
                    certificate: pair.certificate, privateKey: pair.privateKey,
                    merchantIdentifier: settings.merchantIdentifier)
                keys.append(key)
                certificates.append(Expiry("Payment Processing \(index + 1)", milliseconds: key.notValidAfter))
            } catch {
                faults.append(Self.fault(error, of: pair))
            }
        }
        if let pair = settings.identity {
            let check = ApplePayIdentityCheck(
                certificate: pair.certificate, privateKey: pair.privateKey,
                merchantIdentifier: settings.merchantIdentifier)
            faults += check.faults.map { Self.fault($0, of: pair) }
            if let last = check.notValidAfter { certificates.append(Expiry("Merchant Identity", milliseconds: last)) }
        }
        verifier = try Self.verifier(settings, faults)
        keyRing = ApplePayKeyRing(keys)
        identity = settings.identity.map {
            OutgoingIdentity(
                certificates: CertificateFile.pem($0.certificate), privateKey: $0.privateKey,
                trustedRoots: settings.gatewayRoots)
        }
        self.certificates = certificates
        if let fault = Self.selfTestFault(time) { faults.append(fault) }
        guard faults.isEmpty else { throw ProviderSetupError(faults) }
    }

    private static func verifier(
        _ settings: ApplePaySettings, _ faults: [ProviderSetupError.Fault]
    ) throws(ProviderSetupError) -> ApplePayVerifier {
        do throws(AppleVerifierSetupError) {
            return try ApplePayVerifier(
                ApplePayVerifierConfiguration(
                    extraRoots: settings.roots.map { CertificateFile.der($0) ?? [] },
                    signingTimeWindowSeconds: settings.signingTimeWindowSeconds))
        } catch {
            let setting = if case .unusableRoot(let index) = error { "root_certificates[\(index)]" } else { "gateway" }
            let root = ProviderSetupError.Fault(
                setting: setting, problem: "is no CA certificate that can anchor a chain",
                remedy: "Name the root of your test chain.")
            throw ProviderSetupError(faults + [root])
        }
    }

    /// Verifies and decrypts a generated token of a test authority; returns the fault, or nil.
    static func selfTestFault(_ time: TimeSource) -> ProviderSetupError.Fault? {
        do {
            try ApplePaySelfTest.run(at: time.milliseconds())
            return nil
        } catch {
            return .init(
                setting: "kind", problem: "cannot be served: the self-test failed (\(error))",
                remedy: "Install the program again.")
        }
    }

    private static func fault(_ fault: ApplePayKeyFault, of pair: ApplePaySettings.KeyPair) -> ProviderSetupError.Fault
    {
        .init(
            setting: pair.setting, problem: "cannot be used: \(fault)",
            remedy: "Name the certificate that Apple issued for this merchant id, and the key of its request.")
    }
}

extension ApplePayTrust.Expiry {
    fileprivate init(_ name: String, milliseconds: Int64) {
        self.init(name: name, lastMoment: Timestamp(milliseconds / 1_000))
    }
}
