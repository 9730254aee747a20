import Domain
import Store

/// Writes changes of the catalogue inside a settlement's transaction.
struct CatalogueWriter {
    private let settlement: Settlement

    init(_ settlement: Settlement) { self.settlement = settlement }

    private var tx: any Transaction { settlement.tx }

    /// Adds the SKUs that are missing and replaces the others.
    func merge(_ skus: [SKU]) throws -> CatalogueImport {
        var result = CatalogueImport(added: 0, changed: 0)
        // A product may move from one SKU of the file to another, so all are released before any is claimed.
        for sku in skus { try tx.skus.releaseAppleProducts(sku) }
        for sku in skus {
            guard let code = sku.code else { throw GatewayError.internalError }
            if let before = try tx.skus.lock(code) {
                try Catalogue.requireKind(of: sku, like: before)
                var after = sku
                after.number = before.number
                guard after != before else {
                    try claimProducts(after)
                    continue
                }
                try replace(before, by: after, action: "sku.imported")
                try claimProducts(after)
                result.changed += 1
            } else if let made = try tx.skus.insert(sku, at: settlement.now) {
                try claimProducts(made)
                try settlement.log.audit(
                    subject: "sku/\(made.id)", "sku.imported", before: "", after: try made.storedJSON())
                result.added += 1
            }
        }
        try settlement.purchases.fulfilUnmappedLater()
        return result
    }

    /// Claims a SKU's Apple product ids.
    ///
    /// - Throws: `conflict` where another active SKU has one of them.
    func claimProducts(_ sku: SKU) throws {
        let taken = try tx.skus.claimAppleProducts(sku)
        guard taken.isEmpty || !sku.active else {
            throw GatewayError.conflict(
                reason: "another active SKU has the Apple product ids \(taken.joined(separator: ", "))")
        }
    }

    /// Replaces a SKU, and claims its Apple product ids where they changed.
    ///
    /// - Throws: `conflict` where the period of a SKU changes while subscriptions of it run.
    func replace(_ before: SKU, by after: SKU, action: String) throws {
        if before.renewal == .managed, before.period != after.period || before.renewal != after.renewal,
            let code = after.code, try tx.managedSubscriptions.isRunning(of: code)
        {
            throw GatewayError.conflict(reason: "subscriptions of \(after.id) run with its period")
        }
        try tx.skus.update(after, at: settlement.now)
        if after.appleProductIDs != before.appleProductIDs || (after.active && !before.active) {
            try claimProducts(after)
        }
        try settlement.log.audit(
            subject: "sku/\(after.id)", action, before: try before.storedJSON(), after: try after.storedJSON())
    }
}
