import Domain
import Store

/// The outbox of events: numbers them, makes their deliveries and lists them to partners.
package struct Events: Sendable {
    let store: StoreAccess
    let ids: IDSource
    let time: BusinessTime
    let signals: JobSignals
    package let waits: EventWaits

    private static let dispatchLimit: Int64 = 500
    /// The largest number of rows that one transaction inserts, whatever the number of webhooks.
    private static let deliveryLimit: Int64 = 10_000
    private static let dispatchInterval: Int64 = 1

    /// Gives every committed event its global number, and makes its deliveries to the webhooks that receive it.
    ///
    /// One worker does this at a time, so that the numbers have no gap and no reader misses a late commit. Without new
    /// events nothing is written.
    func dispatch() async throws(GatewayError) -> JobOutcome {
        let ids = ids
        var isMore = try await store.read { db in try db.events.hasUndispatched() }
        while isMore {
            let now = time.now
            let dispatched = try await store.write { tx in
                let (events, audiences, isMore) = try Self.nextTurn(in: tx)
                guard !events.isEmpty else { return (numbers: false, delivers: false, isMore: false) }
                let first = try tx.events.number(events)
                var deliveries: [NewDelivery] = []
                for audience in audiences {
                    let before = deliveries.count
                    for (index, event) in events.enumerated() where audience.sees(event) {
                        deliveries.append(
                            NewDelivery(
                                id: ids.make(), webhook: audience.webhook, event: event.id, seq: first + Int64(index),
                                subject: event.subject))
                    }
                    guard deliveries.count > before else { continue }
                    try tx.jobs.enqueue(
                        ids.make(), kind: JobKind.deliverWebhook.rawValue, subject: audience.webhook.rawValue, delay: 0,
                        at: now)
                }
                try tx.deliveries.insert(deliveries, at: now)
                return (numbers: true, delivers: !deliveries.isEmpty, isMore: isMore)
            }
            if dispatched.numbers { signals.numbered.notify() }
            if dispatched.delivers { signals.deliveries.notify() }
            // Events that were committed meanwhile have signalled another pass.
            isMore = dispatched.isMore
        }
        return .again(after: Self.dispatchInterval)
    }

    /// Finds the next events to be numbered, and the webhooks that may get each.
    ///
    /// If clocks disagree, all events of a batch may follow events with later ids outside of it, which a larger
    /// batch includes.
    private static func nextTurn(
        in tx: any Transaction
    ) throws(StoreError) -> (events: [UndispatchedEvent], audiences: [EventAudience], isMore: Bool) {
        var size = dispatchLimit
        while true {
            // In this order: a webhook that was made before one of these events is then found, however long the query
            // waits for locked rows of endpoints.
            let oldest = try tx.events.listUndispatched(limit: size)
            let (webhooks, scopes) = (try tx.webhooks.listEnabled(), try tx.apiKeys.listSubscriberScopes())
            let (found, liveScopes) = (try oldest.value(), try scopes.value())
            let audiences = try webhooks.value().map { webhook in
                EventAudience(webhook, scopes: liveScopes[webhook.partner] ?? [])
            }
            let limit = max(1, min(dispatchLimit, deliveryLimit / Int64(max(1, audiences.count))))
            let events = DispatchOrder.arranged(found).prefix(Int(limit))
            if !events.isEmpty || found.count < size {
                return (Array(events), audiences, found.count >= size || found.count > events.count)
            }
            size *= 2
        }
    }
}
