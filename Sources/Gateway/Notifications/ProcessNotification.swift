import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

extension Gateway {
    /// Settles what a stored notification states, once.
    func processNotification(_ id: ID<Domain.Notification>) async throws(GatewayError) {
        let logger = logger
        let cause = Cause(actor: .system("notification"), requestID: id.rawValue)
        try await settle(cause) { settlement in
            guard let stored = try settlement.tx.takeNotification(id) else { return }
            let facts = try JSONDecoder().decode([StoredFact].self, from: Data(stored.facts.utf8)).compactMap(\.fact)
            for fact in facts where try !settlement.apply(fact, from: stored.account) {
                logger.notice("a notification names an unknown payment", metadata: ["notification": "\(id)"])
            }
            try settlement.tx.markProcessed(id, at: settlement.now)
        }
    }

    /// Settles what was stored but not processed before the last stop; one that cannot be settled blocks no other.
    package func processStoredNotifications() async throws(GatewayError) {
        var last: ID<Domain.Notification>?
        while true {
            let waiting = try await read { [last] db in try db.unprocessedNotifications(after: last, limit: 100) }
            guard !waiting.isEmpty else { return }
            for id in waiting {
                do throws(GatewayError) {
                    try await processNotification(id)
                } catch {
                    logger.error("a stored notification cannot be settled", metadata: ["notification": "\(id)"])
                }
            }
            last = waiting.last
        }
    }
}
