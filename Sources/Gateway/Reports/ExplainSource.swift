import Domain
import Store

/// The stored facts of an explanation, from one snapshot.
struct ExplainSource: Sendable {
    /// A transfer of a purchase between users.
    struct Transfer: Sendable {
        let original: String
        let at: Timestamp
        /// True where this user got the purchase, false where this user lost it.
        let isGain: Bool
    }

    /// The SKU to explain; nil for everything.
    var sku: SKUCode?
    var user: ID<User>?
    /// All grants of the user, because the stack of passes determines the period of each.
    var grants: [Grant] = []
    /// Oldest first.
    var orders: [OrderSnapshot] = []
    var purchases: [PurchaseRecord] = []
    var transfers: [Transfer] = []
    /// The times at which the App Store said that the consent to use the app was withdrawn.
    var rescissions: [Timestamp] = []
    /// The reasons of grants by hand.
    var reasons: [ID<Grant>: String] = [:]
    /// Oldest first.
    var ledger: [LedgerEntry] = []
    var balances: [String: Int64] = [:]
    var skus: [SKUCode: SKU] = [:]
    /// The managed subscriptions, each with its history, oldest first.
    var managed: [(record: ManagedSubscriptionRecord, timeline: [TimelineEntry])] = []
    /// True where older facts were left out.
    var isCut = false

    /// The largest number of orders, of purchases and of changes of balances that are read, the latest first.
    private static let limit: Int64 = 200

    static func load(_ name: ExternalUserID, _ sku: SKUCode?, from db: any Database) throws -> ExplainSource {
        var source = ExplainSource(sku: sku)
        if let sku { source.skus[sku] = try db.skus.find(sku) }
        guard let user = try db.users.findID(name) else { return source }
        source.user = user
        source.grants = try db.grants.list(of: user).value()
        let orders = try db.orders.list(OrderFilter(user: user, sku: sku), before: nil, limit: limit)
        source.orders = try OrderSnapshot.load(orders.reversed(), from: db, audience: .user)
        let purchases = try db.purchases.list(of: user, limit: limit)
        source.purchases = purchases.reversed().mergedByPurchase.filter { source.concerns($0) }
        let ledger = try db.wallets.listLatest(of: user, limit: limit)
        source.ledger = ledger.reversed().filter { source.concerns($0) }
        source.managed = try db.managedSubscriptions.list(of: user, before: nil, limit: 20).reversed()
            .filter { record in
                sku == nil || record.subscription.sku == sku
                    || source.orders.contains { $0.subscription == record.subscription.id }
            }.map { ($0, try db.managedSubscriptions.timeline(of: $0.subscription.id)) }
        source.isCut = [orders.count, purchases.count, ledger.count].contains(Int(limit))
        source.balances = try db.wallets.balances(of: user).value()[.production] ?? [:]
        try source.readTransfers(of: user, from: db)
        try source.readReasons(of: user, from: db)
        if sku == nil {
            source.rescissions = try db.audit.listActs(
                subject: user.rawValue, action: RescindedConsents.action, limit: 20
            ).map(\.at)
        }
        try source.readNames(from: db)
        return source
    }

    /// The grants of the SKU to explain, or all.
    var told: [Grant] { grants.filter { sku == nil || $0.sku == sku } }

    private func concerns(_ purchase: PurchaseRecord) -> Bool {
        guard let sku else { return true }
        // A subscription has one grant, whose SKU changes with the product.
        return purchase.sku == sku || orders.contains { $0.order.id == purchase.order }
            || told.contains {
                $0.source.kind == .appleSubscription && $0.source.id == purchase.purchase.originalTransactionID
            }
    }

    private func concerns(_ entry: LedgerEntry) -> Bool {
        guard sku != nil else { return true }
        return orders.contains { $0.order.id.rawValue == entry.source.id }
            || purchases.contains { $0.key == entry.source.id }
    }

    private mutating func readTransfers(of user: ID<User>, from db: any Database) throws {
        let originals = Set(purchases.map(\.purchase.originalTransactionID)).sorted()
        let acts = try db.audit.listActs(subjects: originals, action: "purchase.transferred", limit: 20)
        for original in originals {
            for act in acts[original] ?? [] {
                guard act.before == user.rawValue || act.after == user.rawValue else { continue }
                transfers.append(Transfer(original: original, at: act.at, isGain: act.after == user.rawValue))
            }
        }
    }

    /// Reads the reasons of grants by hand from the audit: an entry is `<grant> <sku>` and has the reason beside it;
    /// earlier releases wrote `<grant> <sku>: <reason>`.
    private mutating func readReasons(of user: ID<User>, from db: any Database) throws {
        guard told.contains(where: { $0.source.kind == .admin || $0.source.kind == .partner }) else { return }
        for act in try db.audit.listActs(subject: user.rawValue, action: "grant.created", limit: Self.limit) {
            guard let id = ID<Grant>(String(act.after.prefix { $0 != " " })) else { continue }
            reasons[id] = act.reason ?? act.after.firstIndex(of: ":").map { String(act.after[$0...].dropFirst(2)) }
        }
    }

    private mutating func readNames(from db: any Database) throws {
        let codes =
            grants.map(\.sku) + grants.flatMap(\.ahead).map(\.sku) + orders.map(\.order.sku)
            + purchases.compactMap(\.sku)
        skus.merge(try db.skus.list(Set(codes).filter { skus[$0] == nil }.sorted { $0.rawValue < $1.rawValue })) { $1 }
    }
}
