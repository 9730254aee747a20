import Domain
import ProviderKit

/// Makes refunds and queries them.
extension RemoteProvider {
    func refunding(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        switch try await rules().refunds {
        case .none: throw .unsupported
        case .full where attempt.amount != attempt.payment.amount: throw .rejected(reason: "refund_in_full_only")
        case .full, .partial: break
        }
        let answer: RemoteRefundAnswer = try await api.send(RemoteRequest(.refund, attempt))
        return try report(answer.refund, attempt, lost: .outcomeUnknown)
    }

    func asking(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        guard try await rules().refunds != .none else { throw .unsupported }
        let answer: RemoteRefundAnswer = try await api.send(RemoteRequest(.queryRefund, attempt))
        var report = try report(answer.refund, attempt, lost: .unavailable, isQuestion: true)
        // After this time the call is no longer under way; the protocol requires the plugin to refuse it.
        let isOver = context.time.now > attempt.sentAt.adding(days: 1)
        if answer.refund.status == "not_found", attempt.reference == nil, isOver {
            report = RefundReport(
                payment: report.payment, refund: report.refund, outcome: .failed(reason: "never_arrived"), amount: nil)
        }
        return report
    }

    /// Compares the amount with the requested one; in a query only the plugin may know it.
    private func report(
        _ said: RemoteRefund, _ attempt: RefundAttempt, lost: ProviderError, isQuestion: Bool = false
    ) throws(ProviderError) -> RefundReport {
        // A refund that was made at the plugin has no id of ours.
        let isNamed = said.refund_id == attempt.refund.rawValue
        let isReferred = said.refund_id == nil && attempt.reference != nil && said.reference == attempt.reference
        guard said.payment_id == attempt.payment.payment.rawValue, isNamed || isReferred else {
            throw lie("about another refund", .otherPayment, attempt.payment.payment, lost)
        }
        guard isQuestion || said.amount ?? attempt.amount == attempt.amount else {
            throw lie("another amount", .badMoney, attempt.payment.payment, lost)
        }
        return RefundReport(
            payment: attempt.payment.payment, refund: attempt.refund, outcome: said.outcome, amount: said.amount,
            reference: RemoteText.reference(said.reference))
    }
}
