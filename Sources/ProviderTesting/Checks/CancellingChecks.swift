import Domain
import ProviderKit

extension Check {
    static let cancelling = [
        Check("a cancelled payment cannot be paid any more") { stage in
            try stage.need(.definite)
            let provider = try stage.provider()
            let attempt = try stage.attempt()
            let payment = try await stage.pending(provider, attempt)
            for turn in ["cancel", "cancelling again"] {
                let report = try await stage.value(turn) { try await provider.cancel(payment) }
                try stage.expect(report.payment == payment.payment, "\(turn) reports about \(report.payment)")
                try stage.expect(report.outcome.isClosed, "\(turn) gave \(report.outcome)")
            }
            try await stage.expectClosed(attempt, provider)
        },
        Check("cancelling a payment that was never opened closes it") { stage in
            try stage.need(.definite)
            let provider = try stage.provider()
            let attempt = try stage.attempt()
            let report = try await stage.value("cancel") { try await provider.cancel(stage.reference(attempt)) }
            try stage.expect(report.outcome.isClosed, "cancel gave \(report.outcome)")
            try await stage.expectClosed(attempt, provider)
        },
        Check("cancelling a paid payment reports that it is paid") { stage in
            try stage.need(.definite, .bestEffort)
            let provider = try stage.provider()
            let payment = try await stage.paid(provider)
            let report = try await stage.value("cancel") { try await provider.cancel(payment) }
            try stage.expect(report.outcome == .succeeded(payment.amount), "cancel gave \(report.outcome)")
            let outcome = try await stage.query(provider, payment).outcome
            try stage.expect(outcome == .succeeded(payment.amount), "after the cancel it is \(outcome)")
        },
        Check("cancelling by best effort ends well or says why not") { stage in
            try stage.need(.bestEffort)
            let provider = try stage.provider()
            let payment = try await stage.pending(provider)
            let report = try await stage.value("cancel") { try await provider.cancel(payment) }
            try stage.expect(!report.outcome.isSuccess, "cancelling an unpaid payment gave \(report.outcome)")
        },
        Check("cancelling is unsupported where the manifest has none") { stage in
            try stage.need(.none)
            let provider = try stage.provider()
            let payment = try await stage.pending(provider)
            try await stage.expect(.unsupported, "cancel") { try await provider.cancel(payment) }
        },
    ]
}

extension ConformanceFixture {
    fileprivate func need(_ cancellations: ProviderManifest.Cancellation...) throws {
        guard cancellations.contains(manifest.cancel) else {
            throw CheckStop.notApplicable("the manifest says cancel: \(manifest.cancel.rawValue)")
        }
    }
}
