import Domain
import FoundationEssentials
public import ProviderKit

extension WeChatPayProvider: SelfExamining, OnlineDiagnosing {
    /// Reports the end of the merchant's certificate; it was compared with the key and the serial number at the start.
    public func examine() -> [Diagnosis] { [certificate] + missingAuthorization }

    /// Tests the account's keys at WeChat Pay.
    public func diagnose() async -> [Diagnosis] {
        var found: [Diagnosis] = []
        if settings.publicKey == nil { found.append(await platformCertificates()) }
        let answered = await question()
        found.append(answered)
        if answered.level == .good { found += await walletDiagnoses() }
        return found
    }

    private var certificate: Diagnosis {
        guard let ends = settings.identity.certificateEnds else {
            return Diagnosis(
                .notice, "merchant certificate",
                "only its serial number is set, so nobody here can tell whether it belongs to private_key or when it "
                    + "ends; name apiclient_cert.pem as certificate.")
        }
        let now = Date(timeIntervalSince1970: TimeInterval(context.time.now.rawValue))
        let day = Timestamp(Int64(ends.timeIntervalSince1970)).utcDate
        guard now < ends else {
            return Diagnosis(
                .fault, "merchant certificate", "it ended on \(day); make a new one on the merchant platform.")
        }
        let isSoon = ends.timeIntervalSince(now) < 30 * 86_400
        return Diagnosis(
            isSoon ? .notice : .good, "merchant certificate",
            isSoon
                ? "it ends on \(day); make a new one on the merchant platform."
                : "it belongs to private_key and is good until \(day).")
    }

    private func platformCertificates() async -> Diagnosis {
        do throws(ProviderError) {
            try await api.platform.prepare()
            return Diagnosis(.good, "platform certificates", "fetched, and api_v3_key decrypts them.")
        } catch {
            return Diagnosis(
                .fault, "platform certificates",
                "none could be fetched and decrypted: WeChat Pay cannot be reached, the clock is wrong, "
                    + "certificate_serial or private_key is not the merchant's, or api_v3_key is not the APIv3 key. Where "
                    + "the merchant has a WeChat Pay public key instead, set public_key and public_key_id.")
        }
    }

    /// Queries an order that does not exist; the answer that there is none shows that the keys are accepted.
    private func question() async -> Diagnosis {
        let payment: ID<Payment> = IDSource(time: context.time, random: context.random).make()
        do throws(WeChatPayFailure) {
            let known = try await transaction(payment)
            return Diagnosis(
                .good, "question",
                known == nil
                    ? "a question about an order is answered, and the answer's signature is good."
                    : "a question about an order that nobody made has an answer.")
        } catch {
            switch error {
            case .refused(let refusal):
                return Diagnosis(
                    refusal.status >= 500 || refusal.status == 429 ? .notice : .fault, "question",
                    "WeChat Pay refused it with \(refusal.status) \(refusal.code ?? "")"
                        + (refusal.status == 401
                            ? ": mchid, certificate_serial and private_key do not belong together, or the clock is wrong."
                            : "."))
            case .unproven(.signature), .unproven(.time), .unproven(.certificate):
                return Diagnosis(
                    .fault, "question",
                    "the answer's signature is missing or wrong: public_key and public_key_id do not belong together, or "
                        + "somebody stands between.")
            case .notSent, .unanswered:
                return Diagnosis(.notice, "question", "no answer from \(settings.base).")
            case .unproven, .unsayable:
                return Diagnosis(.fault, "question", "the answer was about something else.")
            }
        }
    }
}
