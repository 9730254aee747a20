import Domain
import ProviderKit

/// Makes refunds and queries them.
///
/// The refund's id is Alipay's `out_request_no`, by which a repeated refund is made only once.
extension AlipayProvider {
    func refunding(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        guard attempt.amount.currency == attempt.payment.amount.currency, attempt.amount.currency.code == "CNY" else {
            throw .rejected(reason: "refund_currency_differs")
        }
        guard attempt.amount.value > 0 else { throw .rejected(reason: "amount_not_positive") }
        do throws(AlipayFailure) {
            let made = try await api.makeRefund(attempt)
            if made.fund_change == "Y" {
                return RefundReport(
                    payment: attempt.payment.payment, refund: attempt.refund, outcome: .succeeded,
                    amount: attempt.amount)
            }
        } catch {
            throw error.providerError(afterChange: true)
        }
        // This call moved no money: an earlier one did, or will.
        return try await asking(attempt, afterChange: true)
    }

    func asking(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        try await asking(attempt, afterChange: false)
    }

    private func asking(_ attempt: RefundAttempt, afterChange: Bool) async throws(ProviderError) -> RefundReport {
        let known: AlipayRefund?
        do throws(AlipayFailure) {
            known = try await api.refund(attempt.refund.rawValue, of: attempt.payment)
        } catch {
            // After a call that may have moved money, even an unsent query leaves the outcome unknown.
            let meaning = error.providerError(afterChange: false)
            throw afterChange && meaning == .unavailable ? .outcomeUnknown : meaning
        }
        guard let known else {
            // A call may be under way for a day at most.
            let isOver = !afterChange && context.time.now > attempt.sentAt.adding(days: 1)
            return RefundReport(
                payment: attempt.payment.payment, refund: attempt.refund,
                outcome: isOver ? .failed(reason: "never_arrived") : .pending, amount: nil)
        }
        return RefundReport(
            payment: attempt.payment.payment, refund: attempt.refund, outcome: .succeeded, amount: known.amount)
    }
}

/// A refund that Alipay has made.
struct AlipayRefund: Sendable {
    let amount: Money
}

extension AlipayAPI {
    struct MadeRefund: Decodable {
        let out_trade_no: String?
        /// `Y` where this call moved money.
        let fund_change: String?
    }

    private struct KnownRefund: Decodable {
        let out_trade_no: String?
        let out_request_no: String?
        let refund_amount: String?
        let refund_status: String?
    }

    func makeRefund(_ attempt: RefundAttempt) async throws(AlipayFailure) -> MadeRefund {
        let made: MadeRefund = try await call(
            "alipay.trade.refund",
            attempt.payment.names.merging([
                "refund_amount": attempt.amount.decimal, "out_request_no": attempt.refund.rawValue,
            ]) { $1 })
        guard made.out_trade_no ?? attempt.payment.payment.rawValue == attempt.payment.payment.rawValue else {
            throw .foreign
        }
        return made
    }

    /// Finds a refund by its number; nil where Alipay has none, or none that has succeeded.
    func refund(_ number: String, of payment: ProviderReference) async throws(AlipayFailure) -> AlipayRefund? {
        let known: KnownRefund
        do throws(AlipayFailure) {
            known = try await call(
                "alipay.trade.fastpay.refund.query", payment.names.merging(["out_request_no": number]) { $1 })
        } catch {
            if case .refused(let refusal) = error, refusal.isMissing { return nil }
            throw error
        }
        guard known.out_trade_no ?? payment.payment.rawValue == payment.payment.rawValue,
            known.out_request_no ?? number == number
        else { throw .foreign }
        // Without these fields the query was valid, and there is no such refund: one that was not received, or that
        // failed, has no status.
        guard let text = known.refund_amount, !text.isEmpty, known.refund_status == "REFUND_SUCCESS" else { return nil }
        guard let amount = AlipayText.money(text), amount.value > 0 else { throw .unproven(.badMoney) }
        return AlipayRefund(amount: amount)
    }
}
