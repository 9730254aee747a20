import Domain
import ProviderKit
import Store

/// The requests of a store about how much of a purchase was used (Apple, App Store Server Notifications,
/// `CONSUMPTION_REQUEST`).
struct ConsumptionRequests {
    /// The seconds that Apple waits for the answer; a request that is found later, for example by a replay, is not
    /// answered.
    private static let window: Int64 = 12 * 3_600

    let log: ChangeLog

    private var tx: any Transaction { log.tx }

    /// Makes the job that answers a store's request, where the SKU allows it and the customer has consented.
    ///
    /// An unclaimed or unmapped purchase has no order and no customer who could have consented, so it is not answered.
    func accept(_ purchase: StorePurchase, at account: AccountID, owner: ID<User>) throws {
        let subject = ConsumptionSubject(
            environment: purchase.environment, account: account, key: purchase.key(claimant: owner))
        guard let record = try tx.purchases.find(subject.environment, subject.key).value(),
            let order = try tx.purchases.listTransactions(of: record).first?.order.flatMap({ try tx.orders.lock($0) })
        else { return }
        guard log.now.rawValue - purchase.signedAt.flooredSeconds < Self.window else {
            try log.appendTimeline(order, "consumption.not_answered", "the question is older than 12 hours")
            return
        }
        if let silence = try ConsumptionSilence(record, in: tx) {
            try log.appendTimeline(order, "consumption.not_answered", silence.rawValue)
        } else {
            try tx.jobs.enqueue(
                log.ids.make(), kind: JobKind.answerConsumption.rawValue, subject: subject.text, delay: 0, at: log.now)
        }
    }
}

/// The reason for which a request about consumption is not answered.
enum ConsumptionSilence: String {
    case ignored = "the SKU's consumption is ignore"
    case noConsent = "the customer has not consented"

    /// - Returns: nil where the request is answered.
    init?(_ record: PurchaseRecord, in db: any Database) throws {
        guard let sku = try record.sku.flatMap({ try db.skus.find($0) }), sku.consumption != .ignore else {
            self = .ignored
            return
        }
        let subject = StoreSubject(record.purchase)
        // The consent of an erased user no longer counts.
        if let user = record.user, try !db.users.isErased(user),
            try db.purchases.allowsConsumptionReport(subject, user: user)
        {
            return nil
        }
        self = .noConsent
    }
}

/// The subject of a job that answers a store: the named transaction and the account that received the request.
struct ConsumptionSubject: Sendable {
    let environment: Environment
    let account: AccountID
    let key: String

    var text: String { "\(environment.rawValue)/\(account.rawValue)/\(key)" }
}

extension ConsumptionSubject {
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 2).map(String.init)
        guard parts.count == 3, let environment = Environment(rawValue: parts[0]), let account = AccountID(parts[1])
        else { return nil }
        self.init(environment: environment, account: account, key: parts[2])
    }
}
