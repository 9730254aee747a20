package import Domain
import ProviderKit
import Store

/// A kind of things that wait for a person, with the address in the console where they are mended.
package struct AttentionItem: Encodable, Sendable, Equatable {
    package enum Kind: String, Encodable, Sendable, CaseIterable {
        case jobQuarantined = "job_quarantined"
        case notificationRefused = "notification_refused"
        case purchaseUnmapped = "purchase_unmapped"
        case anomaly
        case disputeOpen = "dispute_open"
        case accountFailing = "account_failing"
        case webhookFailing = "webhook_failing"
        case certificateEnds = "certificate_ends"
        case doctor
    }

    package enum Severity: String, Encodable, Sendable, CaseIterable {
        /// Something is lost or fails now.
        case bad
        case warn
    }

    let kind: Kind
    let count: Int64
    @Nullable private(set) var oldest_at: Timestamp?
    let severity: Severity
    let link: String

    package init(_ kind: Kind, _ severity: Severity, count: Int64, oldest: Timestamp? = nil, link: String) {
        self.kind = kind
        self.count = count
        oldest_at = oldest
        self.severity = severity
        self.link = link
    }
}

/// Finds what waits for a person.
package struct Attention: Sendable {
    let store: StoreAccess
    let accounts: Accounts

    /// The kinds of which something waits, as the database and this node's calls say.
    package func list() async throws(GatewayError) -> [AttentionItem] {
        var items = try await store.report { db -> [AttentionItem] in
            let attention = db.attention
            let found: [(AttentionItem.Kind, AttentionItem.Severity, Waiting, String)] = [
                (.jobQuarantined, .bad, try attention.quarantinedJobs(), "#/jobs?status=quarantined"),
                (.notificationRefused, .warn, try attention.refusedNotifications(), "#/notifications?status=rejected"),
                (.purchaseUnmapped, .bad, try attention.unmappedPurchases(), "#/catalogue"),
                (.anomaly, .bad, try attention.openMismatches(), "#/orders?anomaly=amount_mismatch"),
                (.disputeOpen, .bad, try attention.openDisputes(), "#/orders?dispute=open"),
                (.webhookFailing, .bad, try attention.failingWebhooks(), "#/webhooks"),
            ]
            return found.filter { $0.2.count > 0 }.map {
                AttentionItem($0.0, $0.1, count: $0.2.count, oldest: $0.2.oldest, link: $0.3)
            }
        }
        let failing = try await accounts.list().count { $0.account.enabled && $0.health != .closed }
        if failing > 0 {
            items.append(AttentionItem(.accountFailing, .bad, count: Int64(failing), link: "#/accounts"))
        }
        return items
    }
}
