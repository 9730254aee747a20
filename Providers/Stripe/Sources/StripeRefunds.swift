import Domain
import ProviderKit

/// Makes refunds and queries them.
extension StripeProvider {
    func refunding(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        guard attempt.amount.currency == attempt.payment.amount.currency else {
            throw .rejected(reason: "refund_currency_differs")
        }
        let amount = try StripeAmount(attempt.amount)
        let intent = try await intent(of: attempt.payment)
        do throws(StripeFailure) {
            // After Stripe has forgotten the key, the refund would be made twice.
            if isBeyondKeys(attempt.refund.madeAt), let known = try await refunds.made(attempt.refund, of: intent) {
                return try report(known, attempt)
            }
            return try report(try await refunds.make(attempt, amount, of: intent), attempt)
        } catch {
            throw error.providerError(afterChange: true)
        }
    }

    func asking(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        let intent = attempt.reference == nil ? try await intent(of: attempt.payment) : ""
        do throws(StripeFailure) {
            if let reference = attempt.reference {
                return try report(try await refunds.refund(reference), attempt)
            }
            if let known = try await refunds.made(attempt.refund, of: intent) { return try report(known, attempt) }
        } catch {
            throw error.providerError(afterChange: false)
        }
        // A call may be under way for a day at most.
        return RefundReport(
            payment: attempt.payment.payment, refund: attempt.refund,
            outcome: isBeyondKeys(attempt.sentAt) ? .failed(reason: "never_arrived") : .pending, amount: nil)
    }

    private var refunds: StripeRefundCalls { StripeRefundCalls(api: api) }

    private func report(
        _ refund: StripeObject.Refund, _ attempt: RefundAttempt
    ) throws(StripeFailure) -> RefundReport {
        let (payment, id) = (refund.metadata?[StripeMetadata.payment], refund.metadata?[StripeMetadata.refund])
        guard payment ?? attempt.payment.payment.rawValue == attempt.payment.payment.rawValue,
            id ?? attempt.refund.rawValue == attempt.refund.rawValue
        else { throw .foreign }
        guard let amount = StripeAmount.money(refund.amount, refund.currency) else { throw .unsayable("bad_amount") }
        return RefundReport(
            payment: attempt.payment.payment, refund: attempt.refund, outcome: refund.outcome, amount: amount,
            reference: refund.id)
    }

    /// Returns the PaymentIntent with the money.
    private func intent(of payment: ProviderReference) async throws(ProviderError) -> String {
        if let reference = payment.reference, reference.hasPrefix("pi_") { return reference }
        guard let known = try await find(payment) else { throw .unavailable }
        guard let intent = known.intent else { throw .rejected(reason: "payment_not_paid") }
        return intent
    }
}

extension StripeObject.Refund {
    /// The outcome; a success may still fail later, when the bank returns the money.
    var outcome: RefundOutcome {
        switch status {
        case "succeeded": .succeeded
        case "failed": .failed(reason: StripeText.word(failure_reason) ?? "refund_failed")
        case "canceled": .failed(reason: "refund_canceled")
        default: .pending
        }
    }
}

/// The calls about refunds.
struct StripeRefundCalls: Sendable {
    private static let pageLimit = 10

    let api: StripeAPI

    func refund(_ reference: String) async throws(StripeFailure) -> StripeObject.Refund {
        guard let id = StripeText.id(reference) else { throw .foreign }
        let refund: StripeObject.Refund = try await api.get("refunds/\(id)")
        guard refund.id == id else { throw .foreign }
        return refund
    }

    func make(
        _ attempt: RefundAttempt, _ amount: StripeAmount, of intent: String
    ) async throws(StripeFailure) -> StripeObject.Refund {
        let metadata = StripeForm([
            (StripeMetadata.refund, .text(attempt.refund.rawValue)),
            (StripeMetadata.payment, .text(attempt.payment.payment.rawValue)),
        ])
        let form = StripeForm([
            ("payment_intent", .text(intent)), ("amount", .integer(amount.value)), ("metadata", .map(metadata)),
        ])
        let made: (value: StripeObject.Refund, isReplayed: Bool) = try await api.post(
            "refunds", form, key: attempt.idempotencyKey)
        return made.isReplayed ? try await refund(made.value.id) : made.value
    }

    /// Finds the refund with our id; nil where none has it.
    func made(_ id: ID<Refund>, of intent: String) async throws(StripeFailure) -> StripeObject.Refund? {
        try await all(of: intent).first { $0.metadata?[StripeMetadata.refund] == id.rawValue }
    }

    /// Lists every refund of a PaymentIntent.
    ///
    /// - Throws: `unanswered` where there are more than a thousand.
    func all(of intent: String) async throws(StripeFailure) -> [StripeObject.Refund] {
        var refunds: [StripeObject.Refund] = []
        for _ in 0..<Self.pageLimit {
            let query = StripeForm([
                ("payment_intent", .text(intent)), ("limit", .integer(100)),
                ("starting_after", refunds.last.map { .text($0.id) }),
            ])
            let page: StripeObject.List<StripeObject.Refund> = try await api.get("refunds", query, isList: true)
            refunds += page.data
            guard page.has_more == true, !page.data.isEmpty else { return refunds }
        }
        throw .unanswered
    }
}
