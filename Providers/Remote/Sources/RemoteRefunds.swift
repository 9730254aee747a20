import Domain
import ProviderKit

/// Giving money back, and asking what became of it.
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
        // By then its call is not on its way any more; the protocol has the plugin refuse it.
        let isOver = context.time.now > attempt.sentAt.adding(days: 1)
        if answer.refund.status == "not_found", attempt.reference == nil, isOver {
            report = RefundReport(
                payment: report.payment, refund: report.refund, outcome: .failed(reason: "never_arrived"), amount: nil)
        }
        return report
    }

    /// The amount is compared where one was asked for; a question may be about a refund of which only the plugin knows it.
    private func report(
        _ said: RemoteRefund, _ attempt: RefundAttempt, lost: ProviderError, isQuestion: Bool = false
    ) throws(ProviderError) -> RefundReport {
        // One that was made at the plugin has no id of ours there.
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
