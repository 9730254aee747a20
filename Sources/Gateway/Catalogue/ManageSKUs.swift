package import Domain
import FoundationEssentials
import Store

extension Gateway {
    /// Adds a SKU; it is offered from the next checkout on.
    ///
    /// - Throws: `invalidRequest` naming the field, `conflict` for an id or an Apple product id that is taken.
    package func createSKU(_ draft: SKU, context: CallContext) async throws(GatewayError) -> SKU {
        let sku = try validate(draft)
        let resumed = context.resumed == sku.id
        let made = try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            let tx = settlement.tx
            guard let code = sku.code else { throw GatewayError.internalError }
            if resumed, let made = try tx.skus.lock(code) { return made }
            guard let made = try tx.skus.insert(sku, at: settlement.now) else {
                throw GatewayError.conflict(reason: "the SKU \(sku.id) exists", resource: sku.id)
            }
            try settlement.claimProducts(made)
            try settlement.purchases.fulfilUnmappedLater()
            try tx.bind(context, to: made.id)
            try settlement.log.audit(subject: "sku/\(made.id)", "sku.created", before: "", after: try made.storedJSON())
            return made
        }
        await grantUnmappedNow(cause: Cause(actor: context.actor, requestID: context.requestID))
        return made
    }

    /// Changes members of a SKU (RFC 7396): an absent one stays, null goes back to the default.
    ///
    /// - Throws: `skuNotFound`, `invalidRequest`, `conflict`.
    package func changeSKU(_ id: String, _ patch: JSONValue, context: CallContext) async throws(GatewayError) -> SKU {
        guard let code = SKUCode(id) else { throw .skuNotFound(id) }
        if case .object(let members) = patch, let renamed = members["id"], renamed != .string(id) {
            throw .invalidRequest(field: "id", reason: "a SKU's id never changes")
        }
        guard let current = try await read({ db in try db.skus.find(code) }) else { throw .skuNotFound(id) }
        _ = try patched(current, patch)
        let gateway = self
        let changed = try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            guard let before = try settlement.tx.skus.lock(code) else { throw GatewayError.skuNotFound(id) }
            let after = try gateway.patched(before, patch)
            try settlement.replace(before, by: after, action: "sku.changed")
            try settlement.purchases.fulfilUnmappedLater()
            return after
        }
        await grantUnmappedNow(cause: Cause(actor: context.actor, requestID: context.requestID))
        return changed
    }

    /// Takes a SKU off the shelf; what was bought of it stays, and so do its Apple product ids until another SKU takes them.
    ///
    /// - Throws: `skuNotFound`.
    package func archiveSKU(_ id: String, context: CallContext) async throws(GatewayError) -> SKU {
        guard let code = SKUCode(id) else { throw .skuNotFound(id) }
        return try await settle(Cause(actor: context.actor, requestID: context.requestID)) { settlement in
            guard let before = try settlement.tx.skus.lock(code) else { throw GatewayError.skuNotFound(id) }
            var after = before
            after.active = false
            try settlement.replace(before, by: after, action: "sku.archived")
            return after
        }
    }

    package func readSKU(_ id: String) async throws(GatewayError) -> SKU {
        guard let code = SKUCode(id), let sku = try await read({ db in try db.skus.find(code) }) else {
            throw .skuNotFound(id)
        }
        return sku
    }

    /// All SKUs, archived ones too, newest first.
    package func listSKUs(cursor: String?, limit: Int64) async throws(GatewayError) -> Page<SKU> {
        let before = try Cursor(number: cursor).position
        let skus = try await report { db in try db.skus.list(before: before, limit: limit + 1, activeOnly: false) }
        return Page(skus, limit: limit) { String($0.number) }
    }

    /// Merges a catalogue file: SKUs that are not there are added, others are replaced; none is removed.
    ///
    /// - Returns: how many were added and changed.
    package func importCatalogue(_ drafts: [SKU], context: CallContext) async throws(GatewayError) -> CatalogueImport {
        var skus: [SKU] = []
        for draft in drafts { skus.append(try validate(draft)) }
        let result = try await settle(Cause(actor: context.actor, requestID: context.requestID)) { [skus] settlement in
            try settlement.merge(skus)
        }
        await grantUnmappedNow(cause: Cause(actor: context.actor, requestID: context.requestID))
        return result
    }

    /// Every SKU by ascending number, for an export.
    package func exportCatalogue() async throws(GatewayError) -> [SKU] {
        try await read { db in try db.skus.list(before: nil, limit: 1_000_000, activeOnly: false).reversed() }
    }

    /// Whether the catalogue is empty, so that the file fills it.
    package func isCatalogueEmpty() async throws(GatewayError) -> Bool {
        try await read { db in try !db.skus.hasAny() }
    }

    private func validate(_ draft: SKU) throws(GatewayError) -> SKU {
        do throws(SKUFault) { return try draft.validated() } catch {
            throw .invalidRequest(field: error.field, reason: error.reason)
        }
    }

    private static let kindIsFixed = GatewayError.invalidRequest(
        field: "kind", reason: "a SKU's kind never changes; make another SKU")
    /// Members of a SKU that are maps: an empty object empties one, which a merge would leave as it is.
    private static let maps = ["units", "attributes", "localizations"]

    /// The SKUs on offer for which whoever pays would get nothing.
    package func emptySKUs() async throws(GatewayError) -> [(sku: SKU, fault: SKUFault)] {
        try await read { db in try db.skus.listActive() }.compactMap { sku in sku.givesNothing.map { (sku, $0) } }
    }

    fileprivate static func requireKind(of after: SKU, like before: SKU) throws(GatewayError) {
        guard after.kind == before.kind else { throw kindIsFixed }
    }

    private func patched(_ sku: SKU, _ patch: JSONValue) throws(GatewayError) -> SKU {
        let merged: SKU
        do {
            let current = try JSONDecoder().decode(JSONValue.self, from: Data(try sku.storedJSON().utf8))
            merged = try JSONTree(current.merging(patch).emptying(patch, Self.maps)).decode(SKU.self)
        } catch {
            throw GatewayError(decoding: error)
        }
        guard merged.kind == sku.kind else { throw Self.kindIsFixed }
        var after = try validate(merged)
        after.number = sku.number
        return after
    }
}

extension Settlement {
    /// Adds the SKUs that are not there and replaces the others.
    func merge(_ skus: [SKU]) throws -> CatalogueImport {
        var result = CatalogueImport(added: 0, changed: 0)
        // A product may move from one SKU of the file to another, so all of them let go before any of them claims.
        for sku in skus { try tx.skus.releaseAppleProducts(sku) }
        for sku in skus {
            guard let code = sku.code else { throw GatewayError.internalError }
            if let before = try tx.skus.lock(code) {
                try Gateway.requireKind(of: sku, like: before)
                var after = sku
                after.number = before.number
                guard after != before else {
                    try claimProducts(after)
                    continue
                }
                try replace(before, by: after, action: "sku.imported")
                try claimProducts(after)
                result.changed += 1
            } else if let made = try tx.skus.insert(sku, at: now) {
                try claimProducts(made)
                try log.audit(
                    subject: "sku/\(made.id)", "sku.imported", before: "", after: try made.storedJSON())
                result.added += 1
            }
        }
        try purchases.fulfilUnmappedLater()
        return result
    }

    func claimProducts(_ sku: SKU) throws {
        let taken = try tx.skus.claimAppleProducts(sku)
        guard taken.isEmpty || !sku.active else {
            throw GatewayError.conflict(
                reason: "another active SKU has the Apple product ids \(taken.joined(separator: ", "))")
        }
    }

    func replace(_ before: SKU, by after: SKU, action: String) throws {
        try tx.skus.update(after, at: now)
        if after.appleProductIDs != before.appleProductIDs || (after.active && !before.active) {
            try claimProducts(after)
        }
        try log.audit(
            subject: "sku/\(after.id)", action, before: try before.storedJSON(), after: try after.storedJSON())
    }
}

/// What a catalogue import did.
package struct CatalogueImport: Codable, Sendable, Equatable {
    package var added: Int
    package var changed: Int
}

extension JSONValue {
    /// This object with those of the members emptied that a patch names with an empty object.
    fileprivate func emptying(_ patch: JSONValue, _ names: [String]) -> JSONValue {
        guard case .object(var members) = self, case .object(let changes) = patch else { return self }
        for name in names where changes[name] == .object([:]) { members[name] = .object([:]) }
        return .object(members)
    }
}
