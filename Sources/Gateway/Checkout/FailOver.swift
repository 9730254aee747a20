import Domain
import ProviderKit
import Store

/// The accounts that a request may try, best first.
struct Route: Sendable {
    var accounts: [ConfiguredAccount]
    /// Whether no able account is believed to answer, so that they are tried all the same.
    var insists: Bool
    /// Why each account cannot; empty where one can.
    var refusals: [AccountRefusal] = []
}

/// One request's way to a contract for an order.
struct Passage: Sendable {
    let order: ID<Order>
    let request: RetryRequest
    let context: CallContext
    /// A checkout's key is bound to its order, that of another attempt to its payment.
    let isCheckout: Bool

    var cause: Cause { Cause(actor: context.actor, requestID: context.requestID) }
}

extension Gateway {
    /// The most accounts that a request goes on to when its first does not answer; one that was not asked does not count.
    static let furtherAccounts = 2

    /// Opens a payment that this request has made, or where its account does not answer, another one with the next account.
    ///
    /// The payment that is left is fenced first, as by another attempt of the client's, so that nobody is charged twice.
    /// - Throws: those of ``openPayment(_:accepts:cause:)``.
    func openPayment(
        _ intent: PaymentIntent, _ passage: Passage, along route: Route
    ) async throws(GatewayError) -> PaymentContract {
        var further = route.accounts.dropFirst()
        var current = intent
        var unanswered = 0
        while true {
            let isLast = further.isEmpty || unanswered == Self.furtherAccounts
            let opening = try await tryOpening(
                current, accepts: passage.request.accept, insists: route.insists || isLast, cause: passage.cause)
            switch opening {
            case .opened(let contract): return contract
            case .unfit(let reason): if further.isEmpty { throw .providerRejected(reason: reason) }
            case .unanswered, .neverSent:
                guard !isLast else { throw .providerUnavailable }
                unanswered += 1
                if case .neverSent = opening { try await withdraw(current.payment.id, passage) }
            }
            guard let next = further.popFirst() else { throw .providerUnavailable }
            current = try await replace(passage, on: next)
        }
    }

    /// Goes on with a payment that an earlier run under the same key made; where that run was cut between leaving its
    /// account and going to the next, with the best account that was not tried.
    ///
    /// - Throws: those of ``continuePayment(_:accepts:cause:)``; `noProviderAvailable` where no other account is able.
    func resume(
        _ payment: ID<Payment>, _ passage: Passage, user: ExternalUserID
    ) async throws(GatewayError) -> PaymentContract {
        let (order, payments) = try await read { db in
            (try db.orders.find(passage.order), try db.payments.list(of: passage.order).value())
        }
        // From the newest back to the first that has a contract: what was left never had one.
        let left = payments.filter { $0.payment.original == nil }.reversed().prefix {
            $0.instruction == nil && $0.payment.state == .cancelled
        }
        guard let order, order.state == .open, let amount = order.amount, left.first?.payment.id == payment,
            left.count <= Self.furtherAccounts
        else { return try await continuePayment(payment, accepts: passage.request.accept, cause: passage.cause) }
        var route = try await route(of: order, amount, passage.request, user: user)
        let tried = Set(left.map(\.payment.account))
        // Only one more: the accounts that a request may try are counted over all its runs.
        route.accounts = Array(route.accounts.filter { !tried.contains($0.id) }.prefix(1))
        guard let next = route.accounts.first else { throw .noProviderAvailable }
        return try await openPayment(try await replace(passage, on: next), passage, along: route)
    }

    /// Ends a payment of which no provider was told.
    private func withdraw(_ payment: ID<Payment>, _ passage: Passage) async throws(GatewayError) {
        try await settle(passage.cause) { settlement in
            guard let found = try settlement.tx.payments.find(payment).value()?.payment else { return }
            // Only while the key is this run's has no other run told the provider.
            try settlement.tx.keep(passage, payment, at: settlement.now)
            let report = PaymentReport(payment: payment, outcome: .cancelled)
            _ = try settlement.apply(.payment(report), from: found.account)
        }
    }

    /// Fences what the order's payments may still do, and writes the intent of one on another account.
    private func replace(
        _ passage: Passage, on account: ConfiguredAccount
    ) async throws(GatewayError) -> PaymentIntent {
        guard let order = try await read({ db in try db.orders.find(passage.order) }) else {
            throw .providerUnavailable
        }
        var fenced = Fence()
        do throws(GatewayError) {
            for _ in 0..<Self.fenceRounds {
                fenced = try await fence(order.id, cause: passage.cause, after: fenced)
                let (fence, keyRing) = (fenced, keyRing)
                let next = try await settle(passage.cause) { settlement in
                    try settlement.attempt(order, on: account, passage.request, fence, sealedBy: keyRing) { tx, next in
                        try tx.keep(passage, next, at: settlement.now)
                    }
                }
                if let next { return next }
            }
        } catch {
            // Where fencing found that it was paid, the order says so; the request that asked for a contract has none.
            throw error == .orderNotOpen ? .providerUnavailable : error
        }
        throw .requestInProgress
    }
}

extension Transaction {
    /// Holds the key of a run that goes on to another payment.
    fileprivate func keep(_ passage: Passage, _ payment: ID<Payment>, at now: Timestamp) throws {
        try rebind(passage.context, to: passage.isCheckout ? passage.order.rawValue : payment.rawValue, at: now)
    }
}
