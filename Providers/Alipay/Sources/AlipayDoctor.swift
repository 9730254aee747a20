import Domain
public import ProviderKit

extension AlipayProvider: SelfExamining, OnlineDiagnosing {
    /// A number that no payment has, so that the answer only depends on the keys.
    private static let nobodys = "paydesk-doctor-00000000"

    /// Queries Alipay for a trade that does not exist.
    public func diagnose() async -> [Diagnosis] { [await question()] }

    /// Compares the certificates with the clock.
    public func examine() -> [Diagnosis] {
        guard case .certificates(let certificates) = settings.proof else { return [] }
        let ends =
            [("app_certificate", certificates.applicationNotAfter)]
            + certificates.signers.map { ("alipay_certificates \($0.number)", $0.notAfter) }
        return ends.map { name, end in
            let days = (end.rawValue - context.time.now.rawValue) / 86_400
            if end <= context.time.now {
                return Diagnosis(.fault, name, "It has expired; download a new one from Alipay's console.")
            }
            return days < 30
                ? Diagnosis(.notice, name, "It expires in \(days) days; download a new one from Alipay's console.")
                : Diagnosis(.good, name, "It is good for \(days) days.")
        }
    }

    private func question() async -> Diagnosis {
        do throws(AlipayFailure) {
            let _: AlipayTrade = try await api.call("alipay.trade.query", ["out_trade_no": Self.nobodys])
            return Diagnosis(.good, "gateway", Self.works)
        } catch {
            return diagnosis(of: error)
        }
    }

    private static let works = "Alipay accepts the application's key, and its answers are proven by the set key."

    private func diagnosis(of failure: AlipayFailure) -> Diagnosis {
        switch failure {
        case .notSent, .unanswered, .unsayable:
            return Diagnosis(
                .notice, "gateway", "Alipay does not answer now; check that \(settings.gateway) is reached.")
        case .unproven:
            return Diagnosis(
                .fault, "gateway",
                "Alipay's answer is not proven by the set key: copy Alipay's public key (支付宝公钥) or its certificate "
                    + "again, from this application's page.")
        case .refused(let refusal):
            if refusal.isMissing { return Diagnosis(.good, "gateway", Self.works) }
            if refusal.isProven, refusal.code == "20000" {
                return Diagnosis(.notice, "gateway", "Alipay's service is troubled now.")
            }
            return refused(refusal.word)
        }
    }

    private func refused(_ word: String?) -> Diagnosis {
        let own = settings.privateKey.publicKey.fingerprint
        let mend =
            switch word {
            case "isv.invalid-app-id": "check app_id, and that the gateway (production or sandbox) is the app's."
            case "isv.invalid-signature", "isv.missing-signature-config":
                "at Alipay, set the public key of app_private_key, whose SHA-256 begins with \(own)."
            case "isv.app-cert-not-match", "isv.app-cert-not-exist", "isv.missing-app-cert-sn":
                "check that the console is in the same mode (public key or certificate) and has this certificate."
            default: "check the application's state and its signed products at Alipay."
            }
        return Diagnosis(.fault, "gateway", "Alipay refuses the application (\(word ?? "no word")): \(mend)")
    }
}
