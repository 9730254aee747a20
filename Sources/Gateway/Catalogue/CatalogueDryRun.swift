package import Domain
import Store
import Synchronization

/// The outcome that a change of a SKU would have.
package struct TriedSKU: Encodable, Sendable {
    /// A stored purchase that the SKU would grant.
    package struct Purchase: Encodable, Sendable, Equatable {
        let user_id: String
        let product_id: String
        let transaction_id: String
    }

    let sku: SKU
    let would_grant: [Purchase]
    let would_grant_total: Int
}

extension SettlementRunner {
    /// Runs a settlement and rolls it back.
    ///
    /// - Returns: the result of the body.
    /// - Throws: the errors of the body.
    func tryOut<T: Sendable>(
        _ audit: AuditContext, _ body: @escaping @Sendable (inout Settlement) throws -> T
    ) async throws(GatewayError) -> T {
        let kept = ResultBox<T>()
        do throws(GatewayError) {
            let _: T = try await run(audit) { settlement in
                let value = try body(&settlement)
                kept.set(value)
                throw GatewayError.dryRun
            }
        } catch .dryRun {
            guard let value = kept.get() else { throw .internalError }
            return value
        }
        throw .internalError
    }
}

/// The result of a transaction that is rolled back.
private final class ResultBox<T: Sendable>: Sendable {
    private let value = Mutex<T?>(nil)

    func set(_ new: T) { value.withLock { $0 = new } }
    func get() -> T? { value.withLock { $0 } }
}

extension Catalogue {
    private static let shownGrants = 100
    private static let pageSize: Int64 = 500

    /// Tries a new SKU out: its faults are those of ``create(_:context:)``, and nothing is written.
    package func tryCreating(_ draft: SKU, context: CallContext) async throws(GatewayError) -> TriedSKU {
        let sku = try validate(draft)
        let made = try await settlements.tryOut(context.audit) { settlement in
            guard let made = try settlement.tx.skus.insert(sku, at: settlement.now) else {
                throw GatewayError.conflict(reason: "the SKU \(sku.id) exists", resource: sku.id)
            }
            try CatalogueWriter(settlement).claimProducts(made)
            return made
        }
        return try await tried(made)
    }

    /// Tries a change of a SKU out, like ``tryCreating(_:context:)``.
    package func tryChanging(
        _ id: String, _ patch: JSONValue, context: CallContext
    ) async throws(GatewayError) -> TriedSKU {
        let code = try checkedCode(of: id, in: patch)
        guard try await store.read({ db in try db.skus.find(code) }) != nil else { throw .skuNotFound(id) }
        let after = try await settlements.tryOut(context.audit) { settlement in
            guard let before = try settlement.tx.skus.lock(code) else { throw GatewayError.skuNotFound(id) }
            let after = try patched(before, patch)
            try CatalogueWriter(settlement).replace(before, by: after, action: "sku.changed")
            return after
        }
        return try await tried(after)
    }

    /// Tries the merge of a catalogue file out, like ``merge(_:context:)``.
    package func tryMerging(_ drafts: [SKU], context: CallContext) async throws(GatewayError) -> CatalogueImport {
        var skus: [SKU] = []
        for draft in drafts { skus.append(try validate(draft)) }
        return try await settlements.tryOut(context.audit) { [skus] settlement in
            try CatalogueWriter(settlement).merge(skus)
        }
    }

    /// Tries a StoreKit import out, like ``importStoreKit(_:context:)``.
    package func tryImportingStoreKit(
        _ file: StoreKitImport, context: CallContext
    ) async throws(GatewayError) -> StoreKitOutcome {
        try await settlements.tryOut(context.audit) { settlement in
            let plan = StoreKitPlan(file, onto: try settlement.tx.skus.lockAll())
            guard plan.outcome.faults.isEmpty else { return plan.outcome }
            _ = try CatalogueWriter(settlement).merge(plan.skus)
            return plan.outcome
        }
    }

    /// Finds the stored purchases without a SKU that this one would grant; those that nobody has claimed are left out.
    private func tried(_ sku: SKU) async throws(GatewayError) -> TriedSKU {
        guard sku.active, !sku.appleProducts.isEmpty else {
            return TriedSKU(sku: sku, would_grant: [], would_grant_total: 0)
        }
        return try await store.report { db in
            var (found, users, total): ([PurchaseRecord], Set<ID<User>>, Int) = ([], [], 0)
            var cursor: (Environment, String)?
            while true {
                let page = try db.purchases.listUnmapped(after: cursor, limit: Self.pageSize)
                for record in page where sku.grants(record.purchase) {
                    guard let user = record.user else { continue }
                    total += 1
                    if found.count < Self.shownGrants {
                        found.append(record)
                        users.insert(user)
                    }
                }
                guard page.count == Int(Self.pageSize), let last = page.last else { break }
                cursor = (last.purchase.environment, last.purchase.key(claimant: last.user))
            }
            let names = try db.users.listExternalIDs(users)
            let shown = found.map { record in
                TriedSKU.Purchase(
                    user_id: record.user.flatMap { names[$0] } ?? UserNames.erased,
                    product_id: record.purchase.productID, transaction_id: record.purchase.transactionID)
            }
            return TriedSKU(sku: sku, would_grant: shown, would_grant_total: total)
        }
    }
}

extension SKU {
    /// Returns whether this SKU names the product of a purchase, and knows how long it lasts.
    fileprivate func grants(_ purchase: StorePurchase) -> Bool {
        appleProducts.contains { entry in
            guard entry.bundle == nil || entry.bundle == purchase.bundleID else { return false }
            if entry.isPattern { return entry.days(in: purchase.productID) != nil }
            return entry.product == purchase.productID
        }
    }
}
