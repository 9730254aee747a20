import Domain
public import ProviderKit

/// The checks of `paydesk doctor` on an account: its key's mode, and whether Stripe accepts the key.
extension StripeProvider: SelfExamining, OnlineDiagnosing {
    public func examine() -> [Diagnosis] {
        guard isTestInProduction else { return [] }
        return [
            Diagnosis(
                .notice, "mode",
                "a test key in production mode: whoever knows Stripe's test cards pays with them. Set the live keys, "
                    + "or enabled: false")
        ]
    }

    /// Queries the newest payment, which every key must be able to read.
    public func diagnose() async -> [Diagnosis] {
        do throws(StripeFailure) {
            try await askForNewest()
            return [
                Diagnosis(
                    .good, "question", "secret_key opens \(settings.base), \(settings.isLive ? "live" : "test") mode.")
            ]
        } catch {
            return [Self.diagnosis(of: error, at: settings.base)]
        }
    }

    private func askForNewest() async throws(StripeFailure) {
        let query = StripeForm([("limit", .integer(1))])
        switch settings.mode {
        case .paymentIntent:
            let _: StripeObject.List<StripeObject.PaymentIntent> = try await api.get("payment_intents", query)
        case .checkoutSession:
            let _: StripeObject.List<StripeObject.CheckoutSession> = try await api.get("checkout/sessions", query)
        }
    }

    private static func diagnosis(of failure: StripeFailure, at base: String) -> Diagnosis {
        switch failure {
        case .notSent:
            Diagnosis(.fault, "question", "\(base) cannot be reached from here: check api_base, DNS and the firewall.")
        case .unanswered:
            Diagnosis(.notice, "question", "\(base) gave no answer: ask again later, and check api_base.")
        case .refused(let refusal) where refusal.status == 401:
            Diagnosis(
                .fault, "question", "Stripe does not take secret_key (401): it was rolled or deleted; copy it again.")
        case .refused(let refusal) where refusal.status == 403:
            Diagnosis(
                .fault, "question",
                "secret_key may not read payments (403): give the restricted key write access to PaymentIntents, "
                    + "Checkout Sessions and Refunds.")
        case .refused(let refusal) where refusal.status == 429 || refusal.status >= 500:
            Diagnosis(.notice, "question", "Stripe cannot answer now (\(refusal.status)): ask again later.")
        case .refused(let refusal):
            Diagnosis(
                .fault, "question", "Stripe refused with \(refusal.status) \(refusal.type ?? ""); check api_base.")
        case .unproven, .unsayable:
            Diagnosis(.fault, "question", "what \(base) answers is no list of Stripe's: check api_base.")
        }
    }
}
