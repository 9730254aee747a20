import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

extension Gateway {
    /// Settles what a stored notification states, once; one that can never be settled is put into quarantine.
    ///
    /// - Throws: `temporarilyUnavailable`, when trying again may help.
    func processNotification(_ id: ID<Domain.Notification>) async throws(GatewayError) {
        do throws(GatewayError) {
            try await settleNotification(id)
        } catch .internalError {
            logger.error("a notification is in quarantine", metadata: ["notification": "\(id)"])
            try await write { tx in try tx.markQuarantined(id) }
        }
    }

    private func settleNotification(_ id: ID<Domain.Notification>) async throws(GatewayError) {
        let logger = logger
        try await settle(Cause(actor: .system("notification"), requestID: id.rawValue)) { settlement in
            guard let stored = try settlement.tx.takeNotification(id) else { return }
            settlement.cause = Cause(actor: .provider(stored.account), requestID: id.rawValue)
            let facts = try JSONDecoder().decode([ProviderFact].self, from: Data(stored.facts.utf8))
            try settlement.lockUsers(of: facts)
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
            for id in waiting { try await processNotification(id) }
            last = waiting.last
        }
    }
}
