import Domain
import ProviderKit
import Store

extension Settlement {
    /// Finds whose a purchase is, and binds it to its first claimant.
    ///
    /// A signed token of a user of ours decides, over an earlier binding too, unless a later transaction of the same
    /// original names somebody else. In Xcode nothing is bound, because ids repeat there.
    func owner(of purchase: StorePurchase, claimant: ID<User>, token: ID<User>?) throws -> ID<User> {
        guard purchase.environment != .xcode else { return claimant }
        let bound = try tx.bindPurchase(purchase, to: token ?? claimant, at: now)
        // Bound to a third user before: whatever changes is that user's too. Should that lock cross another settlement's,
        // the database breaks the tie and the closure runs again.
        if bound != claimant && bound != token { try tx.lockUser(bound) }
        // What was an erased person's is nobody else's; only an admin moves it.
        guard let token, token != bound, try !tx.isErased(bound), try !tx.isErased(token), try isLatestWord(purchase)
        else { return bound }
        try move(purchase, from: bound, to: token)
        return token
    }

    private func isLatestWord(_ purchase: StorePurchase) throws -> Bool {
        try !tx.storePurchases(purchase.environment, original: purchase.originalTransactionID).contains {
            guard $0.purchase.purchasedAt > purchase.purchasedAt, let other = $0.purchase.appAccountToken,
                other != purchase.appAccountToken
            else { return false }
            return try tx.user(appAccountToken: other) != nil
        }
    }

    /// Moves an original transaction to another user with the grants of all its transactions.
    ///
    /// Orders stay in the history of who made them, and units with who first had them (`domain.md` section 5). The caller
    /// holds both users' locks.
    func move(_ purchase: StorePurchase, from old: ID<User>, to new: ID<User>) throws {
        let original = purchase.originalTransactionID
        try tx.movePurchases(purchase.environment, original: original, from: old, to: new, at: now)
        try audit(subject: original, "purchase.transferred", before: old.rawValue, after: new.rawValue)
        struct Moved: Encodable {
            let original_transaction_id: String
            let environment: Environment
            let from_user_id: String
            let user_id: String
        }
        let moved = Moved(
            original_transaction_id: original, environment: purchase.environment, from_user_id: old.rawValue,
            user_id: new.rawValue)
        try tx.appendEvent(
            EventRecord(
                id: ids.make(), subject: original, type: .purchaseTransferred, user: new, partner: nil, at: now,
                data: try moved.storedJSON()))
        try touch(old)
        try touch(new)
    }
}
