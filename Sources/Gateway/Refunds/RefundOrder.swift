package import Domain
import ProviderKit
import Store

extension Gateway {
    /// Gives money of an order back; the amount is bound by the database before the provider is called.
    ///
    /// - Parameters:
    ///   - amount: nil gives back all that is left of one payment: first of what was paid twice.
    ///   - partner: whose orders are within reach, beside those that no partner made; nil reaches all.
    /// - Throws: `orderNotFound`, `invalidRequest`, `refundExceedsCaptured`, `providerRejected` (the money stays),
    ///   `providerUnavailable` (the refund is not lost: the same key, or a refresh, goes on with it).
    package func refundOrder(
        _ order: String, amount: Money?, reason: String, visibleTo partner: String? = nil, context: CallContext
    ) async throws(GatewayError) -> RefundView {
        let cause = Cause(actor: context.actor, requestID: context.requestID)
        if let partner { _ = try await readOrder(order, visibleTo: partner) }
        if let refund = context.resumed.flatMap(ID<Refund>.init) {
            return try await executeRefund(refund, cause: cause)
        }
        guard let id = ID<Order>(order) else { throw .orderNotFound(order) }
        guard (amount?.value ?? 1) > 0 else {
            throw .invalidRequest(field: "amount", reason: "must be positive")
        }
        let refund = try await settle(cause) { settlement in
            let tx = settlement.tx
            guard let unlocked = try tx.orders.find(id) else { throw GatewayError.orderNotFound(order) }
            try tx.users.lock(unlocked.user)
            guard let target = try tx.orders.lock(id).flatMap({ try settlement.refundable($0, amount) }) else {
                // Only Apple gives its customers' money back; what somebody else was paid as well is not Apple's.
                if try tx.purchases.exists(for: id).value() {
                    throw GatewayError.providerRejected(reason: "refund_by_apple_only")
                }
                throw GatewayError.refundExceedsCaptured
            }
            guard let record = try tx.payments.lock(target), record.refundable > 0 else {
                throw GatewayError.refundExceedsCaptured
            }
            let currency = record.payment.amount.currency
            guard amount == nil || amount?.currency == currency else {
                throw GatewayError.invalidRequest(field: "amount", reason: .orderCurrency(currency))
            }
            let wanted = amount ?? Money(value: record.refundable, currency: currency)
            guard let refund = try settlement.refunds.open(wanted, of: record.payment, reason: reason) else {
                throw GatewayError.refundExceedsCaptured
            }
            try tx.bind(context, to: refund.id.rawValue)
            return refund.id
        }
        return try await executeRefund(refund, cause: cause)
    }

    /// Calls the provider for a refund whose intent is durable, or asks it when an earlier call's outcome is not known.
    @discardableResult
    func executeRefund(_ id: ID<Refund>, cause: Cause) async throws(GatewayError) -> RefundView {
        let (refund, payment, reference) = try await read { db -> (Refund?, Payment?, String?) in
            let refund = try db.refunds.find(id)
            let payment = try refund.flatMap { try db.payments.find($0.payment).value()?.payment }
            // Money beside a payment that waits under the provider's only id has none of its own.
            let original = try payment?.original.flatMap { try db.payments.find($0).value()?.payment }
            return (refund, payment, payment?.reference ?? original?.reference)
        }
        guard let refund, let payment else { throw .notFound }
        guard !refund.state.isFinal else { return try await refundView(id) }
        if refund.state == .created && !refund.counted {
            // A lost dispute took what this refund had bound. Once it may have been sent, only its provider can tell.
            guard refund.sentAt == nil else {
                try await settle(cause) { try $0.refunds.markUnknown(refund) }
                return try await executeRefund(id, cause: cause)
            }
            let report = RefundReport(
                payment: payment.id, refund: id, outcome: .failed(reason: "nothing is left"), amount: nil)
            _ = try await settle(cause) { try $0.apply(.refund(report), from: payment.account) }
            throw .refundExceedsCaptured
        }
        guard let account = registry[payment.processor ?? payment.account] else { throw .providerUnavailable }
        // Somebody else has moved it since it was read.
        guard let sentAt = try await sendingTime(of: refund) else { return try await executeRefund(id, cause: cause) }
        let attempt = RefundAttempt(
            refund: id,
            payment: ProviderReference(payment: payment.number, reference: reference, amount: payment.amount),
            amount: refund.amount, reason: refund.reason, reference: refund.reference, sentAt: sentAt,
            wasSent: refund.sentAt != nil)
        let outcome = await calls.perform { () async -> Result<Void, GatewayError> in
            do throws(GatewayError) {
                return .success(try await self.call(attempt, of: refund, at: account, cause: cause))
            } catch {
                return .failure(error)
            }
        }
        try outcome.get()
        return try await refundView(id)
    }

    /// When a refund was sent last: now where it is about to be, which is durable before the call.
    ///
    /// One that no release has written this of counts from the first question about it.
    ///
    /// - Returns: nil where it is not as it was read any more.
    private func sendingTime(of refund: Refund) async throws(GatewayError) -> Timestamp? {
        if refund.state != .created, let sentAt = refund.sentAt { return sentAt }
        let now = time.now
        return try await write { tx in try tx.refunds.markSent(refund.id, in: refund.state, at: now) } ? now : nil
    }

    /// Goes on with a refund among others: however it ends, they are gone on with, except in a run that is over.
    ///
    /// - Throws: `leaseLost`.
    func continueRefund(_ id: ID<Refund>, cause: Cause) async throws(GatewayError) {
        try requireRunning()
        do throws(GatewayError) {
            try await executeRefund(id, cause: cause)
        } catch {
            if error == .leaseLost { throw error }
        }
    }

    private func call(
        _ attempt: RefundAttempt, of refund: Refund, at account: ConfiguredAccount, cause: Cause
    ) async throws(GatewayError) {
        let report: RefundReport
        do throws(ProviderError) {
            let line = line(account)
            report = refund.state == .created ? try await line.refund(attempt) : try await line.query(refund: attempt)
        } catch {
            switch error {
            // A question that is refused says nothing of the money: it may have gone back.
            case .rejected where refund.state != .created, .unfit where refund.state != .created,
                .unsupported where refund.state != .created:
                throw .providerUnavailable
            case .rejected(let reason), .unfit(let reason):
                try await fail(refund, reason: reason, at: account, cause: cause)
            case .unsupported:
                try await fail(refund, reason: "this provider gives no money back", at: account, cause: cause)
            case .outcomeUnknown, .unproven:
                try await settle(cause) { try $0.refunds.markUnknown(refund) }
                throw .providerUnavailable
            case .unavailable:
                throw .providerUnavailable
            }
        }
        _ = try await settle(cause) { try $0.apply(.refund(report), from: account.id) }
    }

    private func fail(
        _ refund: Refund, reason: String, at account: ConfiguredAccount, cause: Cause
    ) async throws(GatewayError) -> Never {
        let report = RefundReport(
            payment: refund.payment, refund: refund.id, outcome: .failed(reason: reason), amount: nil)
        _ = try await settle(cause) { try $0.apply(.refund(report), from: account.id) }
        throw .providerRejected(reason: reason)
    }

    private func refundView(_ id: ID<Refund>) async throws(GatewayError) -> RefundView {
        guard let refund = try await read({ db in try db.refunds.find(id) }) else { throw .notFound }
        return RefundView(refund: refund)
    }
}

extension Settlement {
    /// The payment of an order that a refund takes from: one whose money is held beside what paid the order, where it has as
    /// much; else the one that paid it.
    ///
    /// What was paid twice goes back first, so that the customer keeps what the other payment bought.
    func refundable(_ order: Order, _ amount: Money?) throws -> ID<Payment>? {
        let records = try tx.payments.list(of: order.id).value().filter { $0.refundable > 0 }
        let (paying, held) = (
            records.first { $0.payment.id == order.paidBy }, records.filter { $0.payment.id != order.paidBy }
        )
        return (held.first { $0.refundable >= amount?.value ?? 0 } ?? paying ?? held.first)?.payment.id
    }
}

/// A refund as an admin sees it.
package struct RefundView: Encodable, Sendable {
    package let refund: Refund

    private enum CodingKeys: String, CodingKey {
        case id, order_id, payment_id, status, amount, reference, reason, created_at
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(refund.id, forKey: .id)
        try fields.encode(refund.order, forKey: .order_id)
        try fields.encode(refund.payment, forKey: .payment_id)
        try fields.encode(refund.state.rawValue, forKey: .status)
        try fields.encode(refund.amount, forKey: .amount)
        try fields.encode(refund.reference, forKey: .reference)
        try fields.encode(refund.reason, forKey: .reason)
        try fields.encode(refund.createdAt, forKey: .created_at)
    }
}
