import Domain
import ProviderKit
import Store

/// Announces that somebody withdrew the consent to the use of an app; what is owned stays.
struct RescindedConsents {
    /// The action of the audit entries.
    static let action = EventType.consentRescinded.rawValue

    let log: ChangeLog

    private struct EventData: Encodable {
        @Nullable private(set) var user_id: String?
        let app_transaction_id: String
        let bundle_id: String
        let environment: String
    }

    /// Writes the event of each user whose purchases name the store's customer, or else one without a user; a statement
    /// that was announced before writes none.
    ///
    /// - Returns: true always, because the fact needs no payment.
    func apply(_ rescission: ConsentRescission) throws -> Bool {
        let (tx, environment, id) = (log.tx, rescission.environment, rescission.appTransactionID)
        let stranger = "apptx_\(id)"
        // Before the users' locks, like an original transaction.
        try tx.purchaseOwners.lock(environment, stranger)
        guard try tx.appTransactions.rescind(id, in: environment, at: rescission.statedAt) else { return true }
        let users = try tx.appTransactions.listUsers(of: id, in: environment)
        for user in users { try tx.users.lock(user) }
        for user in users.isEmpty ? [nil] : users.map(Optional.some) {
            let subject = user?.rawValue ?? stranger
            let data = EventData(
                user_id: user?.rawValue, app_transaction_id: id, bundle_id: rescission.bundleID,
                environment: environment.rawValue)
            try log.emit(.consentRescinded, subject: subject, user: user, data: try data.storedJSON())
            try log.audit(
                subject: subject, Self.action, before: "", after: "\(id) in \(rescission.bundleID)", about: user
            )
        }
        return true
    }
}
