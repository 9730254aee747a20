import Domain
import ProviderKit

/// A refund of WeChat Pay's; its state is `status` in an answer and `refund_status` in a notification.
struct WeChatPayRefund: Decodable, Sendable {
    struct Amount: Decodable, Sendable {
        let refund: Int64?
        let currency: String?
    }

    let mchid: String?
    let out_trade_no: String
    let transaction_id: String?
    let out_refund_no: String
    let refund_id: String?
    let status: String?
    let refund_status: String?
    let amount: Amount?

    var outcome: RefundOutcome {
        switch refund_status ?? status ?? "" {
        case "SUCCESS": .succeeded
        case "CLOSED": .failed(reason: "CLOSED")
        // This includes ABNORMAL: the money was sent but could not be returned to the card, and the merchant redirects
        // it.
        default: .pending
        }
    }

    /// - Throws: `unsayable` for an amount without an exact value.
    func money() throws(WeChatPayFailure) -> Money {
        guard let value = amount?.refund, value > 0, let currency = Currency(amount?.currency ?? "CNY") else {
            throw .unsayable("bad_amount")
        }
        return Money(value: value, currency: currency)
    }
}

/// Makes refunds and queries them.
extension WeChatPayProvider {
    private struct Request: Encodable {
        struct Amount: Encodable {
            let refund: Int64
            let total: Int64
            let currency: String
        }

        let out_trade_no: String
        let out_refund_no: String
        let notify_url: String
        let amount: Amount
    }

    /// Makes a refund; its number makes a repetition the same refund.
    func refunding(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        guard attempt.amount.currency == attempt.payment.amount.currency, attempt.amount.currency.code == "CNY" else {
            throw .rejected(reason: "refund_currency_differs")
        }
        guard attempt.amount.value > 0 else { throw .rejected(reason: "amount_not_positive") }
        let amount = Request.Amount(
            refund: attempt.amount.value, total: attempt.payment.amount.value, currency: attempt.amount.currency.code)
        let request = Request(
            out_trade_no: attempt.payment.payment.rawValue, out_refund_no: attempt.refund.rawValue,
            notify_url: context.notifyURL, amount: amount)
        do throws(WeChatPayFailure) {
            return try report(try await api.post("/v3/refund/domestic/refunds", request), attempt)
        } catch {
            throw error.providerError(afterChange: true)
        }
    }

    func asking(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        do throws(WeChatPayFailure) {
            return try report(try await api.get("/v3/refund/domestic/refunds/\(attempt.refund.rawValue)"), attempt)
        } catch {
            guard case .refused(let refusal) = error, refusal.isMissing else {
                throw error.providerError(afterChange: false)
            }
            // A call may be under way for a day at most. A refund that was made elsewhere has another number there.
            let isOver = attempt.reference == nil && context.time.now > attempt.sentAt.adding(days: 1)
            return RefundReport(
                payment: attempt.payment.payment, refund: attempt.refund,
                outcome: isOver ? .failed(reason: "never_arrived") : .pending, amount: nil)
        }
    }

    private func report(
        _ refund: WeChatPayRefund, _ attempt: RefundAttempt
    ) throws(WeChatPayFailure) -> RefundReport {
        guard refund.out_refund_no == attempt.refund.rawValue,
            refund.out_trade_no == attempt.payment.payment.rawValue
        else { throw .foreign }
        warn(of: refund)
        return RefundReport(
            payment: attempt.payment.payment, refund: attempt.refund, outcome: refund.outcome,
            amount: try refund.money(), reference: WeChatPayText.word(refund.refund_id))
    }

    func warn(of refund: WeChatPayRefund) {
        guard (refund.refund_status ?? refund.status) == "ABNORMAL" else { return }
        context.log.write(
            .warning, "wechat pay: a refund found no card to go to; direct it elsewhere on the merchant platform",
            ["refund": WeChatPayText.word(refund.out_refund_no) ?? ""])
    }
}
