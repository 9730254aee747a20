import Domain
import ProviderKit

/// A provider's call on a payment of its own, made first with a fault injected and then without one.
struct Trial: Sendable {
    let name: String
    /// True where it changes something at the payment service.
    let isChange: Bool
    /// Says what it gave.
    let run: @Sendable (any PaymentProvider) async throws -> String
    /// Looks at what the payment service has after the call was repeated in a healthy world.
    let examine: @Sendable (any PaymentProvider) async throws -> Void
}

extension ConformanceFixture {
    /// The calls that this provider has, each on payments that no other trial uses.
    func trials() async throws -> [Trial] {
        let provider = try provider()
        var trials = [try openingTrial(), try await queryTrial(provider)]
        if provider.contractTypes != [.none], manifest.cancel != .none {
            trials.append(try await cancelTrial(provider))
        }
        if manifest.refunds != .none, manifest.goods != .appleProducts {
            trials.append(try await refundTrial(provider))
            trials.append(try await refundQueryTrial(provider))
        }
        return trials
    }

    func openingTrial() throws -> Trial {
        let attempt = try attempt()
        return Trial(name: "open", isChange: true) { provider in
            let opened = try await provider.open(attempt)
            return "\(opened.instruction) \(opened.reference ?? "") \(opened.outcome)"
        } examine: { [self] _ in
            let payments = try await effects(of: attempt.payment).payments
            try expect(payments == 1, "the payment service has \(payments) payments for one")
        }
    }

    private func queryTrial(_ provider: any PaymentProvider) async throws -> Trial {
        let attempt = try attempt()
        let reference = reference(attempt, try await open(provider, attempt))
        return Trial(name: "query", isChange: false) { provider in
            "\(try await provider.query(reference))"
        } examine: { _ in
        }
    }

    func cancelTrial(_ provider: any PaymentProvider) async throws -> Trial {
        let attempt = try attempt()
        let reference = reference(attempt, try await open(provider, attempt))
        return Trial(name: "cancel", isChange: true) { provider in
            "\(try await provider.cancel(reference).outcome)"
        } examine: { [self] provider in
            let outcome = try await query(provider, reference).outcome
            try expect(!outcome.isSuccess, "a cancelled payment is \(outcome)")
            guard manifest.cancel == .definite else { return }
            try expect(outcome.isClosed, "a cancelled payment is \(outcome)")
            try expect(
                try await !rehearsal.act(.succeed, on: attempt.payment, in: context), "a closed payment could be paid")
        }
    }

    func refundTrial(_ provider: any PaymentProvider) async throws -> Trial {
        let payment = try await paid(provider)
        // Where a part can be given back, a second effect would fit into what is left and must not hide.
        let refund = refund(payment, manifest.refunds == .partial ? 1_000 : payment.amount.value)
        return Trial(name: "refund", isChange: true) { provider in
            let report = try await provider.refund(refund)
            return "\(report.outcome) \(report.reference ?? "")"
        } examine: { [self] _ in
            try await expectRefunded(payment, [refund.amount])
        }
    }

    private func refundQueryTrial(_ provider: any PaymentProvider) async throws -> Trial {
        let payment = try await paid(provider)
        let refund = refund(payment, payment.amount.value)
        let made = try await makeRefund(provider, refund)
        let known = RefundAttempt(
            refund: refund.refund, payment: payment, amount: refund.amount, reason: refund.reason,
            reference: made.reference)
        return Trial(name: "query(refund:)", isChange: false) { provider in
            "\(try await provider.query(refund: known).outcome)"
        } examine: { [self] _ in
            try await expectRefunded(payment, [refund.amount])
        }
    }

    /// Repeats a trial in a healthy world, where it has to work, and looks at the effects.
    @discardableResult
    func repeatHealthy(_ trial: Trial) async throws -> String {
        transport.interference = nil
        transport.crash.begin(nil)
        let provider = try provider()
        let said = try await value("\(trial.name), repeated,") { try await trial.run(provider) }
        try await trial.examine(provider)
        return said
    }
}

// Bounds.
extension ConformanceFixture {
    /// A single call of a provider's may ask its service so often.
    private static let callLimit = 100
    /// And take so long, by the clock of the kit.
    static let patience: Int64 = 180

    /// Runs a call that must end, whatever the service answers.
    func bounded<Value: Sendable>(
        _ what: String, _ call: @escaping @Sendable () async throws -> Value
    ) async throws -> Result<Value, ProviderError> {
        let begin = clock.now
        let end: CallEnd<Value> = await withCheckedContinuation { continuation in
            let once = Once(continuation)
            transport.limit.set(Self.callLimit) { once.resume(.never) }
            Task {
                do { once.resume(.value(try await call())) } catch { once.resume(.error(error)) }
            }
        }
        transport.limit.lift()
        let taken = clock.now.rawValue - begin.rawValue
        try expect(taken <= Self.patience, "\(what) took \(taken) s")
        return try await result {
            switch end {
            case .value(let value): return value
            case .error(let error): throw error
            case .never: throw CheckStop.failed("\(what) asks for ever: more than \(Self.callLimit) calls")
            }
        }
    }
}

private enum CallEnd<Value: Sendable>: Sendable {
    case value(Value)
    case error(any Error)
    case never
}
