import Domain
import ProviderKit

/// A provider's call on a payment of its own, made first with a fault injected and then without one.
struct Trial: Sendable {
    let name: String
    /// True where the call changes something at the payment service.
    let isChange: Bool
    /// Makes the call and returns its result as text.
    let run: @Sendable (any PaymentProvider) async throws -> String
    /// Checks the state at the payment service after the call was repeated without faults.
    let examine: @Sendable (any PaymentProvider) async throws -> Void
}

/// Makes the trials of a check.
struct Trials: Sendable {
    let fixture: ConformanceFixture

    init(_ fixture: ConformanceFixture) { self.fixture = fixture }

    private var manifest: ProviderManifest { fixture.manifest }

    /// Makes a trial of each call of the provider, on payments that no other trial uses.
    func all() async throws -> [Trial] {
        let provider = try fixture.provider()
        var trials = [try opening(), try await query(provider)]
        if provider.contractTypes != [.none], manifest.cancel != .none {
            trials.append(try await cancel(provider))
        }
        if manifest.refunds != .none, manifest.goods != .appleProducts {
            trials.append(try await refund(provider))
            trials.append(try await refundQuery(provider))
        }
        return trials + (try await ofMandates())
    }

    func opening() throws -> Trial {
        let attempt = try fixture.attempt()
        return Trial(name: "open", isChange: true) { provider in
            let opened = try await provider.open(attempt)
            return "\(opened.instruction) \(opened.reference ?? "") \(opened.outcome)"
        } examine: { [fixture] _ in
            let payments = try await fixture.effects(of: attempt.payment).payments
            try fixture.expect(payments == 1, "the payment service has \(payments) payments for one")
        }
    }

    private func query(_ provider: any PaymentProvider) async throws -> Trial {
        let attempt = try fixture.attempt()
        let reference = fixture.reference(attempt, try await fixture.open(provider, attempt))
        return Trial(name: "query", isChange: false) { provider in
            "\(try await provider.query(reference))"
        } examine: { _ in
        }
    }

    func cancel(_ provider: any PaymentProvider) async throws -> Trial {
        let attempt = try fixture.attempt()
        let reference = fixture.reference(attempt, try await fixture.open(provider, attempt))
        return Trial(name: "cancel", isChange: true) { provider in
            "\(try await provider.cancel(reference).outcome)"
        } examine: { [fixture] provider in
            let outcome = try await fixture.query(provider, reference).outcome
            try fixture.expect(!outcome.isSuccess, "a cancelled payment is \(outcome)")
            guard fixture.manifest.cancel == .definite else { return }
            try fixture.expect(outcome.isClosed, "a cancelled payment is \(outcome)")
            try fixture.expect(
                try await !fixture.rehearsal.act(.succeed, on: attempt.payment, in: fixture.context),
                "a closed payment could be paid")
        }
    }

    func refund(_ provider: any PaymentProvider) async throws -> Trial {
        let payment = try await fixture.paid(provider)
        // A partial refund where possible, because a second effect of a full one would exceed the amount and stay
        // hidden.
        let refund = fixture.refund(payment, manifest.refunds == .partial ? 1_000 : payment.amount.value)
        return Trial(name: "refund", isChange: true) { provider in
            let report = try await provider.refund(refund)
            return "\(report.outcome) \(report.reference ?? "")"
        } examine: { [fixture] _ in
            try await fixture.expectRefunded(payment, [refund.amount])
        }
    }

    private func refundQuery(_ provider: any PaymentProvider) async throws -> Trial {
        let payment = try await fixture.paid(provider)
        let refund = fixture.refund(payment, payment.amount.value)
        let made = try await fixture.makeRefund(provider, refund)
        let known = RefundAttempt(
            refund: refund.refund, payment: payment, amount: refund.amount, reason: refund.reason,
            reference: made.reference)
        return Trial(name: "query(refund:)", isChange: false) { provider in
            "\(try await provider.query(refund: known).outcome)"
        } examine: { [fixture] _ in
            try await fixture.expectRefunded(payment, [refund.amount])
        }
    }
}

extension ConformanceFixture {
    /// Repeats a trial without faults, where it must succeed, and checks its effects.
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
    /// The most HTTP calls that a single call of a provider may make.
    private static let callLimit = 100
    /// The most seconds that it may take, by the clock of the kit.
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
