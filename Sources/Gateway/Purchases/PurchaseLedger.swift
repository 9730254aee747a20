import Domain
import ProviderKit
import Store

/// The store purchases of one transaction: stores verified claims and statements, and grants them to the owners.
///
/// `docs/domain.md` (section 5, "One purchase, several transactions, several holders") describes the rules. The parts
/// are ``PurchaseOwnership`` (the owner of a purchase), ``PurchaseOrders`` (its SKU and its order), ``PurchaseGrants``
/// (the grants of the owner and the sharers) and ``SubscriptionLedger``.
struct PurchaseLedger {
    let log: ChangeLog
    let registry: ProviderRegistry
    let ownership: PurchaseOwnership
    let orders: PurchaseOrders
    let grants: PurchaseGrants
    let subscriptions: SubscriptionLedger
    let entitlements: EntitlementLedger

    var tx: any Transaction { log.tx }

    /// Attaches a verified purchase to its owner, and returns the outcome for the claimant.
    ///
    /// The purchase is stored also where the claim is refused. The caller has locked the holders
    /// (``PurchaseOwnership/lockHolders(of:claimant:)``).
    /// - Parameters:
    ///   - name: the claimant's id in the app.
    ///   - mayChangeHands: false where a stored purchase is attached again for its owner, without a claim.
    func attach(
        _ claim: PurchaseClaim, claimant: ID<User>, name: String, mayChangeHands: Bool = true
    ) throws -> ClaimOutcome {
        let purchase = claim.purchase
        // Sent before the owner is known, so that PostgreSQL answers both in one round trip.
        let lookup = try ClaimLookup(claim, key: purchase.key(claimant: claimant), in: tx)
        let token = try purchase.appAccountToken.flatMap { try tx.users.findID(appAccountToken: $0).value() }
        let decision = try ownership.decide(claim, claimant: claimant, token: token, mayChangeHands: mayChangeHands)
        let owner = decision.owner
        let ownerName = owner == claimant ? name : try tx.users.findExternalID(owner) ?? ""
        let entitled = claim.rules.entitles(ownerName)
        // A move has changed the rows that were looked up.
        let outcome = try fulfil(
            claim, owner: owner, entitled: entitled, lookup: decision.isNew ? nil : lookup)
        try fulfilStored(like: claim, owner: owner, entitled: entitled)
        switch decision.right {
        case .none: return .anotherUser
        case .owner:
            guard decision.isNew else { return try outcome.value() }
            // The subscription's event names its new owner, and a test purchase counts by this user's rules.
            if purchase.isSubscription,
                try subscriptions.recompute(purchase, owner: owner, entitled: entitled, rules: claim.rules)
            {
                try entitlements.publish(owner)
            }
            return try shown(outcome.value(), of: claim, to: claimant, isNew: true)
        case .sharer:
            if decision.isNew { try share(purchase, with: claimant, rules: claim.rules) }
            return try shown(outcome.value(), of: claim, to: claimant, isNew: decision.isNew)
        }
    }

    /// Fulfils the stored transactions of a claim's original that have no order yet.
    ///
    /// They were unclaimed, or they were stored as transactions of another purchase by mistake.
    private func fulfilStored(like claim: PurchaseClaim, owner: ID<User>, entitled: Bool) throws {
        let purchase = claim.purchase
        guard purchase.mayBeRestored else { return }
        let records = try tx.purchases.list(purchase.environment, original: purchase.originalTransactionID)
        let unordered = Set(
            records.transactionsByPurchase.filter { $0.allSatisfy { $0.order == nil } }.joined().map(\.key))
        let waiting = records.filter { record in
            record.order == nil && (record.user == nil || record.sku != nil && unordered.contains(record.key))
        }
        guard !waiting.isEmpty else { return }
        for record in waiting {
            _ = try fulfil(
                PurchaseClaim(record, rules: claim.rules), owner: owner, entitled: entitled, recomputes: false)
        }
        if purchase.isSubscription {
            _ = try subscriptions.recompute(purchase, owner: owner, entitled: entitled, rules: claim.rules)
        }
        try entitlements.publish(owner)
    }

    /// Stores a purchase, finds its SKU, completes its order and grants it.
    ///
    /// A further transaction of a purchase that has its order is stored beside the others and gets no order of its own.
    /// - Parameters:
    ///   - recomputes: false where the caller recomputes once for many transactions of one original.
    ///   - isAlone: true where the claim is known to be the only transaction of its purchase.
    ///   - sent: the claim's queries, where they were sent before; those under another key are sent again.
    func fulfil(
        _ claim: PurchaseClaim, owner: ID<User>, entitled: Bool, recomputes: Bool = true, isAlone: Bool = false,
        lookup sent: ClaimLookup? = nil
    ) throws -> DeferredResult<ClaimOutcome> {
        let key = claim.purchase.key(claimant: owner)
        let lookup =
            if let sent, sent.key == key { sent } else { try ClaimLookup(claim, key: key, isAlone: isAlone, in: tx) }
        let kept = try KeptTransaction(claim, key: key, known: lookup.stored.value(), in: log)
        let stored = kept.record
        let records =
            try lookup.candidates.map { try tx.purchases.listTransactions(of: stored, among: $0) } ?? [stored]
        let record = records.first ?? stored
        let isRevoked = record.purchase.isTakenBack
        guard let (sku, days) = try orders.sku(of: record, named: lookup.sku.value(), claim) else {
            if stored.user == nil {
                try kept.assign(user: owner, sku: nil, days: nil, order: nil, in: log)
                try emit(.purchaseUnmapped, stored.purchase, owner: owner, sku: nil, order: nil)
            }
            return DeferredResult(isRevoked ? .revoked : .unknownProduct)
        }
        guard let order = record.order else {
            return try fulfilFirst(
                kept, as: (sku, days), owner: owner, claim, entitled: entitled, recomputes: recomputes)
        }
        guard let code = sku.code else { throw StoreError.corrupt("a SKU has no id") }
        if stored.order == nil, stored.user != owner || stored.sku != code {
            try kept.assign(user: owner, sku: code, days: days, order: nil, in: log)
        }
        // A further transaction may have been stored before it was known to belong to this purchase.
        for record in records where try kept.isNewer || records != [stored] && !isAligned(record) {
            try update(record, owner: owner, claim, entitled: entitled)
        }
        guard !isRevoked else { return DeferredResult(.revoked) }
        let isPerpetual = sku.kind(of: record.purchase) == .nonConsumable
        if isPerpetual, try entitlements.grantDuplicate(of: code, in: record.purchase.environment, to: owner) {
            try entitlements.publish(owner)
        }
        return try attached(stored, key: record.key, sku: sku, owner: owner, order: order)
            .map { .attached($0, isNew: false) }
    }

    /// Completes the order of a purchase that has none yet, and grants it.
    private func fulfilFirst(
        _ kept: KeptTransaction, as meant: (sku: SKU, days: Int64?), owner: ID<User>, _ claim: PurchaseClaim,
        entitled: Bool, recomputes: Bool
    ) throws -> DeferredResult<ClaimOutcome> {
        let (record, key) = (kept.record, kept.key)
        let (sku, days) = meant
        guard let code = sku.code else { throw StoreError.corrupt("a SKU has no id") }
        let purchase = record.purchase
        let terms = sku.terms(for: purchase, days: days)
        // In Xcode there are none.
        let sharers =
            purchase.environment == .xcode
            ? DeferredResult([]) : try tx.purchaseOwners.listSharers(of: StoreSubject(purchase))
        let (order, entry) = try orders.complete(record, sku: code, terms: terms, owner: owner)
        try kept.assign(user: owner, sku: code, days: days, order: order.id, in: log)
        if let kind = purchase.skuKind, kind != sku.kind {
            try log.record(.kindMismatch, order, "Apple sold a \(kind.rawValue) of \(sku.id), a \(sku.kind.rawValue)")
        }
        // A revoked purchase is granted and then revoked, so that every order of arrival leads to the same state.
        try grants.grant(
            purchase, key: key, terms: terms, order: order, sharers: sharers, entitled: entitled, rules: claim.rules)
        var subscription: ID<Subscription>?
        if purchase.isSubscription {
            // The order's event names the subscription.
            subscription = try tx.subscriptions.ensure(
                log.ids.make(), StoreSubject(purchase), account: claim.account, user: owner, nextCheckAt: log.now
            ).id
        }
        // The state of an order that was made here is known without a query, unless it has an anomaly (another kind was
        // sold) or may have one (the user may own it already).
        if let entry, purchase.skuKind == sku.kind, sku.kind != .nonConsumable {
            try log.emit(
                .orderPaid,
                OrderSnapshot(made: order, account: record.account, subscription: subscription, timeline: [entry]))
        } else {
            try log.emit(.orderPaid, order.id)
        }
        try emit(.purchaseAttached, purchase, owner: owner, sku: code, order: order.id)
        if purchase.revocation != nil {
            let others = try grants.align(record, key: key, order: order.id, rules: claim.rules)
            for user in others.subtracting([owner]).sorted() { try entitlements.publish(user) }
        }
        var owned: [Entitlement]?
        if recomputes {
            if purchase.isSubscription {
                _ = try subscriptions.recompute(purchase, owner: owner, entitled: entitled, rules: claim.rules)
            }
            owned = try entitlements.publish(owner).entitlements
        }
        guard !purchase.isTakenBack else { return DeferredResult(.revoked) }
        return try attached(record, key: key, sku: sku, owner: owner, order: order.id, owned: owned)
            .map { .attached($0, isNew: true) }
    }

    /// Updates a purchase that has its order to a newer signed version of any of its transactions.
    private func update(_ record: PurchaseRecord, owner: ID<User>, _ claim: PurchaseClaim, entitled: Bool) throws {
        guard let order = record.order else { return }
        try orders.fillPrice(record, order: order)
        var changed = try grants.align(record, key: record.key, order: order, rules: claim.rules)
        if record.purchase.isSubscription,
            try subscriptions.recompute(record.purchase, owner: owner, entitled: entitled, rules: claim.rules)
        {
            changed.insert(owner)
        }
        for user in changed.sorted() { try entitlements.publish(user) }
    }

    /// Returns true where the order has the purchase's revocation.
    private func isAligned(_ record: PurchaseRecord) throws -> Bool {
        try record.order.flatMap { try tx.orders.find($0) }?.revokedShare == record.purchase.revokedShare
    }

    private func share(_ purchase: StorePurchase, with user: ID<User>, rules: TestPurchaseRules) throws {
        try grants.shareAll(of: purchase, with: user, rules: rules)
        if let claimed = try tx.purchases.find(purchase.environment, purchase.key(claimant: user)).value(),
            let record = try tx.purchases.listTransactions(of: claimed).first, record.order != nil
        {
            try emit(.purchaseAttached, record.purchase, owner: user, sku: record.sku, order: record.order)
        }
    }
}

// Answers and events.
extension PurchaseLedger {
    /// Returns an owner's outcome for the claimant, with the claimant's own grant.
    private func shown(
        _ outcome: ClaimOutcome, of claim: PurchaseClaim, to user: ID<User>, isNew: Bool
    ) throws -> ClaimOutcome {
        guard case .attached(_, let isFresh) = outcome else { return outcome }
        guard
            let stored = try tx.purchases.find(claim.purchase.environment, claim.purchase.key(claimant: user)).value(),
            let record = try tx.purchases.listTransactions(of: stored).first, let order = record.order,
            let sku = try record.sku.flatMap({ try tx.skus.find($0) })
        else { throw StoreError.corrupt("a shared purchase was not kept") }
        let attached = try attached(stored, key: record.key, sku: sku, owner: user, order: order)
        return .attached(try attached.value(), isNew: isNew || isFresh)
    }

    /// Reads a purchase's current grant.
    ///
    /// - Parameter owned: the owner's entitlements of now, where they are known.
    private func attached(
        _ record: PurchaseRecord, key: String, sku: SKU, owner: ID<User>, order: ID<Order>,
        owned: [Entitlement]? = nil
    ) throws -> DeferredResult<AttachedPurchase> {
        let now = log.now
        let owned =
            try owned.map { DeferredResult($0) }
            ?? tx.grants.list(of: owner).map { EntitlementRules.fold($0, now: now).entitlements }
        // Only a consumable credits units, and only to its first owner; the kind can be unknown.
        let mayCredit = (record.purchase.skuKind ?? .consumable) == .consumable
        let units = try (mayCredit ? tx.orders.find(order) : nil).flatMap {
            $0.user == owner && $0.terms.kind == .consumable ? $0.terms.units : nil
        }
        return owned.map {
            AttachedPurchase(
                record.purchase, key: key, sku: sku, order: order, credited: units ?? [:], owned: $0)
        }
    }

    private func emit(
        _ type: EventType, _ purchase: StorePurchase, owner: ID<User>, sku: SKUCode?, order: ID<Order>?
    ) throws {
        struct EventData: Encodable {
            let user_id: String
            let transaction_id: String
            let original_transaction_id: String
            let product_id: String
            let environment: String
            let sku: String?
            let order_id: String?
        }
        let data = EventData(
            user_id: owner.rawValue, transaction_id: purchase.transactionID,
            original_transaction_id: purchase.originalTransactionID, product_id: purchase.productID,
            environment: purchase.environment.rawValue, sku: sku?.rawValue, order_id: order?.rawValue)
        try log.emit(type, subject: purchase.originalTransactionID, user: owner, data: try data.storedJSON())
    }
}

// Statements of a store, and stored purchases that are applied again.
extension PurchaseLedger {
    /// Applies the statements of a store's answer, whose holders the caller has locked
    /// (``PurchaseOwnership/lockHolders(of:)``).
    func apply(_ statements: [SourcedStatement]) throws {
        for item in statements { try apply(item.statement, from: item.source) }
    }

    /// Applies a store's statement for the owner of the purchase; without an owner the purchase is stored.
    func apply(_ statement: StoreStatement, from source: StatementSource) throws {
        guard let subject = StoreSubject(statement) else { return }
        try tx.purchaseOwners.lock(subject.environment, subject.original)
        for user in try ownership.users(of: statement).sorted() { try tx.users.lock(user) }
        let token = try ownership.signedUser(of: statement)
        var owner = try tx.purchaseOwners.find(of: StoreSubject(subject.environment, subject.original)).value() ?? token
        // The renewal comes first, because the fulfilment of the purchase uses it.
        let isNews = try subscriptions.upsert(statement, from: source, owner: owner)
        if let purchase = statement.purchase {
            let claim = PurchaseClaim(
                purchase: purchase, account: source.account, evidence: source.evidence, rules: source.rules,
                fallback: nil)
            if let known = owner {
                let bound = try ownership.bind(purchase, claimant: known, token: token)
                let entitled = try entitles(bound, source)
                _ = try fulfil(claim, owner: bound, entitled: entitled)
                try fulfilStored(like: claim, owner: bound, entitled: entitled)
                owner = bound
            } else {
                try storeUnclaimed(claim)
            }
            if statement.asksForConsumption, let owner {
                try ConsumptionRequests(log: log).accept(purchase, at: source.account, owner: owner)
            }
        }
        if let id = statement.renewal?.appTransactionID { try tx.appTransactions.name(subject, id) }
        guard isNews, let owner,
            let known = try tx.purchases.list(subject.environment, original: subject.original).first?.purchase
        else { return }
        if try subscriptions.recompute(
            known, owner: owner, entitled: try entitles(owner, source), rules: source.rules)
        {
            try entitlements.publish(owner)
        }
    }

    private func entitles(_ owner: ID<User>, _ source: StatementSource) throws -> Bool {
        source.rules.entitles(try tx.users.findExternalID(owner) ?? "")
    }

    /// Stores a purchase without an owner, with its SKU; a later claim grants it at once.
    private func storeUnclaimed(_ claim: PurchaseClaim) throws {
        let purchase = claim.purchase
        let key = purchase.key(claimant: nil)
        _ = try tx.purchases.upsert(purchase, key: key, account: claim.account, evidence: claim.evidence, at: log.now)
        guard let record = try tx.purchases.find(purchase.environment, key).value(), record.user == nil,
            record.sku == nil,
            let found = try tx.skus.find(appleProduct: purchase.productID, bundle: purchase.bundleID),
            found.sku.lasts(found.days, as: purchase)
        else { return }
        try tx.purchases.assign(purchase, key: key, user: nil, sku: found.sku.code, days: found.days, order: nil)
    }

    /// Fulfils the unclaimed transactions of an original for its new owner, whom the caller has locked.
    func fulfilStored(of subject: StoreSubject, for owner: ID<User>, name: String) throws {
        try tx.subscriptions.claim(subject, for: owner)
        let records = try tx.purchases.list(subject.environment, original: subject.original)
        for record in records where record.user == nil {
            let rules = registry.source(of: record.account).rules
            _ = try fulfil(PurchaseClaim(record, rules: rules), owner: owner, entitled: rules.entitles(name))
        }
        guard let period = records.first(where: { $0.purchase.isSubscription && $0.sku != nil }) else { return }
        let rules = registry.source(of: period.account).rules
        // The subscription's event names its new owner, and a test purchase counts by this user's rules.
        if try subscriptions.recompute(period.purchase, owner: owner, entitled: rules.entitles(name), rules: rules) {
            try entitlements.publish(owner)
        }
    }

    /// Makes the job that fulfils unmapped purchases after a change of the catalogue.
    func fulfilUnmappedLater() throws {
        // The delay exceeds the time of transactions that began before this one, so that the job sees their purchases.
        try tx.jobs.enqueue(log.ids.make(), kind: JobKind.grantUnmapped.rawValue, subject: "", delay: 60, at: log.now)
    }

    /// Applies a stored, granted purchase again, so that its grants follow the rules of this release.
    func reapply(_ stored: PurchaseRecord) throws {
        guard let owner = stored.user else { return }
        let rules = registry.source(of: stored.account).rules
        try ownership.lockHolders(of: [PurchaseClaim(stored, rules: rules)], besides: owner)
        // It may have changed before it was locked.
        guard let known = try tx.purchases.find(stored.purchase.environment, stored.key).value(), known.user == owner,
            let record = try tx.purchases.listTransactions(of: known).first, let order = record.order
        else { return }
        var changed: Set<ID<User>> = []
        if record.purchase.isSubscription, record.purchase.kind != .autoRenewable {
            changed.formUnion(try tx.grants.delete(ofTransaction: record.key, in: record.purchase.environment))
        }
        changed.formUnion(try grants.align(record, key: record.key, order: order, rules: rules))
        let entitled = try rules.entitles(tx.users.findExternalID(owner) ?? "")
        if record.purchase.isSubscription,
            try subscriptions.recompute(record.purchase, owner: owner, entitled: entitled, rules: rules)
        {
            changed.insert(owner)
        }
        for user in changed.sorted() { try entitlements.publish(user) }
    }
}
