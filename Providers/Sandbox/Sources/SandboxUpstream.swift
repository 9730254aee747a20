import Domain
import FoundationEssentials
import ProviderKit

/// The payment service that the sandbox simulates, with an entry of the account's book for each payment.
///
/// Every change is a compare-and-set of that entry, so repetitions and races have one effect.
struct SandboxUpstream: Sendable {
    /// The number of refunds that fit into an entry's 64 KiB.
    static let refundLimit = 256

    let book: any AccountBook
    let time: BusinessTime

    func payment(_ id: ID<Payment>) async throws(ProviderError) -> SandboxPayment? { try await entry(id.rawValue) }

    /// A payment or a set-up of the book.
    func entry(_ key: String) async throws(ProviderError) -> SandboxPayment? {
        try Self.read(try await book.value(key))
    }

    /// Opens a payment once; a repetition finds the payment of the first call.
    ///
    /// - Throws: `rejected` for a closed payment, and for another amount under a known id.
    func open(_ attempt: PaymentAttempt, paidAtOnce: Bool) async throws(ProviderError) -> SandboxPayment {
        let opened = SandboxPayment(attempt, status: paidAtOnce ? .succeeded : .pending)
        let stored = try await change(attempt.payment) { $0 == nil ? opened : nil } ?? opened
        let now = stored.settled(time.now)
        guard now.amount == attempt.amount else { throw .rejected(reason: "payment_id_reused") }
        guard now.status != .cancelled else { throw .rejected(reason: "payment_closed") }
        return now
    }

    /// Returns the current state.
    ///
    /// A query closes an unknown payment, whose opening never arrived: a late opening cannot succeed then, and the
    /// answer is definite.
    func settled(_ reference: ProviderReference) async throws(ProviderError) -> SandboxPayment {
        let now = time.now
        let unopened = SandboxPayment(unopened: reference.amount, status: .cancelled)
        return try await change(reference.payment) { known in
            guard let known else { return unopened }
            return known.isExpired(now) ? known.settled(now) : nil
        } ?? unopened
    }

    /// Cancels an unpaid payment; one that has ended stays as it is.
    func cancel(_ reference: ProviderReference) async throws(ProviderError) -> SandboxPayment {
        let unopened = SandboxPayment(unopened: reference.amount, status: .cancelled)
        return try await change(reference.payment) { known in
            guard var closed = known else { return unopened }
            guard closed.status == .pending else { return nil }
            closed.status = .cancelled
            return closed
        } ?? unopened
    }

    /// Performs the payer's act, while the payment waits for one.
    ///
    /// - Returns: the payment afterwards; nil where it is unknown.
    ///
    /// - Parameters:
    ///   - id: of a payment or of a set-up.
    ///   - form: the page's other fields, about the mandate that a success leaves behind.
    func act(
        _ id: String, _ act: SandboxPayerAct, _ event: SandboxPayment.Event, form: SandboxMandateForm
    ) async throws(ProviderError) -> SandboxPayment? {
        let now = time.now
        let after = try await change(key: id) { known in
            guard var moved = known?.settled(now), moved.status == .pending, moved.isCharge != true,
                let status = act.status
            else { return nil }
            moved.status = status
            moved.event = event
            moved.mandate?.instrument = form.instrument
            return moved
        }
        if let after, after.event == event, after.status == .succeeded, let mandate = after.mandate {
            try await changeAgreement(of: mandate.subscription) {
                $0.add(
                    mandate.mandate(leftBy: id).reference, instrument: mandate.instrument, renewals: form.renewals)
            }
        }
        return after
    }

    /// Refunds money, once for each refund id.
    ///
    /// A payment that is not paid in the book counts as paid from then on, because tests send notifications of payments
    /// without using the page.
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

    /// Makes a successful refund fail: the money stays with the merchant.
    func bounce(_ refund: ID<Refund>, of payment: ID<Payment>) async throws(ProviderError) {
        _ = try await change(payment) { known in
            guard var bounced = known, let made = bounced.refunds[refund.rawValue], made.succeeded else { return nil }
            bounced.refunds[refund.rawValue] = SandboxPayment.Refund(amount: made.amount, succeeded: false)
            return bounced
        }
    }

    /// Returns the current state of a refund.
    ///
    /// An unknown refund can no longer be made after this answer, as with payments.
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

    /// Returns the reason why a refund cannot be made; nil where it can.
    private static func refusal(_ attempt: RefundAttempt, of payment: SandboxPayment) -> String? {
        guard payment.refunds.count < refundLimit else { return "too_many_refunds" }
        guard attempt.amount.currency == payment.amount.currency else { return "refund_currency_differs" }
        guard attempt.amount.value > 0 else { return "refund_not_positive" }
        var left = payment.amount.value
        for refund in payment.refunds.values where refund.succeeded { left -= refund.amount.value }
        return attempt.amount.value <= left ? nil : "refund_exceeds_payment"
    }

    /// Replaces an entry and returns the stored one; the closure returns nil to leave it unchanged.
    func change(
        _ id: ID<Payment>, _ transition: @escaping @Sendable (SandboxPayment?) -> SandboxPayment?
    ) async throws(ProviderError) -> SandboxPayment? {
        try await change(key: id.rawValue, transition)
    }

    func change(
        key: String, _ transition: @escaping @Sendable (SandboxPayment?) -> SandboxPayment?
    ) async throws(ProviderError) -> SandboxPayment? {
        try Self.read(
            try await book.update(key) { data in
                let known = data.flatMap { try? JSONDecoder().decode(SandboxPayment.self, from: $0) }
                // An unreadable entry stays unchanged, and the call below fails.
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
