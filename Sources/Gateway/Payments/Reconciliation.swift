package import Domain
import ProviderKit
import Store

/// Asks providers about payments and refunds whose outcome is not final, and settles the answers.
package struct Reconciliation: Sendable {
    let settlements: SettlementRunner
    let orders: Orders
    let attempts: PaymentAttempts
    let closing: OrderClosing
    let opening: PaymentOpening
    let sending: RefundSending

    /// Seconds between two refreshes of an order.
    private static let refreshInterval: Int64 = 5
    /// Days after which a payment of an order that is not open is not asked about any more.
    private static let hangingDays: Int64 = 7
    /// Runs in which providers are asked to cancel attempts, before these count as cancelled without an answer.
    private static let closingRuns: Int64 = 3

    private var store: StoreAccess { settlements.store }
    private var time: TimeSource { settlements.time }

    /// Asks the providers now about everything of an order that is not final.
    ///
    /// An open order that has expired is closed when no provider reports a payment.
    /// - Throws: `orderNotFound`, `rateLimited` within 5 s of the last time.
    package func refresh(
        _ order: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        let found = try await orders.own(order, user: user)
        let now = time.now
        let claimed = try await store.write { tx in
            try tx.orders.claimRefresh(found.id, at: now, interval: Self.refreshInterval)
        }
        guard claimed else { throw .rateLimited(retryAfter: Self.refreshInterval) }
        try await reconcile(found.id, audit: context.audit)
        return try await orders.snapshot(found.id, audience: .user)
    }

    /// Queries each payment and refund of an order that is not final and settles the answers.
    func reconcile(_ order: ID<Order>, audit: AuditContext) async throws(GatewayError) {
        let now = time.now
        let (expired, payments, refunds) = try await store.read { db in
            let found = try db.orders.find(order)
            return (
                try found?.state == .open && db.orders.hasExpired(order, at: now) ? found : nil,
                try db.payments.list(of: order).value().map(\.payment), try db.refunds.list(of: order).value()
            )
        }
        if expired == nil {
            for payment in payments where !payment.state.isFinal {
                try JobLease.requireRunning()
                try await attempts.ask(payment, audit: audit) { try? await $0.query($1) }
            }
        }
        for refund in refunds where !refund.state.isFinal { try await sending.sendAmongOthers(refund.id, audit: audit) }
        // An attempt of an expired order is cancelled where it can be, so that it cannot be paid any more.
        guard let expired else { return }
        do throws(GatewayError) {
            try await closing.close(expired, reason: "expired", audit: audit) { _ in }
        } catch {
            switch error {
            // It was paid after all, or a provider does not say yet: it stays open, and is asked about again.
            case .orderNotOpen, .providerUnavailable, .requestInProgress: return
            default: throw error
            }
        }
    }

    /// Cancels, where providers can, every other attempt of an order that is paid, and ends them all here.
    ///
    /// One that is paid all the same is a second payment of the order.
    func closeAttempts(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Order>(job.subject), let order = try await store.read({ db in try db.orders.find(id) }),
            order.state == .paid
        else { return .done }
        let cancelled = try await attempts.cancel(of: id, audit: job.audit)
        guard cancelled.allAnswered || job.attempt > Self.closingRuns else { return .pending }
        try await settlements.run(job.audit) { settlement in
            try settlement.tx.users.lock(order.user)
            for payment in try settlement.tx.payments.list(of: id).value().map(\.payment) where !payment.state.isFinal {
                let report = PaymentReport(payment: payment.id, outcome: .cancelled)
                _ = try settlement.apply(.payment(report), from: payment.account)
            }
        }
        return .done
    }

    /// Asks the providers about an expired order, and closes it when nothing was paid.
    func expireOrder(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Order>(job.subject) else { return .done }
        try await reconcile(id, audit: job.audit)
        let state = try await store.read { db in try db.orders.find(id)?.state }
        return state == .open ? .pending : .done
    }

    /// Asks about a payment until it is final.
    func reconcilePayment(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Payment>(job.subject) else { return .done }
        let now = time.now
        let found = try await store.read { db -> (payment: Payment, isDone: Bool)? in
            guard let payment = try db.payments.find(id).value()?.payment, let order = try db.orders.find(payment.order)
            else { return nil }
            // Where the order's time is over, the job that closes it asks.
            let isClosing = try order.state == .open && db.orders.hasExpired(order.id, at: now)
            let isOld = payment.createdAt.adding(days: Self.hangingDays) < now
            let isHanging = order.state != .open && payment.state != .unknown && isOld
            return (payment, payment.state.isFinal || isClosing || isHanging)
        }
        guard let found, !found.isDone else { return .done }
        let report = try await attempts.ask(found.payment, audit: job.audit) { try? await $0.query($1) }
        guard report != nil else { throw .providerUnavailable }
        let isFinal = try await store.read { db in try db.payments.find(id).value()?.payment.state.isFinal ?? true }
        return isFinal ? .done : .pending
    }

    /// Sends a refund that was not sent, or asks about one that was, until it is final.
    func reconcileRefund(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Refund>(job.subject) else { return .done }
        do throws(GatewayError) {
            return try await sending.send(id, audit: job.audit).refund.state.isFinal ? .done : .pending
        } catch {
            switch error {
            // What the provider refused has failed, and that is recorded.
            case .providerRejected, .refundExceedsCaptured, .notFound, .unknown: return .done
            default: throw error
            }
        }
    }

    /// Continues the work of a request that ended without an answer, so that a client that repeats it finds it done.
    ///
    /// A checkout is opened under the key that the cut call had, with the contract types of its client; a refund is sent,
    /// and another job asks for its outcome.
    func completeRequest(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        let resource = job.subject
        if let order = ID<Order>(resource) {
            let newest = try await store.read { db in try db.payments.list(of: order).value().last?.payment.id }
            try await complete(newest, of: order, audit: job.audit)
        } else if let payment = ID<Payment>(resource) {
            if let order = try await store.read({ db in try db.payments.find(payment).value()?.payment.order }) {
                try await complete(payment, of: order, audit: job.audit)
            }
        } else if let refund = ID<Refund>(resource) {
            guard try await isSent(refund, job) else { return .pending }
        }
        let now = time.now
        try await store.write { tx in try tx.idempotencyKeys.complete(of: resource, at: now) }
        return .done
    }

    /// Sends a refund that was not sent, or asks about it.
    ///
    /// - Returns: true where its provider may have it.
    private func isSent(_ refund: ID<Refund>, _ job: ClaimedJob) async throws(GatewayError) -> Bool {
        do throws(GatewayError) {
            _ = try await reconcileRefund(job)
        } catch {
            guard error == .providerUnavailable else { throw error }
        }
        return try await store.read { db in try db.refunds.find(refund)?.state != .created }
    }

    private func complete(
        _ payment: ID<Payment>?, of order: ID<Order>, audit: AuditContext
    ) async throws(GatewayError) {
        let now = time.now
        let (isOpen, accepts) = try await store.read { db in
            (
                try db.orders.find(order)?.state == .open && !db.orders.hasExpired(order, at: now),
                try payment.flatMap { try db.payments.find($0).value()?.accepts }
            )
        }
        guard let payment, isOpen else { return try await reconcile(order, audit: audit) }
        do throws(GatewayError) {
            // An attempt of an earlier release has no contract types of its client.
            _ = try await opening.resume(payment, accepts: accepts ?? ContractType.base, audit: audit)
        } catch {
            // A refusal is an end too, and it is recorded.
            if case .providerRejected = error { return }
            throw error
        }
    }
}
