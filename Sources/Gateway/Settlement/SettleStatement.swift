import Domain
import FoundationEssentials
import ProviderKit
import Store

/// The account whose store states something, and what its test purchases are worth.
struct StoreWord: Sendable {
    let account: AccountID
    let rules: TestPurchaseRules
    /// The sealed evidence of a purchase; nil leaves what was kept before.
    var evidence: Data?
}

extension Settlement {
    /// Settles what a store stated by itself, for whoever it belongs to; what nobody has claimed is kept.
    func settle(_ statement: StoreStatement, _ word: StoreWord) throws {
        guard let subject = StoreSubject(statement) else { return }
        try tx.purchaseOwners.lock(subject.environment, subject.original)
        for user in try users(of: statement).sorted() { try tx.users.lock(user) }
        let token = try token(of: statement)
        var owner = try tx.purchaseOwners.find(of: StoreSubject(subject.environment, subject.original)).value() ?? token
        // The renewal first, so that the purchase is settled with it.
        let isNews = try keepRenewal(statement, word, owner: owner)
        if let purchase = statement.purchase {
            let claim = PurchaseClaim(
                purchase: purchase, account: word.account, evidence: word.evidence, rules: word.rules, fallback: nil)
            if let known = owner {
                let decided = try self.owner(of: purchase, claimant: known, token: token)
                let entitled = try entitles(decided, word)
                _ = try place(claim, owner: decided, entitled: entitled)
                try placeKept(like: claim, owner: decided, entitled: entitled)
                owner = decided
            } else {
                try keepUnclaimed(claim)
            }
            if statement.asksForConsumption, let owner {
                try settleConsumptionRequest(purchase, at: word.account, owner: owner)
            }
        }
        guard isNews, let owner,
            let known = try tx.purchases.list(subject.environment, original: subject.original).first?.purchase
        else { return }
        if try regradeSubscription(known, owner: owner, entitled: try entitles(owner, word), rules: word.rules) {
            try touch(owner)
        }
    }

    /// Whose state a statement may change.
    func users(of statement: StoreStatement) throws -> Set<ID<User>> {
        guard let subject = StoreSubject(statement) else { return [] }
        let holders = try tx.purchaseOwners.listHolders(of: subject)
        let buyers = try statement.purchase.map { try tx.purchases.listBuyers(of: $0).value() } ?? []
        return try holders.value().union(buyers).union([token(of: statement)].compactMap { $0 })
    }

    private func token(of statement: StoreStatement) throws -> ID<User>? {
        let token = try statement.purchase?.appAccountToken.flatMap { try tx.users.findID(appAccountToken: $0).value() }
        // Nobody begins to own anything after the own erasure.
        return try token.flatMap { try tx.users.isErased($0) ? nil : $0 }
    }

    private func entitles(_ owner: ID<User>, _ word: StoreWord) throws -> Bool {
        word.rules.entitles(try tx.users.findExternalID(owner) ?? "")
    }

    /// - Returns: whether the renewal or the store's own word on the subscription says anything new.
    private func keepRenewal(_ statement: StoreStatement, _ word: StoreWord, owner: ID<User>?) throws -> Bool {
        let standing = statement.purchase?.isSubscription == false ? nil : statement.standing
        guard statement.renewal != nil || standing != nil, let subject = StoreSubject(statement) else { return false }
        let subscription = try tx.subscriptions.ensure(
            ids.make(), subject, account: word.account, user: owner, nextCheckAt: now)
        let isStanding = try standing.map { try tx.subscriptions.setStatus($0, of: subscription) } ?? false
        let isRenewal = try statement.renewal.map { try tx.subscriptions.setRenewal($0, of: subscription.id) } ?? false
        return isStanding || isRenewal
    }

    /// Keeps a purchase that no user is known of; a later claim grants it at once.
    private func keepUnclaimed(_ claim: PurchaseClaim) throws {
        let purchase = claim.purchase
        let key = purchase.key(claimant: nil)
        _ = try tx.purchases.upsert(purchase, key: key, account: claim.account, evidence: claim.evidence, at: now)
        guard let record = try tx.purchases.find(purchase.environment, key).value(), record.user == nil,
            record.sku == nil,
            let found = try tx.skus.find(appleProduct: purchase.productID, bundle: purchase.bundleID),
            found.sku.lasts(found.days, as: purchase)
        else { return }
        try tx.purchases.assign(purchase, key: key, user: nil, sku: found.sku.code, days: found.days, order: nil)
    }
}

extension StoreSubject {
    init?(_ statement: StoreStatement) {
        if let purchase = statement.purchase {
            self.init(purchase)
        } else if let renewal = statement.renewal {
            self.init(renewal)
        } else {
            return nil
        }
    }
}
