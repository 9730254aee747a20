package import Domain
import ProviderKit
import Store

/// Queries providers about payments and refunds that are not final, and applies the answers.
package struct Reconciliation: Sendable {
    let settlements: SettlementRunner
    let orders: Orders
    let attempts: PaymentAttempts
    let closing: OrderClosing
    let opening: PaymentOpening
    let sending: RefundSending
    let setups: MandateSetups

    /// Seconds between two refreshes of an order.
    private static let refreshInterval: Int64 = 5
    /// The days after which a payment of a closed order is no longer queried.
    private static let hangingDays: Int64 = 7
    /// The number of runs in which providers are asked to cancel attempts; after them the attempts count as cancelled.
    private static let closingRuns: Int64 = 3

    private var store: StoreAccess { settlements.store }
    private var time: BusinessTime { settlements.time }

    /// Queries the providers now about everything of an order that is not final.
    ///
    /// An open order that has expired is closed where no provider reports a payment.
    /// - Throws: `orderNotFound`, `rateLimited` within 5 s of the last time.
    package func refresh(
        _ order: String, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> OrderSnapshot {
        let found = try await orders.own(order, user: user)
        try await refresh(found.id, context)
        return try await orders.snapshot(found.id, audience: .user)
    }

    /// Refreshes any order, for an admin, like ``refresh(_:user:context:)``.
    package func refresh(_ order: String, context: CallContext) async throws(GatewayError) -> OrderSnapshot {
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        _ = try await orders.snapshot(id, audience: .admin)
        try await refresh(id, context)
        try await settlements.run(context.audit) { settlement in
            guard let unlocked = try settlement.tx.orders.find(id) else { return }
            try settlement.tx.users.lock(unlocked.user)
            guard let found = try settlement.tx.orders.lock(id) else { return }
            try settlement.log.audit(
                found, "order.refreshed", before: found.status.rawValue, after: "asked by an admin")
        }
        return try await orders.snapshot(id, audience: .admin)
    }

    private func refresh(_ order: ID<Order>, _ context: CallContext) async throws(GatewayError) {
        let now = time.real.now
        let claimed = try await store.write { tx in
            try tx.orders.claimRefresh(order, at: now, interval: Self.refreshInterval)
        }
        guard claimed else { throw .rateLimited(retryAfter: Self.refreshInterval) }
        try await reconcile(order, audit: context.audit)
    }

    /// Queries each payment, set-up and refund of an order that is not final and settles the answers.
    func reconcile(_ order: ID<Order>, audit: AuditContext) async throws(GatewayError) {
        let now = time.now
        let (expired, payments, refunds, setup) = try await store.read { db in
            let found = try db.orders.find(order)
            return (
                try found?.state == .open && db.orders.hasExpired(order, at: now) ? found : nil,
                try db.payments.list(of: order).value(), try db.refunds.list(of: order).value(),
                try found.flatMap { try OpenedSetupRecord.waiting(for: $0, from: db) }
            )
        }
        if let setup { _ = try await setups.settle(setup, cancels: expired != nil, audit: audit) }
        if expired == nil {
            for record in payments where !record.payment.state.isFinal {
                try JobLease.requireRunning()
                _ = try await attempts.query(record, audit: audit)
            }
        }
        for refund in refunds where !refund.state.isFinal { try await sending.sendAmongOthers(refund.id, audit: audit) }
        // The attempts of an expired order are cancelled where possible, so that they can no longer be paid.
        guard let expired else { return }
        do throws(GatewayError) {
            try await closing.close(expired, reason: "expired", audit: audit) { _ in }
        } catch {
            switch error {
            // It was paid, or a provider does not answer: the order stays open, and a later job queries again.
            case .orderNotOpen, .providerUnavailable, .requestInProgress: return
            default: throw error
            }
        }
    }

    /// Cancels the other attempts of a paid order, or those of a renewal that was closed, at providers that can.
    ///
    /// The attempts of a paid order all end here; if one of them is paid nevertheless, that is a second payment of the
    /// order. An attempt of a renewal whose provider does not answer is asked about until it does.
    func closeAttempts(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Order>(job.subject), let order = try await store.read({ db in try db.orders.find(id) }),
            order.state == .paid || (order.state == .closed && order.origin == .renewal)
        else { return .done }
        let cancelled = try await attempts.cancel(
            of: id, audit: job.audit, sparesCharges: order.state == .closed)
        guard cancelled.allAnswered || job.attempt > Self.closingRuns else { return .pending }
        try await settlements.run(job.audit) { settlement in
            try settlement.tx.users.lock(order.user)
            for payment in try settlement.tx.payments.list(of: id).value().map(\.payment) where !payment.state.isFinal {
                guard order.state == .paid else {
                    if payment.state == .created { try settlement.payments.markUnknown(payment.id) }
                    continue
                }
                let report = PaymentReport(payment: payment.id, outcome: .cancelled)
                _ = try settlement.apply(.payment(report), from: payment.account)
            }
        }
        return .done
    }

    /// Queries the providers about an expired order, and closes it where nothing was paid.
    func expireOrder(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Order>(job.subject) else { return .done }
        try await reconcile(id, audit: job.audit)
        let state = try await store.read { db in try db.orders.find(id)?.state }
        return state == .open ? .pending : .done
    }

    /// Queries a payment until it is final.
    func reconcilePayment(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Payment>(job.subject) else { return .done }
        let now = time.now
        let found = try await store.read { db -> (record: PaymentRecord, isDone: Bool)? in
            guard let record = try db.payments.find(id).value(),
                let order = try db.orders.find(record.payment.order)
            else { return nil }
            let payment = record.payment
            // The job that closes an expired order queries its payments.
            let isClosing = try order.state == .open && db.orders.hasExpired(order.id, at: now)
            let isOld = payment.createdAt.adding(days: Self.hangingDays) < now
            // A charge of a mandate can succeed without the payer, and then goes back.
            let isHanging = order.state != .open && payment.state != .unknown && record.mandate == nil && isOld
            return (record, payment.state.isFinal || isClosing || isHanging)
        }
        guard let found, !found.isDone else { return .done }
        let report = try await attempts.query(found.record, audit: job.audit)
        guard report != nil else { throw .providerUnavailable }
        let isFinal = try await store.read { db in try db.payments.find(id).value()?.payment.state.isFinal ?? true }
        return isFinal ? .done : .pending
    }

    /// Sends a refund that was not sent, or queries one that was, until it is final.
    func reconcileRefund(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Refund>(job.subject) else { return .done }
        do throws(GatewayError) {
            return try await sending.send(id, audit: job.audit).refund.state.isFinal ? .done : .pending
        } catch {
            switch error {
            // A refund that the provider refuses has failed, and that is recorded.
            case .providerRejected, .refundExceedsCaptured, .notFound, .unknown: return .done
            default: throw error
            }
        }
    }

    /// Completes the work of a request that ended without an answer, so that a repetition finds it done.
    ///
    /// The payment is opened with the idempotency key and the client's contract types of the first call; a refund is
    /// sent, and another job queries its outcome.
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
        let now = time.real.now
        try await store.write { tx in try tx.idempotencyKeys.complete(of: resource, at: now) }
        return .done
    }

    /// Sends a refund that was not sent, or queries it.
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
            // Attempts of earlier releases lack the contract types of their client.
            _ = try await opening.resume(payment, accepts: accepts ?? ContractType.base, audit: audit)
        } catch {
            // A refusal completes the request too, and is recorded.
            if case .providerRejected = error { return }
            throw error
        }
    }
}
