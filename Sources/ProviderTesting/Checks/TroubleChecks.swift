import Domain
import ProviderKit

extension Check {
    static let troubles = [
        Check("a lost reply to an opening is an unknown outcome with one effect") { stage in
            try await stage.needCallingOpen()
            let attempt = try stage.attempt()
            let losing = try stage.provider(.lostReplies)
            try await stage.expect(.outcomeUnknown, "open") {
                try await losing.open(attempt)
            }
            let provider = try stage.provider()
            let outcome = try await stage.query(provider, stage.reference(attempt)).outcome
            let paidAtOnce = provider.contractTypes == [.none]
            try stage.expect(outcome.isSuccess == paidAtOnce && !outcome.isClosed, "the query says \(outcome)")
            _ = try await stage.open(provider, attempt)
            let payments = try await stage.effects(of: attempt.payment).payments
            try stage.expect(payments == 1, "the payment service has \(payments) payments for one")
        },
        Check("a lost reply to a refund is an unknown outcome with one effect") { stage in
            try stage.needRefunds()
            let payment = try await stage.paid(try stage.provider())
            let refund = stage.refund(payment, payment.amount.value)
            let losing = try stage.provider(.lostReplies)
            try await stage.expect(.outcomeUnknown, "refund") {
                try await losing.refund(refund)
            }
            try await stage.makeRefund(try stage.provider(), refund)
            try await stage.expectRefunded(payment, [refund.amount])
        },
        Check("a lost reply to a cancel is an unknown outcome") { stage in
            try stage.needCancel()
            let attempt = try stage.attempt()
            let payment = try await stage.pending(try stage.provider(), attempt)
            let losing = try stage.provider(.lostReplies)
            let asked = stage.transport.requests.count
            let end = try await stage.result { try await losing.cancel(payment) }
            let changed = stage.transport.requests[asked...].contains(where: stage.rehearsal.changesSomething)
            if case .success = end, asked > 0, !changed {
                throw CheckStop.notApplicable("its cancel changes nothing at the payment service")
            }
            try stage.expect(end.failure == .outcomeUnknown, "cancel gave \(end) instead of outcomeUnknown")
            let outcome = try await stage.query(try stage.provider(), payment).outcome
            try stage.expect(!outcome.isSuccess, "the query says \(outcome)")
        },
        Check("an unavailable service changes nothing") { stage in
            try await stage.needCallingOpen()
            let attempt = try stage.attempt()
            let failing = try stage.provider(.unavailable)
            try await stage.expect(.unavailable, "open") {
                try await failing.open(attempt)
            }
            let none = try await stage.effects(of: attempt.payment).payments
            try stage.expect(none == 0, "the payment service has \(none) payments")
            let again = try await stage.open(try stage.provider(), attempt)
            let reference = stage.reference(attempt, again)
            let other = try stage.provider(.unavailable)
            try await stage.expect(.unavailable, "query") {
                try await other.query(reference)
            }
        },
        Check("an unavailable service refunds nothing") { stage in
            try stage.needRefunds()
            let payment = try await stage.paid(try stage.provider())
            let refund = stage.refund(payment, payment.amount.value)
            let failing = try stage.provider(.unavailable)
            try await stage.expect(.unavailable, "refund") {
                try await failing.refund(refund)
            }
            try await stage.expectRefunded(payment, [])
            try await stage.makeRefund(try stage.provider(), refund)
            try await stage.expectRefunded(payment, [refund.amount])
        },
        Check("a slow service changes no result") { stage in
            try await stage.needCallingOpen()
            let attempt = try stage.attempt()
            let slow = try await stage.open(try stage.provider(.slow), attempt)
            let fast = try await stage.open(try stage.provider(), attempt)
            try stage.expect(slow.instruction == fast.instruction, "a slow opening gave another instruction")
            let payment = stage.reference(attempt, fast)
            let report = try await stage.query(try stage.provider(.slow), payment)
            try stage.expect(
                try await stage.query(try stage.provider(), payment) == report, "a slow query gave another report")
            guard stage.manifest.refunds != .none else { return }
            let paid = try await stage.paid(try stage.provider())
            let refund = stage.refund(paid, paid.amount.value)
            try await stage.makeRefund(try stage.provider(.slow), refund)
            try await stage.expectRefunded(paid, [refund.amount])
        },
    ]
}

extension ConformanceFixture {
    fileprivate func needRefunds() throws {
        if manifest.refunds == .none { throw CheckStop.notApplicable("the manifest has no refunds") }
    }

    fileprivate func needCancel() throws {
        if manifest.cancel == .none { throw CheckStop.notApplicable("the manifest has no cancel") }
        if try provider() is any InstrumentVerifying {
            throw CheckStop.notApplicable("nobody is asked to close what a wallet would pay")
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
