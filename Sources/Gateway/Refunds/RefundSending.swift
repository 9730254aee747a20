import Domain
import ProviderKit
import Store

/// Sends refunds to their providers, and queries those whose outcome is unknown.
struct RefundSending: Sendable {
    let settlements: SettlementRunner

    private var store: StoreAccess { settlements.store }
    private var providers: ProviderCalling { settlements.providers }

    /// Sends a refund whose intent is durable, or queries it where the outcome of an earlier call is unknown.
    ///
    /// - Throws: `refundExceedsCaptured`, `providerRejected` (no money was returned), `providerUnavailable` (a job
    ///   repeats it).
    @discardableResult
    func send(_ id: ID<Refund>, audit: AuditContext) async throws(GatewayError) -> RefundView {
        let (refund, payment, reference) = try await store.read { db -> (Refund?, Payment?, String?) in
            let refund = try db.refunds.find(id)
            let payment = try refund.flatMap { try db.payments.find($0.payment).value()?.payment }
            // A further payment under the provider's only reference has none of its own, so the first one's is used.
            let original = try payment?.original.flatMap { try db.payments.find($0).value()?.payment }
            return (refund, payment, payment?.reference ?? original?.reference)
        }
        guard let refund, let payment else { throw .notFound }
        guard !refund.state.isFinal else { return try await refundView(id) }
        if refund.state == .created && !refund.counted {
            // A lost dispute took the amount that this refund had reserved. Once the refund may have been sent, only
            // its provider knows the outcome.
            guard refund.sentAt == nil else {
                try await settlements.run(audit) { try $0.refunds.markUnknown(refund) }
                return try await send(id, audit: audit)
            }
            let report = RefundReport(
                payment: payment.id, refund: id, outcome: .failed(reason: "nothing is left"), amount: nil)
            _ = try await settlements.run(audit) { try $0.apply(.refund(report), from: payment.account) }
            throw .refundExceedsCaptured
        }
        guard let account = providers.registry[payment.processor ?? payment.account] else { throw .providerUnavailable }
        // It was changed since it was read, so it is read again.
        guard let sentAt = try await sendingTime(of: refund) else { return try await send(id, audit: audit) }
        let attempt = RefundAttempt(
            refund: id,
            payment: ProviderReference(payment: payment.number, reference: reference, amount: payment.amount),
            amount: refund.amount, reason: refund.reason, reference: refund.reference, sentAt: sentAt,
            wasSent: refund.sentAt != nil)
        try await providers.complete { () async throws(GatewayError) in
            try await call(attempt, of: refund, at: account, audit: audit)
        }
        return try await refundView(id)
    }

    /// Returns the real time of a refund's last sending; for one that is about to be sent, the current time, which is stored
    /// before the call.
    ///
    /// Earlier releases did not store it; for their refunds it is the time of the first query.
    /// - Returns: nil where the refund was changed since it was read.
    private func sendingTime(of refund: Refund) async throws(GatewayError) -> Timestamp? {
        if refund.state != .created, let sentAt = refund.sentAt { return sentAt }
        let now = settlements.time.real.now
        return try await store.write { tx in try tx.refunds.markSent(refund.id, in: refund.state, at: now) } ? now : nil
    }

    /// Sends one refund of several; its errors are dropped, so that the caller continues with the next one.
    ///
    /// - Throws: `leaseLost`.
    func sendAmongOthers(_ id: ID<Refund>, audit: AuditContext) async throws(GatewayError) {
        try JobLease.requireRunning()
        do throws(GatewayError) {
            try await send(id, audit: audit)
        } catch {
            if error == .leaseLost { throw error }
        }
    }

    private func call(
        _ attempt: RefundAttempt, of refund: Refund, at account: ConfiguredAccount, audit: AuditContext
    ) async throws(GatewayError) {
        let report: RefundReport
        do throws(ProviderError) {
            let client = providers.client(of: account)
            report =
                refund.state == .created ? try await client.refund(attempt) : try await client.query(refund: attempt)
        } catch {
            switch error {
            // A refused query says nothing about the money: the refund may have succeeded.
            case .rejected where refund.state != .created, .unfit where refund.state != .created,
                .unsupported where refund.state != .created:
                throw .providerUnavailable
            case .rejected(let reason), .unfit(let reason):
                try await fail(refund, reason: reason, at: account, audit: audit)
            case .unsupported:
                try await fail(refund, reason: "this provider gives no money back", at: account, audit: audit)
            case .outcomeUnknown, .unproven:
                try await settlements.run(audit) { try $0.refunds.markUnknown(refund) }
                throw .providerUnavailable
            case .unavailable:
                throw .providerUnavailable
            }
        }
        _ = try await settlements.run(audit) { try $0.apply(.refund(report), from: account.id) }
    }

    private func fail(
        _ refund: Refund, reason: String, at account: ConfiguredAccount, audit: AuditContext
    ) async throws(GatewayError) -> Never {
        let report = RefundReport(
            payment: refund.payment, refund: refund.id, outcome: .failed(reason: reason), amount: nil)
        _ = try await settlements.run(audit) { try $0.apply(.refund(report), from: account.id) }
        throw .providerRejected(reason: reason)
    }

    private func refundView(_ id: ID<Refund>) async throws(GatewayError) -> RefundView {
        guard let refund = try await store.read({ db in try db.refunds.find(id) }) else { throw .notFound }
        return RefundView(refund: refund)
    }
}
