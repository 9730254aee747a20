import Domain
import ProviderKit

/// Makes refunds and queries them.
///
/// The service has no number for a refund: only the order's own state shows one. That is only clear for a full refund,
/// so partial ones are refused.
extension EPayProvider {
    func refunding(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        guard settings.hasRefunds else { throw .unsupported }
        guard attempt.amount == attempt.payment.amount else { throw .rejected(reason: "refund_in_full_only") }
        let state: EPayOrder.State?
        do throws(EPayFailure) {
            state = try await api.order(attempt.payment.payment, attempt.payment.reference)?.state
        } catch {
            throw error.providerError(afterChange: false)
        }
        switch state {
        // Some refund was made, perhaps a partial one. It is ours only where our call was sent and its answer lost.
        case .refunded where attempt.wasSent: return report(attempt, .succeeded)
        case .refunded: throw .rejected(reason: "refunded_elsewhere")
        case .unpaid: throw .rejected(reason: "payment_not_paid")
        case .other, nil: throw .unavailable
        case .paid: break
        }
        do throws(EPayFailure) { try await api.refund(attempt.payment) } catch {
            throw error.providerError(afterChange: true)
        }
        return report(attempt, .succeeded)
    }

    func asking(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        guard settings.hasRefunds else { throw .unsupported }
        let state: EPayOrder.State?
        do throws(EPayFailure) {
            state = try await api.order(attempt.payment.payment, attempt.payment.reference)?.state
        } catch {
            throw error.providerError(afterChange: false)
        }
        switch state {
        case .refunded: return report(attempt, .succeeded)
        // A call may be under way for a day at most.
        case .paid where context.time.now > attempt.sentAt.adding(days: 1):
            return report(attempt, .failed(reason: "never_arrived"))
        default: return report(attempt, .pending)
        }
    }

    private func report(_ attempt: RefundAttempt, _ outcome: RefundOutcome) -> RefundReport {
        RefundReport(
            payment: attempt.payment.payment, refund: attempt.refund, outcome: outcome,
            amount: outcome == .succeeded ? attempt.payment.amount : nil)
    }
}
