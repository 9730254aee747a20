import Domain
import ProviderKit
import Store

extension Settlement {
    /// So long Apple waits; a question that is found later, such as by a replay, is answered no more.
    private static let consumptionWindow: Int64 = 12 * 3_600

    /// A store asks how much of a purchase was used: a job answers where the SKU wants that and the customer consented.
    ///
    /// What nobody has claimed or no SKU knows has no order and no customer who could have consented.
    func settleConsumptionRequest(_ purchase: StorePurchase, at account: AccountID, owner: ID<User>) throws {
        let subject = ConsumptionSubject(
            environment: purchase.environment, account: account, key: purchase.key(claimant: owner))
        guard let record = try tx.purchases.find(subject.environment, subject.key).value(),
            let order = try tx.purchases.listTransactions(of: record).first?.order.flatMap({ try tx.orders.lock($0) })
        else { return }
        guard now.rawValue - purchase.signedAt.flooredSeconds < Self.consumptionWindow else {
            try note(order, "consumption.not_answered", "the question is older than 12 hours")
            return
        }
        if let silence = try ConsumptionSilence(record, in: tx) {
            try note(order, "consumption.not_answered", silence.rawValue)
        } else {
            try tx.jobs.enqueue(
                ids.make(), kind: JobKind.answerConsumption.rawValue, subject: subject.text, delay: 0, at: now)
        }
    }
}

/// Why a store is told nothing.
enum ConsumptionSilence: String {
    case ignored = "the SKU's consumption is ignore"
    case noConsent = "the customer has not consented"

    /// nil where the store is to be told.
    init?(_ record: PurchaseRecord, in db: any Database) throws {
        guard let sku = try record.sku.flatMap({ try db.skus.find($0) }), sku.consumption != .ignore else {
            self = .ignored
            return
        }
        let subject = StoreSubject(record.purchase)
        // Nobody speaks for an erased person.
        if let user = record.user, try !db.users.isErased(user),
            try db.purchases.allowsConsumptionReport(subject, user: user)
        {
            return nil
        }
        self = .noConsent
    }
}

/// The transaction that a store asked about and the account that it asked, as a job's subject.
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
