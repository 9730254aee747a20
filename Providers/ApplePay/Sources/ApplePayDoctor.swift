import AppleTrust
import Domain
public import ProviderKit

/// The checks of `paydesk doctor` on an account: certificates, self-test, domain file, and Apple's gateway.
extension ApplePayProvider: SelfExamining, OnlineDiagnosing {
    /// The days before the end at which Apple advises to renew a certificate.
    private static let renewalDays: Int64 = 30

    public func examine() -> [Diagnosis] {
        var found = trust.certificates.map { Self.diagnosis($0, now: context.time.now) }
        if trust.keyRing.isEmpty {
            found.append(
                Diagnosis(
                    .notice, "Payment Processing",
                    "no key is here: tokens are verified and go on encrypted, but their amounts are not compared with orders"
                ))
        }
        if trust.identity == nil {
            found.append(
                Diagnosis(
                    .notice, "Merchant Identity",
                    "none is configured: apps can pay, web pages get no merchant session; set settings.identity for them"
                ))
        }
        found.append(
            settings.domainAssociation.map {
                Diagnosis(
                    .good, "domain file",
                    "\($0.count) bytes, served at /.well-known/apple-developer-merchantid-domain-association")
            }
                ?? Diagnosis(
                    .notice, "domain file",
                    "none is configured: Apple cannot verify \(settings.domain) here; set settings.domain_association"))
        found.append(
            ApplePayTrust.selfTestFault(context.time).map { Diagnosis(.fault, "self-test", $0.problem) }
                ?? Diagnosis(.good, "self-test", "a token of a test authority's verifies and decrypts"))
        return found
    }

    public func diagnose() async -> [Diagnosis] {
        guard trust.identity != nil else { return [] }
        let subject = "gateway"
        do throws(SessionFailure) {
            _ = try await session()
            return [Diagnosis(.good, subject, "\(settings.gateway) issues merchant sessions for \(settings.domain)")]
        } catch {
            return [Diagnosis(.fault, subject, "\(settings.gateway) \(Self.words(error))")]
        }
    }

    private static func diagnosis(_ certificate: ApplePayTrust.Expiry, now: Timestamp) -> Diagnosis {
        let days = (certificate.lastMoment.rawValue - now.rawValue) / 86_400
        let date = certificate.lastMoment.utcDate
        guard certificate.lastMoment >= now else {
            return Diagnosis(
                certificate.name.hasPrefix("Merchant") ? .fault : .notice, certificate.name,
                "expired on \(date); make a new one in the developer account")
        }
        return days < renewalDays
            ? Diagnosis(.notice, certificate.name, "expires in \(days) days, on \(date); renew it now")
            : Diagnosis(
                .good, certificate.name, "fits its key and the merchant id; expires in \(days) days, on \(date)")
    }

    private static func words(_ failure: SessionFailure) -> String {
        switch failure {
        case .noIdentity: "was not asked: no identity is configured"
        case .notSent:
            "cannot be reached with this identity: no connection, or TLS refused the certificate (expired, revoked, another key?)"
        case .noAnswer:
            "gave no answer: it hung, or cut the connection because it refuses the certificate (expired, revoked, another merchant's?)"
        case .status(417):
            "answered 417: the identity certificate, the merchant id and the domain do not belong together; compare them in the developer account"
        case .status(400): "answered 400: the domain is not verified for this merchant id, or was moved to it only now"
        case .status(403): "answered 403: the identity certificate is not accepted; it may be revoked"
        case .status(let status): "answered \(status)"
        case .notJSON: "answered something that is no merchant session; is it Apple's gateway?"
        }
    }
}
