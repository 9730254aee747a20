import Domain
import ProviderKit
import Store

/// The outcome of cancelling an order's attempts.
struct AttemptCancellation: Sendable {
    /// The attempts that were cancelled or queried.
    var asked: Set<ID<Payment>> = []
    /// The attempts that may still be paid.
    var uncertain: Set<ID<Payment>> = []
    var allAnswered = true
}

/// Queries and cancels the attempts to pay an order.
struct PaymentAttempts: Sendable {
    let settlements: SettlementRunner

    /// The number of rounds in which attempts are cancelled while others are made.
    static let cancellationRounds = 3

    private var store: StoreAccess { settlements.store }
    private var providers: ProviderCalling { settlements.providers }

    /// Cancels every attempt of an order that may still be paid; queries it where its provider cannot cancel.
    ///
    /// - Parameters:
    ///   - earlier: the outcome of an earlier round, whose attempts are left out.
    ///   - sparesCharges: true to leave out charges of mandates that were sent, which are only asked about.
    @discardableResult
    func cancel(
        of order: ID<Order>, audit: AuditContext, after earlier: AttemptCancellation = AttemptCancellation(),
        sparesCharges: Bool = false
    ) async throws(GatewayError) -> AttemptCancellation {
        var result = earlier
        let open = try await store.read { db in
            try db.payments.list(of: order).value().filter {
                !$0.payment.state.isFinal && !(sparesCharges && $0.isSentCharge)
            }.map(\.payment)
        }
        for payment in open where !result.asked.contains(payment.id) {
            result.asked.insert(payment.id)
            let account = providers.registry[payment.processor ?? payment.account]
            let report = try await ask(payment, audit: audit) { client, reference in
                if account?.manifest.cancel != ProviderManifest.Cancellation.none,
                    let report = try? await client.cancel(reference)
                {
                    return report
                }
                return try? await client.query(reference)
            }
            // Read again, because the account's service may have sent its manifest only now.
            let manifest = account?.manifest
            if report == nil, try await hasMoved(payment) {
                // A token is being charged meanwhile: its processor is queried in the next round.
                result.asked.remove(payment.id)
                continue
            }
            // If the provider can cancel with certainty, an attempt that was neither cancelled nor reported final
            // may still be paid.
            if !(report?.isAnswer(from: manifest) ?? false) { result.allAnswered = false }
            if report?.outcome != .cancelled || manifest?.cancel != .definite { result.uncertain.insert(payment.id) }
        }
        return result
    }

    /// True where another account charges the payment now than when it was read.
    private func hasMoved(_ payment: Payment) async throws(GatewayError) -> Bool {
        try await store.read { db in try db.payments.find(payment.id).value()?.payment.processor } != payment.processor
    }

    /// Queries a payment's provider and applies the answer.
    ///
    /// - Returns: nil where the provider did not answer, or answered about another payment.
    @discardableResult
    func ask(
        _ payment: Payment, audit: AuditContext,
        _ question: @escaping @Sendable (AccountClient, ProviderReference) async -> PaymentReport?
    ) async throws(GatewayError) -> PaymentReport? {
        guard let account = providers.registry[payment.processor ?? payment.account] else { return nil }
        let reference = ProviderReference(
            payment: payment.number, reference: payment.reference, amount: payment.amount)
        let report = await providers.perform { await question(providers.client(of: account), reference) }
        guard let report, report.payment == payment.number else { return nil }
        let counts = try await settlements.run(audit) { settlement in
            // A token was charged meanwhile, so that another account knows the state of the payment.
            guard let locked = try LockedPayment.lock(payment.id, in: settlement.tx),
                locked.payment.processor == payment.processor
            else {
                return false
            }
            try settlement.apply(report, from: account.id, to: locked)
            return true
        }
        return counts ? report : nil
    }

    /// Queries the current state of a payment.
    ///
    /// A charge of a mandate that its provider does not know is withdrawn, so that it can never take effect and the next
    /// try can begin; a payment that a payer opens may still be on its way.
    func query(_ record: PaymentRecord, audit: AuditContext) async throws(GatewayError) -> PaymentReport? {
        let isCharge = record.mandate != nil
        return try await ask(record.payment, audit: audit) { client, reference in
            guard let report = try? await client.query(reference) else { return nil }
            guard isCharge, report.outcome == .notFound else { return report }
            return (try? await client.cancel(reference)) ?? report
        }
    }
}

extension PaymentRecord {
    /// True for a charge of a mandate that its provider may have.
    fileprivate var isSentCharge: Bool { mandate != nil && payment.state != .created }
}

extension PaymentReport {
    /// True where the report settles the cancellation of its payment.
    fileprivate func isAnswer(from manifest: ProviderManifest?) -> Bool {
        switch outcome {
        case .cancelled, .failed, .succeeded: true
        case .accepted, .pending, .tryFailed: manifest?.cancel != .definite
        }
    }
}
