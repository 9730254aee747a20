package import Domain
package import ProviderKit
import Store

/// Store purchases: users attach and restore them, admins transfer them and list waiting ones.
package struct Purchases: Sendable {
    let store: StoreAccess
    let settlements: SettlementRunner
    let evidence: EvidenceVerifier
    let defaultCurrency: Currency?

    /// The number of signatures that are verified in one run, so that those of other requests come in between.
    private static let verifiedTogether = 10

    /// Attaches one purchase to its user.
    ///
    /// - Parameter consent: true where the store may be told how much was used; nil keeps the customer's last choice.
    /// - Throws: `invalidTransaction`, `unknownProduct` (the purchase is stored), `purchaseBelongsToAnotherUser`,
    ///   `purchaseRevoked` (stored), `noProviderAvailable` where no account verifies store purchases.
    package func attach(
        _ evidence: PurchaseEvidence, fallback: PurchaseFallback?, consent: Bool? = nil, user: ExternalUserID,
        context: CallContext
    ) async throws(GatewayError) -> AttachedPurchase {
        let claim = try await self.evidence.verify(evidence, fallback: fallback)
        return try await attach(claim, consent: consent, user: user, context: context)
    }

    /// Attaches a verified purchase to its user.
    ///
    /// - Throws: `unknownProduct` (the purchase is stored), `purchaseBelongsToAnotherUser`, `purchaseRevoked` (stored).
    func attach(
        _ claim: PurchaseClaim, consent: Bool? = nil, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> AttachedPurchase {
        let outcome = try await attach([claim], consent: consent, user: user, context: context).first
        guard let outcome else { throw .internalError }
        return try outcome.attached(claim.purchase)
    }

    /// Attaches up to 200 transactions in one database transaction; a refused one does not stop the others.
    package func restore(
        _ transactions: [String], user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> [RestoredItem] {
        var items: [RestoredItem] = []
        var claims: [(index: Int, claim: PurchaseClaim)] = []
        for start in stride(from: 0, to: transactions.count, by: Self.verifiedTogether) {
            let piece = transactions[start..<min(start + Self.verifiedTogether, transactions.count)]
            for (index, result) in zip(piece.indices, try await evidence.verify(piece)) {
                switch result {
                case .success(let claim): claims.append((index, claim))
                case .failure(let error): items.append(RestoredItem(index, refusal: error))
                }
            }
        }
        let outcomes = claims.isEmpty ? [] : try await attach(claims.map(\.claim), user: user, context: context)
        for ((index, claim), outcome) in zip(claims, outcomes) {
            items.append(RestoredItem(index, outcome, of: claim.purchase))
        }
        return items.sorted { $0.index < $1.index }
    }

    /// Attaches claims of one user in one transaction, sorted so that two batches lock in the same order.
    private func attach(
        _ claims: [PurchaseClaim], consent: Bool? = nil, user: ExternalUserID, context: CallContext
    ) async throws(GatewayError) -> [ClaimOutcome] {
        let order = claims.indices.sorted {
            let (left, right) = (claims[$0].purchase, claims[$1].purchase)
            return (left.originalTransactionID, left.purchasedAt, $0) < (
                right.originalTransactionID, right.purchasedAt, $1
            )
        }
        return try await settlements.run(context.audit) { settlement in
            let claimant = try settlement.ownership.lockHolders(of: claims, claimant: user)
            var outcomes: [Int: ClaimOutcome] = [:]
            for index in order {
                outcomes[index] = try settlement.purchases.attach(
                    claims[index], claimant: claimant, name: user.rawValue)
                // A claimant who neither owns nor shares the purchase has no rows of it, so that the consent changes
                // nothing.
                if let consent {
                    let subject = StoreSubject(claims[index].purchase)
                    try settlement.tx.purchases.setConsumptionConsent(consent, subject, user: claimant)
                }
            }
            return claims.indices.compactMap { outcomes[$0] }
        }
    }

    /// Moves an original transaction to a user, whatever the policy and the current owner.
    ///
    /// It may be unclaimed, or belong to an erased user; its unclaimed transactions are fulfilled for the new owner.
    /// Users who share it keep their shares.
    /// - Parameter environment: required only where the id exists in several environments.
    /// - Throws: `notFound`, `invalidRequest`.
    package func transfer(
        _ original: String, to user: ExternalUserID, environment: Environment?, context: CallContext
    ) async throws(GatewayError) -> TransferredPurchase {
        try await settlements.run(context.audit) { settlement in
            let tx = settlement.tx
            let subject = StoreSubject(try Self.environment(of: original, named: environment, in: tx), original)
            // Locked before a user is inserted, in the lock order of every claim.
            try tx.purchaseOwners.lock(subject.environment, original)
            let target = try tx.users.ensure(user, candidate: settlement.ids.make(), at: settlement.now)
            for holder in try tx.purchaseOwners.listHolders(of: subject).value().union([target]).sorted() {
                try tx.users.lock(holder)
            }
            let owner = try tx.purchaseOwners.find(of: StoreSubject(subject.environment, original)).value()
            // An earlier run under the same key has moved it already, and it may have moved again since.
            if context.resumed == nil {
                if let owner, owner != target {
                    try settlement.ownership.move(subject, from: owner, to: target)
                } else if owner == nil {
                    _ = try tx.purchaseOwners.bind(subject, to: target, at: settlement.now)
                    try settlement.ownership.recordTransfer(of: subject, from: nil, to: target)
                }
                try settlement.purchases.fulfilStored(of: subject, for: target, name: user.rawValue)
                try tx.bind(context, to: original)
            }
            return TransferredPurchase(
                original_transaction_id: original, environment: subject.environment, user_id: target.rawValue,
                transferred: context.resumed != nil || owner != target)
        }
    }

    /// - Throws: `notFound` where the id is unknown, `invalidRequest` where it exists in several environments.
    private static func environment(
        of original: String, named environment: Environment?, in tx: any Transaction
    ) throws -> Environment {
        let known = try tx.purchaseOwners.listEnvironments(ofOriginal: original)
        if let environment {
            guard known.contains(environment) else { throw GatewayError.unknown(.purchase, original) }
            return environment
        }
        guard known.count < 2 else {
            let names = known.map(\.rawValue).joined(separator: ", ")
            throw GatewayError.invalidRequest(
                field: "environment", reason: "must be named: this id is known in \(names)")
        }
        guard let only = known.first else { throw GatewayError.unknown(.purchase, original) }
        return only
    }

    /// Lists stored purchases that wait for a SKU or for a user, newest first.
    ///
    /// - Parameter wait: nil lists both.
    package func list(
        _ wait: PurchaseWait?, cursor: String?, limit: Int64
    ) async throws(GatewayError) -> Page<StoredPurchaseView> {
        let cursor = try Cursor(threeParts: cursor) { at, environment, key -> ArrivalCursor? in
            guard let at = Int64(at), Environment(rawValue: environment) != nil else { return nil }
            return ArrivalCursor(receivedAt: Timestamp(at), environment: environment, key: key)
        }
        let found = try await store.report { db in
            try db.purchases.listArrived(wait, before: cursor.position, limit: limit + 1)
        }
        return Page(found.map { StoredPurchaseView($0) }, limit: limit, cursor: \.cursor)
    }

    /// Lists every Apple product id on offer that is no pattern, priced in the default currency where possible.
    package func listProducts() async throws(GatewayError) -> [AppleProductView] {
        let skus = try await store.read { db in try db.skus.listActive() }
        return skus.flatMap { sku in
            let prices = sku.offeredPrices
            guard let price = prices.first(where: { $0.currency == defaultCurrency }) ?? prices.first else {
                return [AppleProductView]()
            }
            return sku.appleProducts.filter { !$0.isPattern }.map {
                AppleProductView(
                    number: sku.number, productID: $0.product, name: sku.name, price: price,
                    planCode: sku.planCode ?? "")
            }
        }
    }
}
