public import ProviderKit

extension EPayProvider: OnlineDiagnosing {
    /// Queries whether the service knows the merchant and its key.
    public func diagnose() async -> [Diagnosis] {
        do throws(EPayFailure) {
            return [
                try await api.merchant()
                    ? Diagnosis(.good, "merchant", "The service knows the merchant by this key.")
                    : Diagnosis(.fault, "merchant", "The service says that the merchant is closed.")
            ]
        } catch {
            switch error {
            case .notSent, .unanswered, .unproven, .unsayable:
                return [
                    Diagnosis(
                        .notice, "merchant",
                        "The service does not answer act=query now, or has no such call; check base and dialect.api_path."
                    )
                ]
            case .refused(let refusal):
                return [
                    Diagnosis(
                        .fault, "merchant",
                        "The service refuses pid and key (code \(refusal.code)): copy both from its console again.")
                ]
            }
        }
    }
}
