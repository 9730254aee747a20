import Domain
public import ProviderKit

extension PiggyProvider {
    public func refund(_ refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        let body = ["amount": refund.amount.decimal, "currency": refund.amount.currency.code]
        let made: PiggyRefund? = try await calls.send("PUT", path(refund), body, key: refund.idempotencyKey)
        guard let made else { throw .rejected(reason: "unknown_payment") }
        return try report(made, refund)
    }

    public func query(refund: RefundAttempt) async throws(ProviderError) -> RefundReport {
        let known: PiggyRefund? = try await calls.send("GET", path(refund))
        guard let known else {
            // The call may still be on its way, so that is no end.
            return RefundReport(
                payment: refund.payment.payment, refund: refund.refund, outcome: .pending, amount: nil)
        }
        return try report(known, refund)
    }

    private func path(_ refund: RefundAttempt) -> String {
        "payments/\(refund.payment.payment.rawValue)/refunds/\(refund.refund.rawValue)"
    }

    private func report(_ known: PiggyRefund, _ refund: RefundAttempt) throws(ProviderError) -> RefundReport {
        guard known.number == refund.refund.rawValue,
            let amount = Money(decimal: known.amount, currency: refund.amount.currency)
        else { throw .outcomeUnknown }
        return RefundReport(
            payment: refund.payment.payment, refund: refund.refund, outcome: known.outcome, amount: amount)
    }
}

struct PiggyRefund: Decodable {
    let number: String
    let status: String
    let amount: String

    var outcome: RefundOutcome {
        switch status {
        case "done": .succeeded
        case "failed": .failed(reason: "refund_failed")
        default: .pending
        }
    }
}
