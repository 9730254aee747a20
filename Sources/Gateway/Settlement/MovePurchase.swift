import Domain
import ProviderKit
import Store

extension Settlement {
    /// Finds whose a purchase is, and binds it to its first claimant.
    ///
    /// A signed token of a user of ours decides, over an earlier binding too, unless a later word names somebody else or
    /// the binding was decided by an admin over that very word. In Xcode nothing is bound, because ids repeat there. The
    /// caller holds the locks of all who are named here.
    /// - Parameter known: the owner just before.
    func owner(
        of purchase: StorePurchase, claimant: ID<User>, token: ID<User>?, known: DeferredResult<ID<User>?>? = nil
    ) throws -> ID<User> {
        guard purchase.environment != .xcode else { return claimant }
        let subject = StoreSubject(purchase)
        // Nobody begins to own anything after the own erasure.
        let isErased = if let token, token != claimant { try tx.users.isErased(token) } else { false }
        let bound = try tx.purchaseOwners.bind(
            subject, to: isErased ? claimant : token ?? claimant, known: known, at: now)
        // What was an erased person's is nobody else's; only an admin moves it.
        guard let token, token != bound, !isErased, try !tx.users.isErased(bound),
            try isNews(purchase, naming: token)
        else { return bound }
        try move(subject, from: bound, to: token)
        return token
    }

    /// Whether a transaction's token says something that no kept one has said and no later one contradicts.
    private func isNews(_ purchase: StorePurchase, naming user: ID<User>) throws -> Bool {
        guard let said = try signedOwner(of: StoreSubject(purchase)) else { return true }
        return said.user != user
            && (said.purchase.purchasedAt, said.purchase.signedAt) <= (purchase.purchasedAt, purchase.signedAt)
    }

    /// The user of ours whom the latest kept transaction with a token of ours names.
    func signedOwner(of subject: StoreSubject) throws -> (user: ID<User>, purchase: StorePurchase)? {
        let kept = try tx.purchases.list(subject.environment, original: subject.original).map(\.purchase)
        let latestFirst = kept.sorted { ($0.purchasedAt, $0.signedAt) > ($1.purchasedAt, $1.signedAt) }
        var foreign: Set<String> = []
        for purchase in latestFirst {
            guard let token = purchase.appAccountToken, !foreign.contains(token) else { continue }
            if let user = try tx.users.findID(appAccountToken: token).value() { return (user, purchase) }
            foreign.insert(token)
        }
        return nil
    }

    /// Moves an original transaction to another user with the grants of all its transactions.
    ///
    /// Orders stay in the history of who made them, and units with who first had them (`domain.md` section 5). Who shared
    /// it goes on sharing it: a share came from that user's own verified claim, and only who becomes the owner needs it no
    /// longer. The caller holds the locks of all of them.
    func move(_ subject: StoreSubject, from old: ID<User>, to new: ID<User>) throws {
        try tx.purchaseOwners.deleteShare(of: subject, with: new)
        try tx.purchaseOwners.move(subject.environment, original: subject.original, from: old, to: new, at: now)
        try tellTransfer(of: subject, from: old, to: new)
        // What was held beside it stands alone now, and what was held itself may stand alone where it went.
        let kept = try tx.purchases.list(subject.environment, original: subject.original)
        for sku in Set(kept.filter { !$0.purchase.isPeriod }.compactMap(\.sku)).sorted() {
            for user in [old, new] { _ = try giveHeld(sku, in: subject.environment, to: user) }
        }
        try touch(old)
        try touch(new)
    }

    /// Leaves the trace of a change of owner: one audit row and one event.
    ///
    /// - Parameter old: nil where nobody had claimed it.
    func tellTransfer(of subject: StoreSubject, from old: ID<User>?, to new: ID<User>) throws {
        try audit(
            subject: subject.original, "purchase.transferred", before: old?.rawValue ?? "", after: new.rawValue)
        let moved = MovedPurchase(
            original_transaction_id: subject.original, environment: subject.environment, from_user_id: old?.rawValue,
            user_id: new.rawValue)
        try tx.events.insert(
            EventRecord(
                id: ids.make(), subject: subject.original, type: .purchaseTransferred, user: new, partner: nil, at: now,
                data: try moved.storedJSON()))
    }
}

private struct MovedPurchase: Encodable {
    let original_transaction_id: String
    let environment: Environment
    @Nullable private(set) var from_user_id: String?
    let user_id: String
}
