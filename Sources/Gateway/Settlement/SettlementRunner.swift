import Domain
import ProviderKit
import Store

/// Runs settlements, each in one transaction, and afterwards the work that they decided outside of the database.
struct SettlementRunner: Sendable {
    let store: StoreAccess
    let providers: ProviderCalling
    let policies: OrderPolicies
    let ownership: OwnershipRules
    let billing: Billing
    let ids: IDSource
    let time: BusinessTime
    let signals: JobSignals

    /// Runs a settlement, then wakes the workers of its jobs and sends the refunds that it decided.
    ///
    /// - Throws: the errors of the transaction and of the body; a refund that cannot be sent now is sent by its job.
    func run<T: Sendable>(
        _ audit: AuditContext, _ body: @escaping @Sendable (inout Settlement) throws -> T
    ) async throws(GatewayError) -> T {
        let (ids, now, registry) = (ids, time.now, providers.registry)
        let (policies, ownership, billing) = (policies, ownership, billing)
        let (result, (refunds, wakesWorkers, changes)) = try await store.write { tx in
            var settlement = Settlement(
                tx: tx, ids: ids, now: now, policies: policies, registry: registry, context: audit,
                ownership: ownership, billing: billing)
            let result = try body(&settlement)
            try settlement.external.lookAtChanged()
            let followUps = settlement.followUps
            return (result, (followUps.refunds, followUps.wakesWorkers, settlement.log.changed.changes))
        }
        signals.events.notify()
        signals.live.take(changes)
        if wakesWorkers { signals.workers.notify() }
        for refund in refunds {
            // The intent is durable: every answer of the provider is recorded, and a job repeats a lost call.
            _ = try? await RefundSending(settlements: self).send(refund, audit: audit)
        }
        return result
    }
}
