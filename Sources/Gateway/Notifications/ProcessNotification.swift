import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

extension Gateway {
    /// Settles what a stored notification states, once.
    func processNotification(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard let id = ID<Domain.Notification>(job.subject) else { return .done }
        let logger = logger
        try await settle(Cause(actor: .system("notification"), requestID: id.rawValue)) { settlement in
            guard let stored = try settlement.tx.takeNotification(id) else { return }
            settlement.cause = Cause(actor: .provider(stored.account), requestID: id.rawValue)
            let facts = try JSONDecoder().decode([ProviderFact].self, from: Data(stored.facts.utf8))
            try settlement.lockUsers(of: facts)
            for fact in facts where try !settlement.apply(fact, from: stored.account, isStored: true) {
                logger.notice("a notification names an unknown payment", metadata: ["notification": "\(id)"])
            }
            try settlement.tx.markProcessed(id, at: settlement.now)
        }
        return .done
    }
}
