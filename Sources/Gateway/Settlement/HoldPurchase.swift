import Domain
import Store

/// How a claimant stands to a purchase after the claim.
struct PurchaseHold: Sendable {
    enum Right: Sendable {
        case owner, sharer, none
    }

    let owner: ID<User>
    let right: Right
    /// Whether this claim gave a purchase that was another's before.
    var isNew = false
}

extension Settlement {
    /// Decides whose a claimed purchase is, and moves or shares it where the policy says so (`domain.md` section 6).
    ///
    /// The policy decides only about what no signed token speaks of: where any transaction of the same original names a
    /// user of ours, its owner stays, for otherwise an old transaction without a token would undo the newer one's word. A
    /// claim by what the store took back gives nothing and changes no hands.
    /// - Parameter mayChangeHands: false where nobody claims anything: what is kept is settled again for its owner.
    func hold(
        _ claim: PurchaseClaim, claimant: ID<User>, token: ID<User>?, mayChangeHands: Bool
    ) throws -> PurchaseHold {
        let purchase = claim.purchase
        let subject = StoreSubject(purchase)
        let before = try tx.purchaseOwners.find(of: subject)
        let owner = try owner(of: purchase, claimant: claimant, token: token, known: before)
        if owner == claimant {
            return PurchaseHold(owner: owner, right: .owner, isNew: try before.value().map { $0 != owner } ?? false)
        }
        guard token == nil || token == claimant else { return PurchaseHold(owner: owner, right: .none) }
        let sharers = try tx.purchaseOwners.listSharers(of: subject).value()
        if sharers.contains(claimant) { return PurchaseHold(owner: owner, right: .sharer) }
        guard mayChangeHands, token == nil, try !tx.purchases.isRevoked(purchase, at: claim.account),
            try !tx.users.isErased(owner),
            try signedOwner(of: subject) == nil
        else { return PurchaseHold(owner: owner, right: .none) }
        if try mayMove(purchase, from: owner) {
            try move(subject, from: owner, to: claimant)
            return PurchaseHold(owner: claimant, right: .owner, isNew: true)
        }
        // The owner is one of them.
        if ownership.policy == .share, Int64(sharers.count) + 1 < ownership.shareLimit {
            try tx.purchaseOwners.insertShare(of: subject, with: claimant, at: now)
            try audit(subject: subject.original, "purchase.shared", before: owner.rawValue, after: claimant.rawValue)
            return PurchaseHold(owner: owner, right: .sharer, isNew: true)
        }
        return PurchaseHold(owner: owner, right: .none)
    }

    private func mayMove(_ purchase: StorePurchase, from owner: ID<User>) throws -> Bool {
        let subject = StoreSubject(purchase)
        switch ownership.policy {
        case .keep, .share: return false
        case .transfer:
            guard let boundAt = try tx.purchaseOwners.boundAt(subject) else { return false }
            return ownership.mayMove(boundAt: boundAt, now: now)
        case .transferIfInactive:
            // A renewal goes on with what the owner has, also when it is heard of here first.
            if purchase.isRenewal, let end = purchase.expires, now < end { return false }
            return try !runs(subject, for: owner)
        }
    }

    /// Whether anything of an original transaction entitles its owner, or may come back by itself.
    private func runs(_ subject: StoreSubject, for owner: ID<User>) throws -> Bool {
        let kept = try tx.purchases.list(subject.environment, original: subject.original)
        // What no SKU knows yet is granted as soon as one does.
        if kept.contains(where: { $0.sku == nil && $0.purchase.mayRun(at: now) }) { return true }
        let keys = Set(kept.map(\.key))
        return EntitlementRules.fold(try tx.grants.list(of: owner).value(), now: now).entitlements.contains {
            entitlement in
            let grant = entitlement.grant
            guard grant.environment == subject.environment else { return false }
            switch grant.source.kind {
            case .appleSubscription: if grant.source.id != subject.original { return false }
            case .appleTransaction: if !keys.contains(grant.source.id) { return false }
            case .order, .admin, .partner: return false
            }
            switch entitlement.status {
            case .active, .inGracePeriod, .inBillingRetry, .scheduled, .suspended: return true
            case .expired: return awaitsRenewal(grant)
            case .revoked, .upgraded: return false
            }
        }
    }

    /// Whether a subscription is due whose renewal is on, and its store has not said yet what became of it.
    private func awaitsRenewal(_ grant: Grant) -> Bool {
        guard let renewal = grant.renewal, renewal.willRenew == true else { return false }
        return now < renewal.paidUntil.adding(seconds: StoreRenewal.longestRetry)
    }

    /// Locks all whose entitlements claims may change and their claimant, made when first seen, in an order that any two
    /// settlements share.
    ///
    /// The original transactions come first: whoever holds one of them knows who its holders are.
    /// - Returns: the claimant.
    func lockHolders(of claims: [PurchaseClaim], claimant name: ExternalUserID) throws -> ID<User> {
        let known = try tx.users.lockShared(name)
        let holders = try findHolders(of: claims)
        let claimant = try tx.users.ensure(name, known: known, candidate: ids.make(), at: now)
        try lockUsers(holders().union([claimant]))
        return claimant
    }

    /// - Parameter user: who is locked as well.
    func lockHolders(of claims: [PurchaseClaim], besides user: ID<User>) throws {
        try lockUsers(findHolders(of: claims)().union([user]))
    }

    /// Locks the original transactions of claims, and asks whose entitlements they may change.
    private func findHolders(of claims: [PurchaseClaim]) throws -> () throws -> Set<ID<User>> {
        guard tx.dialect.locksRows else { return { [] } }
        try lock(claims.map { StoreSubject($0.purchase) })
        var holders: [DeferredResult<Set<ID<User>>>] = []
        var asked: Set<[String]> = []
        for purchase in claims.map(\.purchase) {
            if let token = purchase.appAccountToken {
                holders.append(try tx.users.findID(appAccountToken: token).map { Set([$0].compactMap { $0 }) })
            }
            let subject = StoreSubject(purchase)
            guard asked.insert([subject.environment.rawValue, subject.original, purchase.productID]).inserted else {
                continue
            }
            holders.append(try tx.purchaseOwners.listHolders(of: subject))
            // Who first had it: units go back from there, whoever it belongs to by now.
            holders.append(try tx.purchases.listBuyers(of: purchase).map { Set($0) })
        }
        return { try holders.reduce(into: []) { $0.formUnion(try $1.value()) } }
    }

    private func lockUsers(_ users: Set<ID<User>>) throws {
        for user in users.sorted() { try tx.users.lock(user) }
    }

    /// Locks original transactions in an order that any two settlements share.
    func lock(_ subjects: some Sequence<StoreSubject>) throws {
        let inOrder = Set(subjects).sorted {
            ($0.original, $0.environment.rawValue) < ($1.original, $1.environment.rawValue)
        }
        for subject in inOrder { try tx.purchaseOwners.lock(subject.environment, subject.original) }
    }
}

extension StorePurchase {
    /// Whether it lasts, as far as it says so itself: only a SKU says how long a pass does.
    fileprivate func mayRun(at now: Timestamp) -> Bool {
        guard !isTakenBack else { return false }
        return ends.map { now < $0 } ?? (kind != .consumable)
    }
}
