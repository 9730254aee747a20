import Domain
import ProviderKit

extension Check {
    static let refunding = [
        Check("a full refund gives the whole amount back once") { stage in
            try stage.need(.full, .partial)
            let provider = try stage.provider()
            let payment = try await stage.paid(provider)
            let refund = stage.refund(payment, payment.amount.value)
            try await stage.makeRefund(provider, refund)
            try await stage.expectRefunded(payment, [refund.amount])
        },
        Check("a refund repeated under its id has one effect") { stage in
            try stage.need(.full, .partial)
            let provider = try stage.provider()
            let payment = try await stage.paid(provider)
            // A partial refund where possible, because a second effect of a full one would exceed the amount and stay
            // hidden.
            let refund = stage.refund(payment, stage.manifest.refunds == .partial ? 1_000 : payment.amount.value)
            let first = try await stage.makeRefund(provider, refund)
            for instance in [provider, try stage.provider(), provider] {
                let again = try await stage.makeRefund(instance, refund)
                try stage.expect(again.outcome == first.outcome, "a repetition gave \(again.outcome)")
                try stage.expect(again.reference == first.reference, "a repetition gave another reference")
            }
            try await stage.expectRefunded(payment, [refund.amount])
        },
        Check("a refund of too much is refused without effect") { stage in
            try stage.need(.full, .partial)
            let provider = try stage.provider()
            let payment = try await stage.paid(provider)
            try await stage.expectNoRefund(provider, stage.refund(payment, payment.amount.value + 1))
            try await stage.expectRefunded(payment, [])
        },
        Check("partial refunds add up to the amount and no further") { stage in
            try stage.need(.partial)
            let provider = try stage.provider()
            let payment = try await stage.paid(provider)
            let parts = [stage.refund(payment, 1_000), stage.refund(payment, payment.amount.value - 1_000)]
            for part in parts { try await stage.makeRefund(provider, part) }
            try await stage.expectNoRefund(provider, stage.refund(payment, 1))
            try await stage.expectRefunded(payment, parts.map(\.amount))
        },
        Check("a partial refund is refused where the manifest has only full ones") { stage in
            try stage.need(.full)
            let provider = try stage.provider()
            let payment = try await stage.paid(provider)
            try await stage.expectNoRefund(provider, stage.refund(payment, 1_000))
            try await stage.expectRefunded(payment, [])
        },
        Check("a refund that was never made is not reported as made, and stays so once reported failed") { stage in
            try stage.need(.full, .partial)
            let provider = try stage.provider()
            let payment = try await stage.paid(provider)
            let refund = stage.refund(payment, payment.amount.value)
            let report = try await stage.value("query(refund:)") { try await provider.query(refund: refund) }
            try stage.expect(report.outcome != .succeeded, "a refund that was never made is \(report.outcome)")
            guard case .failed = report.outcome else { return }
            _ = try await stage.result { try await provider.refund(refund) }
            try await stage.expectRefunded(payment, [])
        },
        Check("a refund that waited for days before it was sent is not given up while its call may arrive") { stage in
            try stage.need(.full, .partial)
            let payment = try await stage.paid(try stage.provider())
            let waiting = stage.refund(payment, payment.amount.value)
            stage.clock.advance(seconds: 2 * 86_400)
            let sent = RefundAttempt(
                refund: waiting.refund, payment: payment, amount: waiting.amount, reason: waiting.reason,
                sentAt: stage.clock.now)
            let provider = try stage.provider()
            let report = try await stage.value("query(refund:)") { try await provider.query(refund: sent) }
            try stage.expect(report.outcome != .succeeded, "a refund that was never made is \(report.outcome)")
            guard case .failed = report.outcome else { return }
            _ = try await stage.result { try await provider.refund(sent) }
            try await stage.expectRefunded(payment, [])
        },
        Check("refunds are refused where the manifest has none") { stage in
            try stage.need(.none)
            let provider = try stage.provider()
            let attempt = try stage.attempt()
            let payment = stage.reference(attempt, try await stage.open(provider, attempt))
            let refund = stage.refund(payment, payment.amount.value)
            try await stage.expectRefusal("refund") { try await provider.refund(refund) }
            try await stage.expectRefusal("query(refund:)") { try await provider.query(refund: refund) }
        },
    ]
}

extension ConformanceFixture {
    fileprivate func need(_ refunds: ProviderManifest.Refunds...) throws {
        guard refunds.contains(manifest.refunds) else {
            throw CheckStop.notApplicable("the manifest says refunds: \(manifest.refunds.rawValue)")
        }
    }

    /// Makes a refund that must succeed, and checks that the service knows it.
    @discardableResult
    func makeRefund(_ provider: any PaymentProvider, _ refund: RefundAttempt) async throws -> RefundReport {
        let made = try await value("refund") { try await provider.refund(refund) }
        let known = RefundAttempt(
            refund: refund.refund, payment: refund.payment, amount: refund.amount, reason: refund.reason,
            reference: made.reference)
        let asked = try await value("query(refund:)") {
            try await provider.query(refund: known)
        }
        for (call, report) in [("refund", made), ("query(refund:)", asked)] {
            try expect(report.payment == refund.payment.payment, "\(call) reports about \(report.payment)")
            try expect(report.refund ?? refund.refund == refund.refund, "\(call) reports about another refund")
            try expect(report.amount ?? refund.amount == refund.amount, "\(call) reports another amount")
            try expect(report.outcome == .succeeded || report.outcome == .pending, "\(call) gave \(report.outcome)")
        }
        return made
    }

    /// Makes a refund that the provider must refuse, by an error or by its report.
    fileprivate func expectNoRefund(_ provider: any PaymentProvider, _ refund: RefundAttempt) async throws {
        switch try await result({ try await provider.refund(refund) }) {
        case .success(let report):
            guard case .failed = report.outcome else { return try expect(false, "the refund is \(report.outcome)") }
            try expect(true, "")
        case .failure(let error):
            guard case .rejected = error else { return try expect(false, "the refund threw \(error)") }
            try expect(true, "")
        }
    }

    /// Expects the amounts that the payment service gave back, in any order.
    func expectRefunded(_ payment: ProviderReference, _ amounts: [Money]) async throws {
        let refunds = try await effects(of: payment.payment).refunds
        try expect(
            refunds.map(\.description).sorted() == amounts.map(\.description).sorted(),
            "the payment service gave back \(refunds) instead of \(amounts)")
    }
}
