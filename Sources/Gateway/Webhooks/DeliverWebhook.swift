import Domain
import FoundationEssentials
import Store

extension Gateway {
    /// So many endpoints' messages are under way to one endpoint at once.
    private static let firstWidth = 16
    private static let furtherWidth = 4

    /// Makes the first attempts of an endpoint's deliveries, each subject's in the order of its events.
    func deliverWebhook(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let run = try await openRun(job, .first) else { return .done }
        return try await run.drain(width: Self.firstWidth) ? .done : .again(after: 0)
    }

    /// Makes the further attempts that are due; nothing waits for them.
    func retryDeliveries(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let run = try await openRun(job, .further) else { return .done }
        guard try await run.drain(width: Self.furtherWidth) else { return .again(after: 0) }
        let (id, now) = (run.record.id, time.now)
        let pause = try await read { db in try db.deliveries.secondsToRetry(of: id, at: now) }
        return pause.map { .again(after: max(1, $0)) } ?? .done
    }

    /// - Returns: nil for an endpoint that is gone or switched off.
    private func openRun(
        _ job: ClaimedJob, _ kind: DeliveryRun.Kind
    ) async throws(GatewayError) -> DeliveryRun? {
        guard let id = ID<Webhook>(job.subject) else { return nil }
        let now = time.now
        guard let record = try await read({ db in try db.webhooks.findForSigning(id, at: now) }),
            record.status == .enabled
        else { return nil }
        var secrets = [try WebhookSecret.open(record.secret, of: id, by: keyRing)]
        if let previous = record.previousSecret {
            secrets.append(try WebhookSecret.open(previous, of: id, by: keyRing))
        }
        // What was allowed when it was made may be forbidden by now.
        guard let url = try? WebhookURL(record.url, allowsPrivate: settings.allowsPrivateWebhooks) else {
            return DeliveryRun(self, job, kind, record, secrets, .failure(WebhookRefusal(.blockedAddress)))
        }
        return DeliveryRun(self, job, kind, record, secrets, await webhooks.open(url))
    }
}
