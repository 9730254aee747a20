import Domain
import ProviderKit
import Store

extension Gateway {
    private static let hangingDays: Int64 = 7

    /// Asks the providers about an order whose time is over, and closes it when nothing was paid.
    func expireOrder(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Order>(job.subject) else { return .done }
        try await reconcile(id, cause: cause(job))
        let state = try await read { db in try db.orders.find(id)?.state }
        return state == .open ? .pending : .done
    }

    /// Asks about a payment until it is final.
    func reconcilePayment(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Payment>(job.subject) else { return .done }
        let now = time.now
        let found = try await read { db -> (payment: Payment, isDone: Bool)? in
            guard let payment = try db.payments.find(id).value()?.payment, let order = try db.orders.find(payment.order)
            else { return nil }
            // Where the order's time is over, the job that closes it asks.
            let isClosing = try order.state == .open && db.orders.hasExpired(order.id, at: now)
            let isOld = payment.createdAt.adding(days: Self.hangingDays) < now
            let isHanging = order.state != .open && payment.state != .unknown && isOld
            return (payment, payment.state.isFinal || isClosing || isHanging)
        }
        guard let found, !found.isDone else { return .done }
        let report = try await ask(found.payment, cause: cause(job)) { try? await $0.query($1) }
        guard report != nil else { throw .providerUnavailable }
        let isFinal = try await read { db in try db.payments.find(id).value()?.payment.state.isFinal ?? true }
        return isFinal ? .done : .pending
    }

    /// Sends a refund that was not sent, or asks about one that was, until it is final.
    func reconcileRefund(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Refund>(job.subject) else { return .done }
        do throws(GatewayError) {
            return try await executeRefund(id, cause: cause(job)).refund.state.isFinal ? .done : .pending
        } catch {
            switch error {
            // What the provider refused has failed, and that is recorded.
            case .providerRejected, .refundExceedsCaptured, .notFound, .unknown: return .done
            default: throw error
            }
        }
    }

    /// Goes on with what a request made that ended without an answer, so that a client that comes back finds it done.
    ///
    /// A checkout is opened under the key that the cut call had, and as its client takes it; a refund is sent, and how it
    /// ends is another job's to ask.
    func completeRequest(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        let resource = job.subject
        if let order = ID<Order>(resource) {
            let newest = try await read { db in try db.payments.list(of: order).value().last?.payment.id }
            try await complete(newest, of: order, cause: cause(job))
        } else if let payment = ID<Payment>(resource) {
            if let order = try await read({ db in try db.payments.find(payment).value()?.payment.order }) {
                try await complete(payment, of: order, cause: cause(job))
            }
        } else if let refund = ID<Refund>(resource) {
            guard try await isSent(refund, job) else { return .pending }
        }
        let now = time.now
        try await write { tx in try tx.idempotencyKeys.complete(of: resource, at: now) }
        return .done
    }

    /// Sends a refund that was not sent, or asks about it.
    ///
    /// - Returns: whether its provider may have it.
    private func isSent(_ refund: ID<Refund>, _ job: ClaimedJob) async throws(GatewayError) -> Bool {
        do throws(GatewayError) {
            _ = try await reconcileRefund(job)
        } catch {
            guard error == .providerUnavailable else { throw error }
        }
        return try await read { db in try db.refunds.find(refund)?.state != .created }
    }

    private func complete(
        _ payment: ID<Payment>?, of order: ID<Order>, cause: Cause
    ) async throws(GatewayError) {
        let now = time.now
        let (isOpen, accepts) = try await read { db in
            (
                try db.orders.find(order)?.state == .open && !db.orders.hasExpired(order, at: now),
                try payment.flatMap { try db.payments.find($0).value()?.accepts }
            )
        }
        guard let payment, isOpen else { return try await reconcile(order, cause: cause) }
        do throws(GatewayError) {
            // What an earlier release made does not say what its client takes.
            _ = try await continuePayment(payment, accepts: accepts ?? ContractType.base, cause: cause)
        } catch {
            // A refusal is an end too, and it is recorded.
            if case .providerRejected = error { return }
            throw error
        }
    }
}
