import Domain
import ProviderKit
import Store

/// The decision about a claim of a purchase.
struct OwnershipDecision: Sendable {
    enum Right: Sendable {
        /// The claimant owns the purchase.
        case owner
        /// Another user owns the purchase and shares it with the claimant.
        case sharer
        /// Another user owns the purchase, and the claimant gets nothing.
        case none
    }

    let owner: ID<User>
    let right: Right
    /// True where this claim moved the purchase from another user to the claimant.
    var isNew = false
}

/// The owners and sharers of original transactions (`docs/domain.md`, section 6).
struct PurchaseOwnership {
    let log: ChangeLog
    let rules: OwnershipRules
    let entitlements: EntitlementLedger

    private var tx: any Transaction { log.tx }

    /// Decides who owns a claimed purchase, and moves or shares it where the policy says so.
    ///
    /// The policy applies only to purchases without a signed token. Where any transaction of the same original names a
    /// known user, the owner stays; otherwise an older transaction without a token would undo what the newer one says.
    /// A claim of a purchase that the store revoked moves and shares nothing.
    /// - Parameters:
    ///   - token: the known user whom the claim's signed token names.
    ///   - mayChangeHands: false where there is no claim and a stored purchase is applied again for its owner.
    func decide(
        _ claim: PurchaseClaim, claimant: ID<User>, token: ID<User>?, mayChangeHands: Bool
    ) throws -> OwnershipDecision {
        let purchase = claim.purchase
        let subject = StoreSubject(purchase)
        let before = try tx.purchaseOwners.find(of: subject)
        let owner = try bind(purchase, claimant: claimant, token: token, known: before)
        if owner == claimant {
            return OwnershipDecision(
                owner: owner, right: .owner, isNew: try before.value().map { $0 != owner } ?? false)
        }
        guard token == nil || token == claimant else { return OwnershipDecision(owner: owner, right: .none) }
        let sharers = try tx.purchaseOwners.listSharers(of: subject).value()
        if sharers.contains(claimant) { return OwnershipDecision(owner: owner, right: .sharer) }
        guard mayChangeHands, token == nil, try !tx.purchases.isRevoked(purchase, at: claim.account),
            try !tx.users.isErased(owner),
            try signedOwner(of: subject) == nil
        else { return OwnershipDecision(owner: owner, right: .none) }
        if try mayMove(purchase, from: owner) {
            try move(subject, from: owner, to: claimant)
            return OwnershipDecision(owner: claimant, right: .owner, isNew: true)
        }
        // The limit counts the owner as well.
        if rules.policy == .share, Int64(sharers.count) + 1 < rules.shareLimit {
            try tx.purchaseOwners.insertShare(of: subject, with: claimant, at: log.now)
            try log.audit(
                subject: subject.original, "purchase.shared", before: owner.rawValue, after: claimant.rawValue)
            return OwnershipDecision(owner: owner, right: .sharer, isNew: true)
        }
        return OwnershipDecision(owner: owner, right: .none)
    }

    private func mayMove(_ purchase: StorePurchase, from owner: ID<User>) throws -> Bool {
        let subject = StoreSubject(purchase)
        switch rules.policy {
        case .keep, .share: return false
        case .transfer:
            guard let boundAt = try tx.purchaseOwners.boundAt(subject) else { return false }
            return rules.mayMove(boundAt: boundAt, now: log.now)
        case .transferIfInactive:
            // A renewal continues the owner's purchase, also where this claim is the first that reports it.
            if purchase.isRenewal, let end = purchase.expires, log.now < end { return false }
            return try !isActive(subject, for: owner)
        }
    }

    /// Returns true where a transaction of the original entitles its owner, or may do so again without a new purchase.
    private func isActive(_ subject: StoreSubject, for owner: ID<User>) throws -> Bool {
        let records = try tx.purchases.list(subject.environment, original: subject.original)
        // A purchase without a SKU is granted as soon as one names it.
        if records.contains(where: { $0.sku == nil && $0.purchase.mayLast(at: log.now) }) { return true }
        let keys = Set(records.map(\.key))
        return EntitlementRules.fold(try tx.grants.list(of: owner).value(), now: log.now).entitlements.contains {
            entitlement in
            let grant = entitlement.grant
            guard grant.environment == subject.environment else { return false }
            switch grant.source.kind {
            case .appleSubscription: if grant.source.id != subject.original { return false }
            case .appleTransaction: if !keys.contains(grant.source.id) { return false }
            case .order, .admin, .partner, .managedSubscription: return false
            }
            switch entitlement.status {
            case .active, .inGracePeriod, .inBillingRetry, .scheduled, .suspended: return true
            case .expired: return awaitsRenewal(grant)
            case .revoked, .upgraded: return false
            }
        }
    }

    /// Returns true for a subscription that is due, has its renewal on, and whose store has not yet stated the outcome.
    private func awaitsRenewal(_ grant: Grant) -> Bool {
        guard let renewal = grant.renewal, renewal.willRenew == true else { return false }
        return log.now < renewal.paidUntil.adding(seconds: StoreRenewal.longestRetry)
    }

    /// Binds a purchase to its first claimant, or finds the user to whom it is bound.
    ///
    /// A signed token of a known user overrides an earlier binding, unless a later transaction names another user or an
    /// admin transferred that very transaction. In Xcode nothing is bound, because ids repeat there. The caller has
    /// locked all these users.
    /// - Parameter known: the owner before, where the caller has queried it.
    func bind(
        _ purchase: StorePurchase, claimant: ID<User>, token: ID<User>?, known: DeferredResult<ID<User>?>? = nil
    ) throws -> ID<User> {
        guard purchase.environment != .xcode else { return claimant }
        let subject = StoreSubject(purchase)
        // An erased user gets no further purchases.
        let isErased = if let token, token != claimant { try tx.users.isErased(token) } else { false }
        let bound = try tx.purchaseOwners.bind(
            subject, to: isErased ? claimant : token ?? claimant, known: known, at: log.now)
        // Only an admin moves a purchase of an erased user.
        guard let token, token != bound, !isErased, try !tx.users.isErased(bound),
            try isNews(purchase, naming: token)
        else { return bound }
        try move(subject, from: bound, to: token)
        return token
    }

    /// Returns true where no stored transaction has named the user of this transaction's token, and no later one names
    /// another user.
    private func isNews(_ purchase: StorePurchase, naming user: ID<User>) throws -> Bool {
        guard let signed = try signedOwner(of: StoreSubject(purchase)) else { return true }
        return signed.user != user
            && (signed.purchase.purchasedAt, signed.purchase.signedAt) <= (purchase.purchasedAt, purchase.signedAt)
    }

    /// Finds the user whom the latest stored transaction with a known token names, and that transaction.
    private func signedOwner(of subject: StoreSubject) throws -> (user: ID<User>, purchase: StorePurchase)? {
        let purchases = try tx.purchases.list(subject.environment, original: subject.original).map(\.purchase)
        let latestFirst = purchases.sorted { ($0.purchasedAt, $0.signedAt) > ($1.purchasedAt, $1.signedAt) }
        var foreign: Set<String> = []
        for purchase in latestFirst {
            guard let token = purchase.appAccountToken, !foreign.contains(token) else { continue }
            if let user = try tx.users.findID(appAccountToken: token).value() { return (user, purchase) }
            foreign.insert(token)
        }
        return nil
    }

    /// Moves an original transaction to another user, with the grants of all its transactions.
    ///
    /// Orders stay with the user who made them, and units with their first owner. Users who share the purchase keep
    /// their shares, because each share came from a verified claim of its own; only the new owner's share ends. The
    /// caller has locked all these users.
    func move(_ subject: StoreSubject, from old: ID<User>, to new: ID<User>) throws {
        try tx.purchaseOwners.deleteShare(of: subject, with: new)
        try tx.purchaseOwners.move(subject.environment, original: subject.original, from: old, to: new, at: log.now)
        try recordTransfer(of: subject, from: old, to: new)
        // The move can leave each of the two users with a duplicate as the only purchase of its SKU.
        let records = try tx.purchases.list(subject.environment, original: subject.original)
        for sku in Set(records.filter { !$0.purchase.isPeriod }.compactMap(\.sku)).sorted() {
            for user in [old, new] {
                _ = try entitlements.grantDuplicate(of: sku, in: subject.environment, to: user)
            }
        }
        try entitlements.publish(old)
        try entitlements.publish(new)
    }

    /// Writes the audit entry and the event of a change of owner.
    ///
    /// - Parameter old: nil where the purchase was unclaimed.
    func recordTransfer(of subject: StoreSubject, from old: ID<User>?, to new: ID<User>) throws {
        try log.audit(
            subject: subject.original, "purchase.transferred", before: old?.rawValue ?? "", after: new.rawValue)
        let transfer = PurchaseTransfer(
            original_transaction_id: subject.original, environment: subject.environment, from_user_id: old?.rawValue,
            user_id: new.rawValue)
        try log.emit(.purchaseTransferred, subject: subject.original, user: new, data: try transfer.storedJSON())
    }
}

// Locks. Two settlements take them in the same order, so that they cannot deadlock: original transactions, then users.
// While an original transaction is locked, its owner and its sharers cannot change.
extension PurchaseOwnership {
    /// Locks all users whose entitlements the claims may change, and the claimant, who is inserted where unknown.
    ///
    /// - Returns: the claimant.
    func lockHolders(of claims: [PurchaseClaim], claimant name: ExternalUserID) throws -> ID<User> {
        let known = try tx.users.lockShared(name)
        let holders = try findHolders(of: claims)
        let claimant = try tx.users.ensure(name, known: known, candidate: log.ids.make(), at: log.now)
        try lockUsers(holders().union([claimant]))
        return claimant
    }

    /// Locks all users whose entitlements the claims may change, and a further user.
    func lockHolders(of claims: [PurchaseClaim], besides user: ID<User>) throws {
        try lockUsers(findHolders(of: claims)().union([user]))
    }

    /// Locks the original transactions of claims, and sends the queries for the users whose entitlements they may
    /// change.
    ///
    /// - Returns: a closure that waits for the answers.
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
            // A refund takes units back from the first owner, whoever owns the purchase by now.
            holders.append(try tx.purchases.listBuyers(of: purchase).map { Set($0) })
        }
        return { try holders.reduce(into: []) { $0.formUnion(try $1.value()) } }
    }

    /// Finds all users whose entitlements a store's statement may change.
    func users(of statement: StoreStatement) throws -> Set<ID<User>> {
        guard let subject = StoreSubject(statement) else { return [] }
        let holders = try tx.purchaseOwners.listHolders(of: subject)
        let buyers = try statement.purchase.map { try tx.purchases.listBuyers(of: $0).value() } ?? []
        return try holders.value().union(buyers).union([signedUser(of: statement)].compactMap { $0 })
    }

    /// Finds the known user whom a statement's signed token names; nil for an erased user, who gets no further
    /// purchases.
    func signedUser(of statement: StoreStatement) throws -> ID<User>? {
        let user = try statement.purchase?.appAccountToken.flatMap { try tx.users.findID(appAccountToken: $0).value() }
        return try user.flatMap { try tx.users.isErased($0) ? nil : $0 }
    }

    /// Locks original transactions.
    func lock(_ subjects: some Sequence<StoreSubject>) throws {
        let inOrder = Set(subjects).sorted {
            ($0.original, $0.environment.rawValue) < ($1.original, $1.environment.rawValue)
        }
        for subject in inOrder { try tx.purchaseOwners.lock(subject.environment, subject.original) }
    }

    /// Locks all users whose entitlements several statements may change; for a single one the ledger locks them itself.
    func lockHolders(of statements: [StoreStatement]) throws {
        try lock(statements.compactMap { StoreSubject($0) })
        guard statements.count > 1 else { return }
        try lockUsers(statements.reduce(into: []) { $0.formUnion(try users(of: $1)) })
    }

    private func lockUsers(_ users: Set<ID<User>>) throws {
        for user in users.sorted() { try tx.users.lock(user) }
    }
}

/// The data of the event `purchase.transferred`.
private struct PurchaseTransfer: Encodable {
    let original_transaction_id: String
    let environment: Environment
    /// The previous owner; null where the purchase was unclaimed.
    @Nullable private(set) var from_user_id: String?
    let user_id: String
}

extension StorePurchase {
    /// Returns true where the purchase may entitle its owner: it is not revoked, and its signed end is ahead, or it has
    /// none and is no consumable.
    fileprivate func mayLast(at now: Timestamp) -> Bool {
        guard !isTakenBack else { return false }
        return ends.map { now < $0 } ?? (kind != .consumable)
    }
}
