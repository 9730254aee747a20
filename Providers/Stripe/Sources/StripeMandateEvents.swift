import Domain
import ProviderKit

// The facts of notifications about mandates: their charges, their set-ups and their end.
extension StripeEvents {
    /// Reads a charge of a mandate; a refused one is ended at Stripe first.
    ///
    /// States before that are in the middle of the charge's own call, which reports them itself.
    func chargeFacts(
        _ type: String, _ known: StripePayment, _ payment: ID<Payment>
    ) async throws(StripeFailure) -> [ProviderFact] {
        switch known.outcome {
        case .succeeded, .failed: return [.payment(known.report(payment))]
        case .accepted, .tryFailed, .cancelled:
            guard type == "payment_intent.payment_failed" else { return [] }
            return [.payment(try await provider.ended(known, payment))]
        case .pending: return []
        }
    }

    func setupFacts(_ intent: StripeObject.SetupIntent) async throws(StripeFailure) -> [ProviderFact] {
        guard let setup = StripeMetadata.setup(in: intent.metadata) else { return [] }
        let isOfSession = intent.metadata?[StripeMetadata.contract] == ContractType.url.rawValue
        let report = try await provider.report(StripeSetup(intent), setup)
        guard isOfSession else { return [.setup(report)] }
        // The session reports the end, and its id is the reference.
        guard case .succeeded = report.outcome else { return [] }
        return [.setup(SetupReport(setup: setup, outcome: report.outcome))]
    }

    /// Reads the end of one means of payment; the subscription is its customer's, or that of its latest charge where the
    /// customer was made elsewhere.
    func detachedFacts(
        _ method: StripeObject.PaymentMethod, _ customer: String?
    ) async throws(StripeFailure) -> [ProviderFact] {
        guard let customer = customer.flatMap(StripeText.id) else { return [] }
        do throws(StripeFailure) {
            guard let subscription = try await subscription(of: customer, method.id) else { return [] }
            return [.mandate(MandateReport(subscription: subscription, event: .ended(reference: method.id)))]
        } catch {
            // Stripe repeats the notification.
            if case .unproven = error { throw error }
            throw .unanswered
        }
    }

    private func subscription(
        of customer: String, _ method: String
    ) async throws(StripeFailure) -> ID<Subscription>? {
        guard let known = try await provider.customers.find(customer) else { return nil }
        if let own = StripeMetadata.subscription(in: known.metadata) { return own }
        let query = StripeForm([("customer", .text(customer)), ("limit", .integer(100))])
        let list: StripeObject.List<StripeObject.PaymentIntent> = try await api.get(
            "payment_intents", query, isList: true)
        return list.data.first { $0.payment_method?.id == method && $0.chargesMandate }
            .flatMap { StripeMetadata.subscription(in: $0.metadata) }
    }

    /// Reads the end of everything that a customer kept.
    ///
    /// A subscription may have had several customers, and those of its earlier mandates are deleted with them.
    static func deletedFacts(_ customer: StripeObject.Customer) -> [ProviderFact] {
        guard let subscription = StripeMetadata.subscription(in: customer.metadata) else { return [] }
        return [.mandate(MandateReport(subscription: subscription, event: .customerDeleted(customer.id)))]
    }
}
