import Domain
public import ProviderKit

/// The checks of `paydesk doctor` on an account: its key's mode, whether Stripe accepts the key, and the events of the
/// webhook endpoint.
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
        } catch {
            return [Self.diagnosis(of: error, at: settings.base)]
        }
        let mode = settings.isLive ? "live" : "test"
        let key = Diagnosis(.good, "question", "secret_key opens \(settings.base), \(mode) mode.")
        return [key, await diagnosisOfWebhook()]
    }

    /// The events that are needed, by the purpose that they serve.
    private var neededEvents: [String] {
        let payments =
            settings.mode == .paymentIntent
            ? ["payment_intent.succeeded", "payment_intent.payment_failed", "payment_intent.canceled"]
            : ["checkout.session.completed", "checkout.session.expired", "payment_intent.succeeded"]
        let returns = ["charge.refunded", "refund.updated", "refund.failed", "charge.dispute.created"]
        guard chargesMandates else { return payments + returns }
        let setups =
            settings.mode == .paymentIntent
            ? ["setup_intent.succeeded", "setup_intent.setup_failed", "setup_intent.canceled"]
            : ["setup_intent.succeeded", "payment_intent.payment_failed"]
        return payments + returns + setups + ["payment_method.detached", "customer.deleted"]
    }

    /// Compares the endpoint's events with those that are needed.
    private func diagnosisOfWebhook() async -> Diagnosis {
        let list: StripeObject.List<StripeObject.WebhookEndpoint>
        do throws(StripeFailure) {
            list = try await api.get("webhook_endpoints", StripeForm([("limit", .integer(100))]), isList: true)
        } catch {
            return Diagnosis(
                .notice, "webhook",
                "the endpoint's events could not be read; a restricted key needs read access to Webhook Endpoints.")
        }
        guard let endpoint = list.data.first(where: { $0.url == context.notifyURL }) else {
            return Diagnosis(
                .notice, "webhook",
                "Stripe has no webhook endpoint with this account's address: payments are noticed late.")
        }
        guard endpoint.status != "disabled" else {
            return Diagnosis(.fault, "webhook", "the webhook endpoint is disabled at Stripe: enable it.")
        }
        let events = Set(endpoint.enabled_events ?? [])
        let missing = events.contains("*") ? [] : neededEvents.filter { !events.contains($0) }
        guard missing.isEmpty else {
            return Diagnosis(
                .fault, "webhook", "the webhook endpoint lacks \(missing.joined(separator: ", ")): add them at Stripe.")
        }
        return Diagnosis(.good, "webhook", "the webhook endpoint has the events that are needed.")
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
                    + "Checkout Sessions, Refunds, Customers, PaymentMethods and SetupIntents.")
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
