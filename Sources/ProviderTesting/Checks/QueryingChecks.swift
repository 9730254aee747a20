import Domain
import ProviderKit

extension Check {
    static let querying = [
        Check("an unpaid payment is not reported as paid") { stage in
            let provider = try stage.provider()
            let payment = try await stage.pending(provider)
            let outcome = try await stage.query(provider, payment).outcome
            try stage.expect(!outcome.isSuccess && !outcome.isClosed, "an unpaid payment is \(outcome)")
        },
        Check("a paid payment is reported with its exact amount") { stage in
            let provider = try stage.provider()
            for value: Int64 in [3990, 1] {
                let attempt = try stage.attempt(value)
                guard provider.amountFault(attempt.amount) == nil else { continue }
                let payment = try await stage.paid(provider, attempt)
                let outcome = try await stage.query(provider, payment).outcome
                try stage.expect(outcome == .succeeded(payment.amount), "\(payment.amount) paid is \(outcome)")
            }
        },
        Check("a failed payment is not reported as paid or waiting") { stage in
            try stage.needPayer()
            guard stage.rehearsal.payersCanFail else {
                throw CheckStop.notApplicable("at this service a payment is paid or not paid yet")
            }
            let provider = try stage.provider()
            let payment = try await stage.pending(provider)
            try stage.expect(
                try await stage.rehearsal.act(.fail, on: payment.payment, in: stage.context), "the payer could not fail"
            )
            let outcome = try await stage.query(provider, payment).outcome
            switch outcome {
            case .failed, .tryFailed, .cancelled: try stage.expect(true, "")
            case .accepted, .pending, .succeeded: try stage.expect(false, "a failed payment is \(outcome)")
            }
        },
        Check("a payment that was never opened is not paid, and stays closed once reported so") { stage in
            let provider = try stage.provider()
            let attempt = try stage.attempt()
            let outcome = try await stage.query(provider, stage.reference(attempt)).outcome
            try stage.expect(!outcome.isSuccess, "a payment that was never opened is \(outcome)")
            guard outcome.isClosed else { return }
            try await stage.expectClosed(attempt, provider)
        },
    ]
}

extension ConformanceFixture {
    /// Expects that the payment can no longer be paid, and that opening it again does not change that.
    func expectClosed(_ attempt: PaymentAttempt, _ provider: any PaymentProvider) async throws {
        switch try await result({ try await provider.open(attempt) }) {
        case .failure(let error):
            guard case .rejected = error else { throw CheckStop.failed("opening a closed payment threw \(error)") }
        case .success(let opened):
            try expect(!opened.outcome.isSuccess, "opening a closed payment is \(opened.outcome)")
        }
        try expect(
            try await !rehearsal.act(.succeed, on: attempt.payment, in: context), "a closed payment could be paid")
        let outcome = try await query(provider, reference(attempt)).outcome
        try expect(outcome.isClosed, "a closed payment is \(outcome)")
    }
}
