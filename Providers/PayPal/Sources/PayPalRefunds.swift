import Domain
import ProviderKit

/// Giving money back, and asking what became of it.
extension PayPalProvider {
    private struct NewRefund: Encodable {
        struct Amount: Encodable {
            let currency_code: String
            let value: String
        }

        let amount: Amount
        let invoice_id: String
        let custom_id: String
    }

    func refunding(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        guard attempt.amount.currency == attempt.payment.amount.currency else {
            throw .rejected(reason: "refund_currency_differs")
        }
        let amount = NewRefund.Amount(
            currency_code: attempt.amount.currency.code, value: try PayPalAmount.text(attempt.amount))
        let order = try await paidOrder(attempt.payment)
        do throws(PayPalFailure) {
            // PayPal forgets keys, and a forgotten one would give the money back twice.
            if let known = order.refunds.first(where: { $0.invoice_id == attempt.refund.rawValue }) {
                return try report(known, attempt)
            }
            guard let capture = order.captures.first(where: \.hasMoney), let id = PayPalText.id(capture.id) else {
                throw .refused(PayPalRefusal(status: 422, name: "payment_not_paid"))
            }
            let request = NewRefund(
                amount: amount, invoice_id: attempt.refund.rawValue, custom_id: attempt.payment.payment.rawValue)
            return try report(
                try await api.post("v2/payments/captures/\(id)/refund", request, key: attempt.idempotencyKey), attempt)
        } catch {
            throw error.providerError(afterChange: true)
        }
    }

    func asking(_ attempt: RefundAttempt) async throws(ProviderError) -> RefundReport {
        if let reference = attempt.reference {
            do throws(PayPalFailure) {
                let known = try await api.refund(reference)
                try check(known, attempt)
                return try report(known, attempt.payment.payment, attempt.refund)
            } catch {
                throw error.providerError(afterChange: false)
            }
        }
        let order = try await paidOrder(attempt.payment)
        do throws(PayPalFailure) {
            if let known = order.refunds.first(where: { $0.invoice_id == attempt.refund.rawValue }) {
                return try report(known, attempt)
            }
        } catch {
            throw error.providerError(afterChange: false)
        }
        // A call may still be on its way; after a day none is.
        let isOver = context.time.now > attempt.sentAt.adding(days: 1)
        return RefundReport(
            payment: attempt.payment.payment, refund: attempt.refund,
            outcome: isOver ? .failed(reason: "never_arrived") : .pending, amount: nil)
    }

    /// The order that has the money, and all its refunds.
    private func paidOrder(_ payment: ProviderReference) async throws(ProviderError) -> PayPalObject.Order {
        let record = try await ledger.record(payment.payment)
        guard let id = record?.order ?? payment.reference else { throw .rejected(reason: "payment_not_paid") }
        do throws(PayPalFailure) {
            let order = try await api.order(id)
            try check(order, payment.payment)
            return order
        } catch {
            throw error.providerError(afterChange: false)
        }
    }

    private func report(_ refund: PayPalObject.Refund, _ attempt: RefundAttempt) throws(PayPalFailure) -> RefundReport {
        guard refund.invoice_id ?? attempt.refund.rawValue == attempt.refund.rawValue,
            refund.custom_id ?? attempt.payment.payment.rawValue == attempt.payment.payment.rawValue,
            PayPalText.id(refund.id) != nil
        else { throw .foreign }
        return try report(refund, attempt.payment.payment, attempt.refund)
    }

    /// Reads a refund that was made at PayPal and has no id of ours: it takes the capture's, which are the payment's,
    /// or has the merchant's own words.
    ///
    /// - Throws: `foreign` for a refund that names another payment or refund of ours.
    private func check(_ refund: PayPalObject.Refund, _ attempt: RefundAttempt) throws(PayPalFailure) {
        let named = refund.invoice_id.flatMap { ID<Refund>($0) } ?? attempt.refund
        let of = refund.custom_id.flatMap { ID<Payment>($0) } ?? attempt.payment.payment
        guard named == attempt.refund, of == attempt.payment.payment else { throw .foreign }
    }

    /// - Throws: `unsayable` for an amount that cannot be said exactly.
    func report(
        _ refund: PayPalObject.Refund, _ payment: ID<Payment>, _ id: ID<Refund>?
    ) throws(PayPalFailure) -> RefundReport {
        guard let amount = PayPalAmount.money(refund.amount) else { throw .unsayable("bad_amount") }
        return RefundReport(
            payment: payment, refund: id, outcome: refund.outcome, amount: amount, reference: refund.id)
    }
}

extension PayPalObject.Refund {
    /// A success may still fail later: the bank gives the money back.
    var outcome: RefundOutcome {
        switch status {
        case "COMPLETED": .succeeded
        case "FAILED", "CANCELLED": .failed(reason: "refund_\(status == "FAILED" ? "failed" : "cancelled")")
        default: .pending
        }
    }
}
