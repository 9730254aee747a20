import Domain
import FoundationEssentials
import Store

/// Attempts to deliver events to endpoints.
struct Deliveries: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let keyRing: KeyRing
    let transport: any WebhookTransport
    let names: UserNames
    let allowsPrivate: Bool
    let random: RandomSource

    var time: BusinessTime { settlements.time }

    /// The numbers of concurrent requests to an endpoint.
    private static let firstWidth = 16
    private static let furtherWidth = 4
    /// The number of transactions in one run that ends deliveries.
    private static let endingRounds = 40

    /// Makes the first attempts of an endpoint's deliveries, those of each subject in the order of its events.
    func makeFirstAttempts(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let run = try await openRun(job, .first) else { return .done }
        return try await run.drain(width: Self.firstWidth) ? .done : .again(after: 0)
    }

    /// Makes the further attempts that are due, in any order.
    func makeFurtherAttempts(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let run = try await openRun(job, .further) else { return .done }
        guard try await run.drain(width: Self.furtherWidth) else { return .again(after: 0) }
        let (id, now) = (run.record.id, time.now)
        let pause = try await store.read { db in try db.deliveries.secondsToRetry(of: id, at: now) }
        return pause.map { .again(after: max(1, $0)) } ?? .done
    }

    /// Begins a run over an endpoint's deliveries.
    ///
    /// - Returns: nil for an endpoint that is deleted or disabled.
    private func openRun(
        _ job: ClaimedJob, _ kind: DeliveryRun.Kind
    ) async throws(GatewayError) -> DeliveryRun? {
        guard let id = ID<Webhook>(job.subject) else { return nil }
        let now = time.now
        guard let record = try await store.read({ db in try db.webhooks.findForSigning(id, at: now) }),
            record.status == .enabled
        else { return nil }
        var secrets = [try WebhookSecret.open(record.secret, of: id, by: keyRing)]
        if let previous = record.previousSecret {
            secrets.append(try WebhookSecret.open(previous, of: id, by: keyRing))
        }
        // An address that was allowed when the endpoint was made may be forbidden by now.
        guard let url = try? WebhookURL(record.url, allowsPrivate: allowsPrivate) else {
            return DeliveryRun(self, job, kind, record, secrets, .failure(WebhookRefusal(.blockedAddress)))
        }
        return DeliveryRun(self, job, kind, record, secrets, await transport.open(url))
    }

    /// Ends the deliveries of a disabled endpoint, or deletes those of a deleted one.
    ///
    /// Meanwhile none of them is sent, and the partner sees them as ended, because both follow from the endpoint's own
    /// row.
    func end(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Webhook>(job.subject) else { return .done }
        for _ in 0..<Self.endingRounds {
            let now = time.now
            let isOver = try await store.write { tx in
                guard let webhook = try tx.webhooks.lock(id), webhook.status == .disabled else { return true }
                return webhook.isRetired ? try tx.drop(id) : try tx.end(id, at: now)
            }
            if isOver { return .done }
        }
        return .again(after: 0)
    }
}
