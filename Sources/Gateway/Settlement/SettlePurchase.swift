import Domain
import FoundationEssentials
import ProviderKit
import Store

extension Settlement {
    /// Settles a verified purchase for whoever it belongs to, and says how that looks to the claimant.
    ///
    /// The first verified claim binds an original transaction; a signed token names its user whoever presents it; the
    /// rest is ``hold(_:claimant:token:mayChangeHands:)``. Whatever comes out, the purchase is kept. The caller has locked
    /// the holders.
    func settle(
        _ claim: PurchaseClaim, claimant: ID<User>, name: String, mayChangeHands: Bool = true
    ) throws -> ClaimOutcome {
        let purchase = claim.purchase
        let token = try purchase.appAccountToken.flatMap { try tx.users.findID(appAccountToken: $0).value() }
        let hold = try hold(claim, claimant: claimant, token: token, mayChangeHands: mayChangeHands)
        let owner = hold.owner
        let ownerName = owner == claimant ? name : try tx.users.findExternalID(owner) ?? ""
        let entitled = claim.rules.entitles(ownerName)
        let outcome = try place(claim, owner: owner, entitled: entitled)
        try placeKept(like: claim, owner: owner, entitled: entitled)
        switch hold.right {
        case .none: return .anotherUser
        case .owner:
            guard hold.isNew else { return try outcome.value() }
            // Tells whose the subscription is now, and what a test purchase is worth to this user.
            if purchase.isSubscription,
                try regradeSubscription(purchase, owner: owner, entitled: entitled, rules: claim.rules)
            {
                try touch(owner)
            }
            return try shown(outcome.value(), of: claim, to: claimant, isNew: true)
        case .sharer:
            if hold.isNew { try giveShare(of: purchase, to: claimant, rules: claim.rules) }
            return try shown(outcome.value(), of: claim, to: claimant, isNew: hold.isNew)
        }
    }

    /// Gives what was kept of an original transaction and has no order yet.
    ///
    /// Nobody had claimed it, or it counted as another id of a purchase that it turned out not to be.
    func placeKept(like claim: PurchaseClaim, owner: ID<User>, entitled: Bool) throws {
        let purchase = claim.purchase
        guard purchase.mayBeRestored else { return }
        let kept = try tx.purchases.list(purchase.environment, original: purchase.originalTransactionID)
        let unplaced = Set(kept.transactionsByPurchase.filter { $0.allSatisfy { $0.order == nil } }.joined().map(\.key))
        let waiting = kept.filter { record in
            record.order == nil && (record.user == nil || record.sku != nil && unplaced.contains(record.key))
        }
        guard !waiting.isEmpty else { return }
        for record in waiting {
            let kept = PurchaseClaim(
                purchase: record.purchase, account: record.account, evidence: nil, rules: claim.rules, fallback: nil)
            _ = try place(kept, owner: owner, entitled: entitled, regrades: false)
        }
        if purchase.isSubscription {
            _ = try regradeSubscription(purchase, owner: owner, entitled: entitled, rules: claim.rules)
        }
        try touch(owner)
    }

    /// Keeps the purchase, finds what it means, completes its order and grants.
    ///
    /// A further id of a purchase that has its order already is kept beside it, and only what it says counts.
    /// - Parameters:
    ///   - regrades: false where the caller regrades once for many of one original transaction.
    ///   - isAlone: whether the claim tells all of its purchase, which no further id is of.
    func place(
        _ claim: PurchaseClaim, owner: ID<User>, entitled: Bool, regrades: Bool = true, isAlone: Bool = false
    ) throws -> DeferredResult<ClaimOutcome> {
        let key = claim.purchase.key(claimant: owner)
        let isNewer = try tx.purchases.upsert(
            claim.purchase, key: key, account: claim.account, evidence: claim.evidence, at: now)
        let found = try tx.purchases.find(claim.purchase.environment, key)
        let alike = isAlone ? nil : try tx.purchases.listCandidates(for: claim.purchase)
        let named = try tx.skus.findLiteral(appleProduct: claim.purchase.productID, bundle: claim.purchase.bundleID)
        guard let kept = try found.value() else { throw StoreError.corrupt("a purchase was not kept") }
        let purchases = try alike.map { try tx.purchases.listTransactions(of: kept, among: $0) } ?? [kept]
        let record = purchases.first ?? kept
        let isRevoked = record.purchase.isTakenBack
        guard let meant = try meaning(of: record, named: named.value(), claim) else {
            if kept.user == nil {
                try tx.purchases.assign(kept.purchase, key: key, user: owner, sku: nil, days: nil, order: nil)
                try tell(.purchaseUnmapped, kept.purchase, owner: owner, sku: nil, order: nil)
            }
            return DeferredResult(isRevoked ? .revoked : .unknownProduct)
        }
        guard let order = record.order else {
            return try placeFirst(
                record, key: key, as: meant, owner: owner, claim, entitled: entitled, regrades: regrades)
        }
        guard let code = meant.sku.code else { throw StoreError.corrupt("a SKU has no id") }
        if kept.order == nil, kept.user != owner || kept.sku != code {
            try tx.purchases.assign(kept.purchase, key: key, user: owner, sku: code, days: meant.days, order: nil)
        }
        // Another id may have been kept before anybody knew that it is of this purchase.
        for purchase in purchases where try isNewer.value() || purchases != [kept] && !stands(purchase) {
            try follow(purchase, owner: owner, claim, entitled: entitled)
        }
        guard !isRevoked else { return DeferredResult(.revoked) }
        let isForGood = meant.sku.kind(of: record.purchase) == .nonConsumable
        if isForGood, try giveHeld(code, in: record.purchase.environment, to: owner) { try touch(owner) }
        return try describe(kept, key: record.key, sku: meant.sku, owner: owner, order: order)
            .map { .attached($0, isNew: false) }
    }

    /// Completes the order of a purchase that has none yet, and grants.
    private func placeFirst(
        _ record: PurchaseRecord, key: String, as meant: (sku: SKU, days: Int64?), owner: ID<User>,
        _ claim: PurchaseClaim, entitled: Bool, regrades: Bool
    ) throws -> DeferredResult<ClaimOutcome> {
        let (sku, days) = meant
        guard let code = sku.code else { throw StoreError.corrupt("a SKU has no id") }
        let isRevoked = record.purchase.isTakenBack
        let terms = sku.terms(for: record.purchase, days: days)
        let sharers = try askSharers(of: record.purchase)
        let (order, entry) = try complete(record, sku: code, terms: terms, owner: owner)
        try tx.purchases.assign(record.purchase, key: key, user: owner, sku: code, days: days, order: order.id)
        if let kind = record.purchase.skuKind, kind != sku.kind {
            try self.record(.kindMismatch, order, "Apple sold a \(kind.rawValue) of \(sku.id), a \(sku.kind.rawValue)")
        }
        // What its store has taken back already is given and taken, so that every order of arrival ends in one state.
        try give(
            record.purchase, key: key, terms: terms, order: order, sharers: sharers, entitled: entitled,
            rules: claim.rules)
        var subscription: ID<Subscription>?
        if record.purchase.isSubscription {
            // The order's event names it.
            subscription = try tx.subscriptions.ensure(
                ids.make(), StoreSubject(record.purchase), account: claim.account, user: owner, nextCheckAt: now
            ).id
        }
        // Of what was made here nothing else can have been said, unless it is of another kind than was sold, or may be owned
        // already.
        if let entry, record.purchase.skuKind == sku.kind, sku.kind != .nonConsumable {
            try emit(
                .orderPaid,
                OrderSnapshot(made: order, account: record.account, subscription: subscription, timeline: [entry]))
        } else {
            try emit(.orderPaid, order.id)
        }
        try tell(.purchaseAttached, record.purchase, owner: owner, sku: code, order: order.id)
        if record.purchase.revocation != nil {
            let others = try bringInLine(record, key: key, order: order.id, rules: claim.rules)
            for user in others.subtracting([owner]).sorted() { try touch(user) }
        }
        if regrades { try regrade(record, owner: owner, claim, entitled: entitled) }
        guard !isRevoked else { return DeferredResult(.revoked) }
        return try describe(record, key: key, sku: sku, owner: owner, order: order.id)
            .map { .attached($0, isNew: true) }
    }

    /// The SKU that a product means: what was decided before, else the catalogue, else what it meant for an earlier period of
    /// the same subscription, else the client's word where that counts.
    ///
    /// - Parameter named: the SKU that names the claim's product literally.
    private func meaning(
        of record: PurchaseRecord, named: SKU?, _ claim: PurchaseClaim
    ) throws -> (sku: SKU, days: Int64?)? {
        let (product, bundle) = (record.purchase.productID, record.purchase.bundleID)
        let isClaims = product == claim.purchase.productID && bundle == claim.purchase.bundleID
        let named = isClaims ? named : try tx.skus.findLiteral(appleProduct: product, bundle: bundle).value()
        if let code = record.sku, let sku = try named?.code == code ? named : tx.skus.find(code),
            record.order != nil || sku.lasts(record.days, as: record.purchase)
        {
            return (sku, record.days)
        }
        if let found = try tx.skus.find(appleProduct: product, bundle: bundle, literal: named) {
            return found.sku.lasts(found.days, as: record.purchase) ? found : nil
        }
        if let period = try earlierPeriod(than: record), let code = period.sku, let sku = try tx.skus.find(code) {
            return (sku, period.days)
        }
        guard let fallback = claim.fallback else { return nil }
        let believed = try tx.skus.listActive().first { $0.clientFallback && $0.subscribeID == fallback.subscribeID }
        guard let sku = believed, let longest = sku.durationDays else { return nil }
        let days = fallback.durationDays ?? longest
        return (1...longest).contains(days) ? (sku, days) : nil
    }

    /// The latest given period of a subscription, sold as the same product.
    ///
    /// A renewal comes from the store, without the client's word that the first period was given by, and it goes on when the
    /// catalogue names its product no longer. In Xcode ids repeat, so that another's period may stand there.
    private func earlierPeriod(than record: PurchaseRecord) throws -> PurchaseRecord? {
        let purchase = record.purchase
        guard purchase.isSubscription, purchase.environment != .xcode else { return nil }
        return try tx.purchases.list(purchase.environment, original: purchase.originalTransactionID)
            .filter { $0.order != nil && $0.sku != nil && $0.purchase.productID == purchase.productID }
            .max { $0.purchase.purchasedAt < $1.purchase.purchasedAt }
    }

    /// The order of a purchase: the newest unpaid one that offered this product, even if it has expired, else a new one with
    /// what its history begins with.
    private func complete(
        _ record: PurchaseRecord, sku: SKUCode, terms: OrderTerms, owner: ID<User>
    ) throws -> (order: Order, entry: TimelineEntry?) {
        let purchase = record.purchase
        let charge = StoreCharge(
            sku: sku, price: purchase.charge, terms: terms, quantity: purchase.quantity,
            environment: purchase.environment, paidAt: purchase.purchased)
        if !purchase.isRenewal, let waiting = try waitingOrder(purchase, sku: sku, owner: owner) {
            try tx.orders.complete(waiting.order.id, from: waiting.order.state, by: waiting.payment.id, charge)
            if waiting.payment.state != .succeeded {
                try tx.payments.move(waiting.payment.id, from: waiting.payment.state, to: .succeeded)
            }
            _ = try tx.payments.setReference(purchase.transactionID, of: waiting.payment)
            try note(waiting.order, "order.paid", "\(purchase.environment.rawValue) \(purchase.transactionID)")
            try audit(waiting.order, "order.paid", before: waiting.order.state.rawValue, after: purchase.transactionID)
            try closeAttempts(try tx.payments.list(of: waiting.order.id).value(), of: waiting.order.id)
            return (try tx.orders.find(waiting.order.id) ?? waiting.order, nil)
        }
        let order = Order(
            id: ids.make(), user: owner, origin: purchase.isRenewal ? .renewal : .purchase, sku: sku,
            quantity: min(max(purchase.quantity, 1), SKU.quantityRange.upperBound), terms: terms, days: nil,
            amount: purchase.charge, state: .paid, platform: .ios, environment: purchase.environment, partner: nil,
            returnURL: nil, metadata: [:], charged: purchase.charge, createdAt: now, expiresAt: now,
            paidAt: purchase.purchased)
        try tx.orders.insert(order)
        let entry = try note(order, "order.paid", "\(purchase.environment.rawValue) \(purchase.transactionID)")
        try audit(order, "order.paid", before: "", after: purchase.transactionID, isNew: true)
        return (order, entry)
    }

    /// 60 s of tolerance, because the store's clock is not ours.
    private func waitingOrder(
        _ purchase: StorePurchase, sku: SKUCode, owner: ID<User>
    ) throws -> (order: Order, payment: Payment)? {
        let limit = purchase.purchased.adding(seconds: 60)
        for found in try tx.purchases.listAwaitingOrders(
            appleProduct: purchase.productID, sku: sku, user: owner, before: limit)
        {
            guard let order = try tx.orders.lock(found.order), order.state != .paid,
                let payment = try tx.payments.lock(found.payment)?.payment
            else { continue }
            return (order, payment)
        }
        return nil
    }

    /// What the purchase's SKU gives: a grant from Apple's time of purchase, or units.
    private func give(
        _ purchase: StorePurchase, key: String, terms: OrderTerms, order: Order, sharers: DeferredResult<[ID<User>]>,
        entitled: Bool, rules: TestPurchaseRules
    ) throws {
        let source = LedgerSource(kind: Grant.SourceKind.appleTransaction.rawValue, id: key)
        for (unit, amount) in terms.units.sorted(by: { $0.key < $1.key }) where entitled || purchase.isReal {
            _ = try tx.wallets.book(
                amount, unit: unit, user: order.user, environment: purchase.environment, source: source, step: 1,
                at: now)
        }
        let grant = purchase.grant(
            ids.make(), to: order.user, key: key, order: order, entitled: entitled, rules: rules)
        if !purchase.isSubscription, let grant {
            if terms.kind == .nonConsumable, !purchase.isTakenBack,
                try owns(order.sku, order.user, in: purchase.environment, besides: order.id)
            {
                try record(.duplicateOwnership, order, "\(purchase.transactionID) is of something owned already")
            } else {
                try tx.grants.insert(grant)
            }
            try giveSharers(sharers.value(), purchase, order, rules: rules)
        }
    }

    /// The purchase's grant as it now stands.
    func describe(
        _ record: PurchaseRecord, key: String, sku: SKU, owner: ID<User>, order: ID<Order>
    ) throws -> DeferredResult<AttachedPurchase> {
        let grants = try tx.grants.list(of: owner)
        // Only what may be a consumable credits anything, and units are who had them first's.
        let mayCredit = (record.purchase.skuKind ?? .consumable) == .consumable
        let units = try (mayCredit ? tx.orders.find(order) : nil).flatMap {
            $0.user == owner && $0.terms.kind == .consumable ? $0.terms.units : nil
        }
        return grants.map {
            described(record, key: key, sku: sku, order: order, owned: $0, credited: units ?? [:])
        }
    }

    private func described(
        _ record: PurchaseRecord, key: String, sku: SKU, order: ID<Order>, owned grants: [Grant],
        credited: [String: Int64]
    ) -> AttachedPurchase {
        let purchase = record.purchase
        let sourceID = purchase.isSubscription ? purchase.originalTransactionID : key
        let owned = EntitlementRules.fold(grants, now: now).entitlements.filter {
            $0.grant.environment == purchase.environment
        }
        // What was bought again has no grant of its own while another gives it.
        let isForGood = sku.kind(of: purchase) == .nonConsumable
        let entitlement =
            owned.first { $0.grant.source.id == sourceID }
            ?? owned.first {
                isForGood && $0.grant.kind == .nonConsumable && $0.grant.sku == sku.code && $0.status.holds
            }
        let perpetual = entitlement.map { $0.endsAt == nil } ?? false
        return AttachedPurchase(
            expires_at: entitlement.map { ($0.endsAt ?? .farFuture).rawValue } ?? 0,
            tier: entitlement?.grant.tier ?? "",
            active: entitlement?.status.holds ?? false, status: entitlement?.status.rawValue ?? "none",
            perpetual: perpetual,
            sku: sku.id,
            order_id: order.rawValue, transaction_id: purchase.transactionID,
            original_transaction_id: purchase.originalTransactionID, environment: purchase.environment.rawValue,
            credited: credited,
            startsAt: entitlement?.startsAt ?? purchase.purchased)
    }

    /// Tells the outbox what became of a purchase.
    func tell(
        _ type: EventType, _ purchase: StorePurchase, owner: ID<User>, sku: SKUCode?, order: ID<Order>?
    ) throws {
        struct Told: Encodable {
            let user_id: String
            let transaction_id: String
            let original_transaction_id: String
            let product_id: String
            let environment: String
            let sku: String?
            let order_id: String?
        }
        let told = Told(
            user_id: owner.rawValue, transaction_id: purchase.transactionID,
            original_transaction_id: purchase.originalTransactionID, product_id: purchase.productID,
            environment: purchase.environment.rawValue, sku: sku?.rawValue, order_id: order?.rawValue)
        try tx.events.insert(
            EventRecord(
                id: ids.make(), subject: purchase.originalTransactionID, type: type, user: owner, partner: nil, at: now,
                data: try told.storedJSON()))
    }
}
