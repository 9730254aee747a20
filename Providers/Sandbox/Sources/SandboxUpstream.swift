import Domain
import FoundationEssentials
import ProviderKit

/// The payment service that the sandbox plays: one entry of the account's book for each payment.
///
/// Every change is one compare-and-set of that entry, so repetitions and races have one effect.
struct SandboxUpstream: Sendable {
    /// The number of refunds that fit the 64 KiB of an entry.
    static let refundLimit = 256

    let book: any AccountBook
    let time: TimeSource

    func payment(_ id: ID<Payment>) async throws(ProviderError) -> SandboxPayment? {
        try Self.read(try await book.value(id.rawValue))
    }

    /// Opens a payment once; a repetition finds what the first call made.
    ///
    /// - Throws: `rejected` for a payment that is closed, and for another amount under a known id.
    func open(_ attempt: PaymentAttempt, paidAtOnce: Bool) async throws(ProviderError) -> SandboxPayment {
        let opened = SandboxPayment(attempt, status: paidAtOnce ? .succeeded : .pending)
        let stored = try await change(attempt.payment) { $0 == nil ? opened : nil } ?? opened
        let now = stored.settled(time.now)
        guard now.amount == attempt.amount else { throw .rejected(reason: "payment_id_reused") }
        guard now.status != .cancelled else { throw .rejected(reason: "payment_closed") }
        return now
    }

    /// The present state.
    ///
    /// A payment that is not known, because its opening never arrived, is closed by asking: a late
    /// opening cannot succeed then, and the answer is definite.
    func settled(_ reference: ProviderReference) async throws(ProviderError) -> SandboxPayment {
        let now = time.now
        let unopened = SandboxPayment(unopened: reference.amount, status: .cancelled)
        return try await change(reference.payment) { known in
            guard let known else { return unopened }
            return known.isExpired(now) ? known.settled(now) : nil
        } ?? unopened
    }

    /// Closes a payment that is not paid; a payment that has ended stays as it is.
    func cancel(_ reference: ProviderReference) async throws(ProviderError) -> SandboxPayment {
        let unopened = SandboxPayment(unopened: reference.amount, status: .cancelled)
        return try await change(reference.payment) { known in
            guard var closed = known else { return unopened }
            guard closed.status == .pending else { return nil }
            closed.status = .cancelled
            return closed
        } ?? unopened
    }

    /// The payer's act, while the payment waits for one.
    ///
    /// - Returns: the payment afterwards; nil when it is not known.
    func act(
        _ id: ID<Payment>, _ act: SandboxPayerAct, _ event: SandboxPayment.Event
    ) async throws(ProviderError) -> SandboxPayment? {
        let now = time.now
        return try await change(id) { known in
            guard var moved = known?.settled(now), moved.status == .pending, let status = act.status else { return nil }
            moved.status = status
            moved.event = event
            return moved
        }
    }

    /// Gives money back, once for each refund id.
    ///
    /// A payment that the book does not call paid counts as paid from then on: tests send notifications of payments
    /// whose page nobody played, and the service believes its merchant.
    ///
    /// - Throws: `rejected` for more than is left of the payment.
    func refund(_ attempt: RefundAttempt) async throws(ProviderError) -> SandboxPayment.Refund {
        let key = attempt.refund.rawValue
        let unopened = SandboxPayment(unopened: attempt.payment.amount, status: .succeeded)
        let stored =
            try await change(attempt.payment.payment) { known in
                var paid = known ?? unopened
                guard paid.refunds[key] == nil, Self.refusal(attempt, of: paid) == nil else { return nil }
                paid.status = .succeeded
                paid.refunds[key] = SandboxPayment.Refund(amount: attempt.amount, succeeded: true)
                return paid
            } ?? unopened
        guard let refund = stored.refunds[key] else {
            throw .rejected(reason: Self.refusal(attempt, of: stored) ?? "refund_refused")
        }
        guard refund.amount == attempt.amount else { throw .rejected(reason: "refund_id_reused") }
        return refund
    }

    /// Takes a refund back that was made: the money stays with the merchant after all.
    func bounce(_ refund: ID<Refund>, of payment: ID<Payment>) async throws(ProviderError) {
        _ = try await change(payment) { known in
            guard var bounced = known, let made = bounced.refunds[refund.rawValue], made.succeeded else { return nil }
            bounced.refunds[refund.rawValue] = SandboxPayment.Refund(amount: made.amount, succeeded: false)
            return bounced
        }
    }

    /// The present state of a refund.
    ///
    /// One that is not known can never be made after this answer, as with payments.
    func settled(refund attempt: RefundAttempt) async throws(ProviderError) -> SandboxPayment.Refund {
        let key = attempt.refund.rawValue
        let never = SandboxPayment.Refund(amount: attempt.amount, succeeded: false)
        let unopened = SandboxPayment(unopened: attempt.payment.amount, status: .cancelled)
        let stored = try await change(attempt.payment.payment) { known in
            var asked = known ?? unopened
            guard asked.refunds[key] == nil, asked.refunds.count < Self.refundLimit else { return nil }
            asked.refunds[key] = never
            return asked
        }
        return stored?.refunds[key] ?? never
    }

    /// Returns the reason why a refund cannot be made; nil when it can.
    private static func refusal(_ attempt: RefundAttempt, of payment: SandboxPayment) -> String? {
        guard payment.refunds.count < refundLimit else { return "too_many_refunds" }
        guard attempt.amount.currency == payment.amount.currency else { return "refund_currency_differs" }
        guard attempt.amount.value > 0 else { return "refund_not_positive" }
        var left = payment.amount.value
        for refund in payment.refunds.values where refund.succeeded { left -= refund.amount.value }
        return attempt.amount.value <= left ? nil : "refund_exceeds_payment"
    }

    /// Replaces an entry and returns what is stored then; nil from the closure leaves it.
    func change(
        _ id: ID<Payment>, _ transition: @escaping @Sendable (SandboxPayment?) -> SandboxPayment?
    ) async throws(ProviderError) -> SandboxPayment? {
        try Self.read(
            try await book.update(id.rawValue) { data in
                let known = data.flatMap { try? JSONDecoder().decode(SandboxPayment.self, from: $0) }
                // An entry that cannot be read is left alone and ends the call below.
                guard data == nil || known != nil, let next = transition(known) else { return nil }
                return try? JSONEncoder().encode(next)
            })
    }

    private static func read(_ data: Data?) throws(ProviderError) -> SandboxPayment? {
        guard let data else { return nil }
        guard let payment = try? JSONDecoder().decode(SandboxPayment.self, from: data) else { throw .unavailable }
        return payment
    }
}
