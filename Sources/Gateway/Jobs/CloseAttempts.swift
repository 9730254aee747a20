import Domain
import ProviderKit
import Store

extension Gateway {
    /// So often providers are asked to close attempts before these count as cancelled without their word.
    private static let closingRuns: Int64 = 3

    /// Cancels, where providers can, every other attempt of an order that is paid, and ends them all here.
    ///
    /// One that is paid all the same is a second payment of the order.
    func closeAttempts(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Order>(job.subject), let order = try await read({ db in try db.orders.find(id) }),
            order.state == .paid
        else { return .done }
        let cause = cause(job)
        let fenced = try await fence(id, cause: cause)
        guard fenced.allAnswered || job.attempt > Self.closingRuns else { return .pending }
        try await settle(cause) { settlement in
            try settlement.tx.users.lock(order.user)
            for payment in try settlement.tx.payments.list(of: id).value().map(\.payment) where !payment.state.isFinal {
                let report = PaymentReport(payment: payment.id, outcome: .cancelled)
                _ = try settlement.apply(.payment(report), from: payment.account)
            }
        }
        return .done
    }
}
