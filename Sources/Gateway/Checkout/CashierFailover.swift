import Domain
import ProviderKit
import Store

extension Cashier {
    /// The number of further accounts that a request tries where its first does not answer; an account that finds the
    /// payment unfit does not count.
    private static let furtherAccounts = 2

    /// Opens a payment that this request has made; where its account does not answer, opens another one at the next
    /// account.
    ///
    /// The first payment is cancelled before that, as in another attempt of the client, so that nobody is charged
    /// twice.
    /// - Throws: the errors of ``PaymentOpening/open(_:accepts:audit:)``.
    func openPayment(
        _ intent: PaymentIntent, _ attempt: CheckoutAttempt, at candidates: CandidateAccounts
    ) async throws(GatewayError) -> PaymentContract {
        var further = candidates.accounts.dropFirst()
        var current = intent
        var unanswered = 0
        while true {
            let isLast = further.isEmpty || unanswered == Self.furtherAccounts
            let result = try await opening.tryOpening(
                current, accepts: attempt.request.accept, insists: candidates.insists || isLast,
                audit: attempt.context.audit)
            switch result {
            case .opened(let contract): return contract
            case .unfit(let reason): if further.isEmpty { throw .providerRejected(reason: reason) }
            case .unanswered, .neverSent:
                guard !isLast else { throw .providerUnavailable }
                unanswered += 1
                if case .neverSent = result { try await withdraw(current.payment.id, attempt) }
            }
            guard let next = further.popFirst() else { throw .providerUnavailable }
            current = try await replace(attempt, on: next)
        }
    }

    /// Continues with a payment that an earlier run under the same key made.
    ///
    /// Where that run ended between cancelling the payment and trying the next account, it continues with the best
    /// account that was not tried.
    ///
    /// - Throws: the errors of ``PaymentOpening/resume(_:accepts:audit:)``; `noProviderAvailable` where no other
    ///   account can take the payment.
    func resume(
        _ payment: ID<Payment>, _ attempt: CheckoutAttempt, user: ExternalUserID
    ) async throws(GatewayError) -> PaymentContract {
        let (order, payments) = try await store.read { db in
            (try db.orders.find(attempt.order), try db.payments.list(of: attempt.order).value())
        }
        // The cancelled attempts without a contract, from the newest back to the first that has one: these were the
        // failovers.
        let left = payments.filter { $0.payment.original == nil }.reversed().prefix {
            $0.instruction == nil && $0.payment.state == .cancelled
        }
        guard let order, order.state == .open, let amount = order.amount, left.first?.payment.id == payment,
            left.count <= Self.furtherAccounts
        else {
            return try await opening.resume(payment, accepts: attempt.request.accept, audit: attempt.context.audit)
        }
        var candidates = try await offers.candidates(for: order, amount, attempt.request, user: user)
        let tried = Set(left.map(\.payment.account))
        // Only one more account, because the limit counts the accounts of all runs of this request.
        candidates.accounts = Array(candidates.accounts.filter { !tried.contains($0.id) }.prefix(1))
        guard let next = candidates.accounts.first else { throw .noProviderAvailable }
        return try await openPayment(try await replace(attempt, on: next), attempt, at: candidates)
    }

    /// Cancels a payment that was not sent to its provider.
    private func withdraw(_ payment: ID<Payment>, _ attempt: CheckoutAttempt) async throws(GatewayError) {
        try await settlements.run(attempt.context.audit) { settlement in
            guard let found = try settlement.tx.payments.find(payment).value()?.payment else { return }
            // While this run holds the key, no other run has called the provider.
            try attempt.keepKey(for: payment, in: settlement.tx, at: settlement.now)
            let report = PaymentReport(payment: payment, outcome: .cancelled)
            _ = try settlement.apply(.payment(report), from: found.account)
        }
    }

    /// Cancels the order's payments, and writes the intent of one at another account.
    private func replace(
        _ attempt: CheckoutAttempt, on account: ConfiguredAccount
    ) async throws(GatewayError) -> PaymentIntent {
        guard let order = try await store.read({ db in try db.orders.find(attempt.order) }) else {
            throw .providerUnavailable
        }
        var cancelled = AttemptCancellation()
        let audit = attempt.context.audit
        do throws(GatewayError) {
            for _ in 0..<PaymentAttempts.cancellationRounds {
                cancelled = try await attempts.cancel(of: order.id, audit: audit, after: cancelled)
                let (earlier, keyRing) = (cancelled, contracts.keyRing)
                let next = try await settlements.run(audit) { settlement in
                    try OrderWriter(settlement).addAttempt(
                        order, on: account, attempt.request, earlier, sealedBy: keyRing
                    ) { tx, next in
                        try attempt.keepKey(for: next, in: tx, at: settlement.now)
                    }
                }
                if let next { return next }
            }
        } catch {
            // The payment turned out to be paid, and the order shows it; this request asked for a contract, and there
            // is none.
            throw error == .orderNotOpen ? .providerUnavailable : error
        }
        throw .requestInProgress
    }
}
