import Domain
import ProviderKit

/// Opening a payment.
extension PayPalProvider {
    private struct NewOrder: Encodable {
        struct Amount: Encodable {
            let currency_code: String
            let value: String
        }
        struct Unit: Encodable {
            let reference_id: String
            let custom_id: String
            let invoice_id: String
            let description: String
            let amount: Amount
        }
        struct Source: Encodable { let paypal: Wallet }
        struct Wallet: Encodable { let experience_context: Experience }
        struct Experience: Encodable {
            let return_url: String
            let cancel_url: String
            let user_action = "PAY_NOW"
            let shipping_preference = "NO_SHIPPING"
            let payment_method_preference = "IMMEDIATE_PAYMENT_REQUIRED"
            let brand_name: String?
        }

        let intent = "CAPTURE"
        let purchase_units: [Unit]
        let payment_source: Source
    }

    func opening(_ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment {
        if let fault = amountFault(attempt.amount) { throw .unfit(reason: fault.rawValue) }
        let order = try newOrder(attempt)
        // PayPal forgets a key after six hours, so what is known comes before the key.
        if let known = try await ledger.record(attempt.payment) {
            return try await opened(known, attempt)
        }
        let made: PayPalObject.Order
        do throws(PayPalFailure) {
            made = try await api.post("v2/checkout/orders", order, key: attempt.idempotencyKey)
            guard PayPalText.id(made.id) != nil else { throw .unanswered }
            try check(made, attempt.payment)
        } catch {
            throw error.providerError(afterChange: true)
        }
        let record: PayPalRecord
        // The order is made all the same.
        do throws(ProviderError) { record = try await ledger.open(attempt.payment, made.id) } catch {
            throw .outcomeUnknown
        }
        guard record.order == made.id, record.state != .closed else { return try await opened(record, attempt) }
        return try opened(made, attempt)
    }

    /// A payment of which something is known: the order that was made first, or that it is over.
    private func opened(_ record: PayPalRecord, _ attempt: PaymentAttempt) async throws(ProviderError) -> OpenedPayment
    {
        guard record.state != .closed, let id = record.order else { throw .rejected(reason: "payment_closed") }
        let order: PayPalObject.Order
        do throws(PayPalFailure) {
            order = try await api.order(id)
            try check(order, attempt.payment)
        } catch {
            if case .refused(let refusal) = error, refusal.isMissing { throw .rejected(reason: "order_expired") }
            throw error.providerError(afterChange: true)
        }
        return try opened(order, attempt)
    }

    private func opened(_ order: PayPalObject.Order, _ attempt: PaymentAttempt) throws(ProviderError) -> OpenedPayment {
        guard PayPalAmount.money(order.unit?.amount) == attempt.amount else { throw .unproven(.badMoney) }
        let outcome: PaymentOutcome
        do throws(PayPalFailure) { outcome = try order.outcome() } catch {
            throw error.providerError(afterChange: true)
        }
        if case .cancelled = outcome { throw .rejected(reason: "payment_closed") }
        // A paid order has no page any more: a question tells of that.
        guard let page = order.page, let address = WebAddress(page), address.isWeb,
            address.scheme == "https" || settings.base.hasPrefix("http://")
        else { throw .outcomeUnknown }
        return OpenedPayment(instruction: .url(checkoutURL: page), reference: order.id, outcome: outcome)
    }

    private func newOrder(_ attempt: PaymentAttempt) throws(ProviderError) -> NewOrder {
        let amount = NewOrder.Amount(
            currency_code: attempt.amount.currency.code, value: try PayPalAmount.text(attempt.amount))
        let back = attempt.returnURL ?? context.publicURL
        let title = attempt.title.isBlank ? attempt.order.rawValue : attempt.title
        let id = attempt.payment.rawValue
        let unit = NewOrder.Unit(
            reference_id: id, custom_id: id, invoice_id: id, description: title.cut(scalars: 127), amount: amount)
        return NewOrder(
            purchase_units: [unit],
            payment_source: NewOrder.Source(
                paypal: NewOrder.Wallet(
                    experience_context: NewOrder.Experience(
                        return_url: back, cancel_url: back,
                        brand_name: settings.brandName.isEmpty ? nil : settings.brandName))))
    }
}
