import Domain
import ProviderKit

/// Asking about a payment, taking its money once the payer approved, and making it impossible.
extension PayPalProvider {
    private struct Nothing: Encodable {}

    /// The result of a call for a capture.
    private struct CaptureAnswer {
        let outcome: PaymentOutcome
        /// Neither this capture nor one before it took the money.
        let isRefused: Bool
    }

    /// A cancelled payment whose money a capture may take yet.
    private static let underWay = PaymentOutcome.processing
    /// The seconds after its call in which a capture may take effect where its order does not show one.
    private static let captureSeconds: Int64 = 3_600
    /// The same where PayPal knows no such order any more.
    private static let missingSeconds: Int64 = 86_400

    /// - Throws: `foreign` unless it is this payment's.
    func check(_ order: PayPalObject.Order, _ payment: ID<Payment>) throws(PayPalFailure) {
        guard order.customID == payment.rawValue else { throw .foreign }
    }

    /// A payment's record, where what the caller names does not contradict it.
    private func record(_ payment: ProviderReference) async throws(ProviderError) -> PayPalRecord? {
        let record = try await ledger.record(payment.payment)
        if let known = record?.order, let named = payment.reference, known != named { throw .unproven(.otherPayment) }
        return record
    }

    func asking(_ payment: ProviderReference) async throws(ProviderError) -> PaymentReport {
        let record = try await record(payment)
        guard let id = record?.order ?? payment.reference else {
            return PaymentReport(
                payment: payment.payment,
                outcome: record?.state == .closed ? .cancelled : .pending(status: "not_found"))
        }
        return try await settling(payment.payment, id, record)
    }

    /// Returns the outcome of an order; captures one that the payer approved.
    ///
    /// - Parameter record: the payment's; where it was cancelled the order is not captured.
    func settling(
        _ payment: ID<Payment>, _ id: String, _ record: PayPalRecord?
    ) async throws(ProviderError) -> PaymentReport {
        PaymentReport(payment: payment, outcome: try await standing(payment, id, record), reference: id)
    }

    private func standing(
        _ payment: ID<Payment>, _ id: String, _ record: PayPalRecord?
    ) async throws(ProviderError) -> PaymentOutcome {
        let order: PayPalObject.Order
        let outcome: PaymentOutcome
        do throws(PayPalFailure) {
            order = try await api.order(id)
            try check(order, payment)
            outcome = try order.outcome()
        } catch {
            guard case .refused(let refusal) = error, refusal.isMissing else {
                throw error.providerError(afterChange: false)
            }
            // PayPal drops orders that nobody approved.
            return try await isOver(payment, record, after: Self.missingSeconds)
                ? .cancelled : .pending(status: "not_found")
        }
        switch (record?.state, outcome) {
        case (_, .succeeded): return outcome
        case (.closed?, _): return .cancelled
        case (.closing?, .accepted), (.closing?, .tryFailed):
            return try await isOver(payment, record, after: Self.captureSeconds) ? .cancelled : Self.underWay
        // A capture stands there, or the order's word is not known.
        case (.closing?, _): return outcome
        default:
            guard order.status == "APPROVED" else { return outcome }
            return try await capture(order, payment)
        }
    }

    /// Returns whether a cancelled payment has ended, where its order shows no capture.
    ///
    /// - Parameter seconds: for how long one may still be on its way.
    private func isOver(
        _ payment: ID<Payment>, _ record: PayPalRecord?, after seconds: Int64
    ) async throws(ProviderError) -> Bool {
        guard record?.state == .closing, let asked = record?.askedAt else { return record?.state == .closed }
        let now = context.time.now
        guard now > asked.adding(seconds: seconds) else { return false }
        return try await ledger.close(payment, at: now, evenCapturing: true).state == .closed
    }

    private func capture(
        _ order: PayPalObject.Order, _ payment: ID<Payment>
    ) async throws(ProviderError) -> PaymentOutcome {
        let record = try await ledger.beginCapture(payment, order.id, at: context.time.now)
        switch record.state {
        case .closed: return .cancelled
        case .closing: return Self.underWay
        case .open, .capturing: break
        }
        guard record.order == order.id else { throw .unproven(.otherPayment) }
        let answer: CaptureAnswer
        do throws(ProviderError) {
            answer = try await asked(capture: order, payment, refusals: record.refusals ?? 0)
        } catch {
            if case .rejected = error {
                await ledger.endCapture(payment, isRefused: true)
            } else {
                await ledger.endCapture(payment, isRefused: false)
            }
            throw error
        }
        switch answer.outcome {
        case .accepted, .pending, .tryFailed, .failed:
            await ledger.endCapture(payment, isRefused: answer.isRefused)
        case .succeeded, .cancelled: break
        }
        return answer.outcome
    }

    /// Captures an approved order, or finds it captured.
    ///
    /// - Parameter refusals: how many captures of it were refused before.
    private func asked(
        capture order: PayPalObject.Order, _ payment: ID<Payment>, refusals: Int
    ) async throws(ProviderError) -> CaptureAnswer {
        do throws(PayPalFailure) {
            // PayPal answers a key as it did before, so what follows a refusal is another capture; one whose answer was
            // lost keeps its key, and is still one.
            let turn = refusals == 0 ? "" : "-\(refusals)"
            let captured: PayPalObject.Order = try await api.post(
                "v2/checkout/orders/\(order.id)/capture", Nothing(), key: "\(payment.rawValue)-capture\(turn)")
            guard captured.id == order.id else { throw .foreign }
            try check(captured, payment)
            let outcome = try captured.outcome()
            switch outcome {
            case .accepted, .tryFailed, .failed: return CaptureAnswer(outcome: outcome, isRefused: true)
            case .pending, .succeeded, .cancelled: return CaptureAnswer(outcome: outcome, isRefused: false)
            }
        } catch {
            guard case .refused(let refusal) = error, refusal.status == 422 else {
                throw error.providerError(afterChange: true)
            }
            let outcome = try await meaning(refusal, order.id, payment)
            return CaptureAnswer(outcome: outcome, isRefused: refusal.refusesCapture)
        }
    }

    /// Returns the reason why a capture was refused; a word that is not known is no end.
    private func meaning(
        _ refusal: PayPalRefusal, _ id: String, _ payment: ID<Payment>
    ) async throws(ProviderError) -> PaymentOutcome {
        switch refusal.issue {
        case "ORDER_ALREADY_CAPTURED":
            do throws(PayPalFailure) {
                let order = try await api.order(id)
                try check(order, payment)
                return try order.outcome()
            } catch {
                let failure = error.providerError(afterChange: true)
                // It was captured, whatever is said of the order now.
                if case .rejected = failure { throw .outcomeUnknown }
                throw failure
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
        let record = try await ledger.close(payment.payment, at: context.time.now)
        guard let id = record.order ?? payment.reference else {
            return PaymentReport(payment: payment.payment, outcome: .cancelled)
        }
        return try await settling(payment.payment, id, record)
    }
}
