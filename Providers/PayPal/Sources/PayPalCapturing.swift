import Domain
import ProviderKit

/// Asking about a payment, taking its money once the payer approved, and making it impossible.
extension PayPalProvider {
    private struct Nothing: Encodable {}

    func order(_ id: String) async throws(PayPalFailure) -> PayPalObject.Order {
        guard let id = PayPalText.id(id) else { throw .foreign }
        let order: PayPalObject.Order = try await api.get("v2/checkout/orders/\(id)")
        guard order.id == id else { throw .foreign }
        return order
    }

    /// - Throws: `foreign` unless it is this payment's.
    func check(_ order: PayPalObject.Order, _ payment: ID<Payment>) throws(PayPalFailure) {
        guard order.customID == payment.rawValue else { throw .foreign }
    }

    /// A payment's record, where what the caller names does not contradict it.
    private func record(_ payment: ProviderReference) async throws(ProviderError) -> PayPalRecord? {
        let record = try await ledger.record(payment.payment)
        if let known = record?.order, let named = payment.reference, known != named { throw .invalidSignature }
        return record
    }

    func asking(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let record = try await record(payment)
        let isClosed = record?.state == .closed
        guard let id = record?.order ?? payment.reference else {
            return PaymentReport(
                payment: payment.payment, outcome: isClosed ? .cancelled : .pending(status: "not_found"))
        }
        return try await settling(payment.payment, id, isClosed: isClosed)
    }

    /// What an order is worth now; one that the payer approved is captured.
    ///
    /// - Parameter isClosed: the payment was cancelled, so it is not.
    func settling(_ payment: ID<Payment>, _ id: String, isClosed: Bool) async throws(ProviderError) -> PaymentReport {
        let order: PayPalObject.Order
        let outcome: PaymentOutcome
        do throws(PayPalFailure) {
            order = try await self.order(id)
            try check(order, payment)
            outcome = try order.outcome()
        } catch {
            guard case .refused(let refusal) = error, refusal.isMissing else {
                throw error.providerError(afterChange: false)
            }
            // PayPal drops orders that nobody approved.
            return PaymentReport(
                payment: payment, outcome: isClosed ? .cancelled : .pending(status: "not_found"), reference: id)
        }
        if case .succeeded = outcome { return PaymentReport(payment: payment, outcome: outcome, reference: id) }
        if isClosed { return PaymentReport(payment: payment, outcome: .cancelled, reference: id) }
        guard order.status == "APPROVED" else {
            return PaymentReport(payment: payment, outcome: outcome, reference: id)
        }
        return PaymentReport(payment: payment, outcome: try await capture(order, payment), reference: id)
    }

    private func capture(
        _ order: PayPalObject.Order, _ payment: ID<Payment>
    ) async throws(ProviderError) -> PaymentOutcome {
        let record = try await ledger.beginCapture(payment, order.id)
        guard record.state != .closed else { return .cancelled }
        guard record.order == order.id else { throw .invalidSignature }
        let outcome: PaymentOutcome
        do throws(ProviderError) {
            outcome = try await asked(capture: order, payment)
        } catch {
            if case .rejected = error {
                await ledger.endCapture(payment, isRefused: true)
            } else {
                await ledger.endCapture(payment, isRefused: false)
            }
            throw error
        }
        switch outcome {
        case .accepted, .tryFailed, .failed: await ledger.endCapture(payment, isRefused: true)
        case .pending: await ledger.endCapture(payment, isRefused: false)
        case .succeeded, .cancelled: break
        }
        return outcome
    }

    /// Captures an approved order, or finds it captured.
    private func asked(
        capture order: PayPalObject.Order, _ payment: ID<Payment>
    ) async throws(ProviderError) -> PaymentOutcome {
        do throws(PayPalFailure) {
            // After a declined card the payer approves again, which is another capture; of one approval there is one.
            let approval =
                order.update_time.map { "-" + String($0.filter { $0.isASCII && $0.isNumber }.prefix(20)) } ?? ""
            let captured: PayPalObject.Order = try await api.post(
                "v2/checkout/orders/\(order.id)/capture", Nothing(), key: "\(payment.rawValue)-capture\(approval)")
            guard captured.id == order.id else { throw .foreign }
            try check(captured, payment)
            return try captured.outcome()
        } catch {
            guard case .refused(let refusal) = error, refusal.status == 422 else {
                throw error.providerError(afterChange: true)
            }
            return try await meaning(refusal, order.id, payment)
        }
    }

    /// Why a capture was refused; a word that is not known is no end.
    private func meaning(
        _ refusal: PayPalRefusal, _ id: String, _ payment: ID<Payment>
    ) async throws(ProviderError) -> PaymentOutcome {
        switch refusal.issue {
        case "ORDER_ALREADY_CAPTURED":
            do throws(PayPalFailure) {
                let order = try await order(id)
                try check(order, payment)
                return try order.outcome()
            } catch {
                throw error.providerError(afterChange: true)
            }
        case "ORDER_NOT_APPROVED", "PAYER_ACTION_REQUIRED": return .accepted
        case "INSTRUMENT_DECLINED", "TRANSACTION_REFUSED", "PAYER_CANNOT_PAY":
            return .tryFailed(reason: refusal.reason)
        case "MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED": return .failed(reason: refusal.reason)
        default: return .pending(status: refusal.reason)
        }
    }

    func cancelling(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        _ = try await record(payment)
        let record = try await ledger.close(payment.payment)
        guard let id = record.order ?? payment.reference else {
            return PaymentReport(payment: payment.payment, outcome: .cancelled)
        }
        let report = try await settling(payment.payment, id, isClosed: record.state == .closed)
        guard record.state == .capturing else { return report }
        switch report.outcome {
        // No capture took effect, and none may any more.
        case .accepted, .tryFailed:
            _ = try await ledger.close(payment.payment, evenCapturing: true)
            return PaymentReport(payment: payment.payment, outcome: .cancelled, reference: id)
        case .pending, .succeeded, .failed, .cancelled: return report
        }
    }
}
