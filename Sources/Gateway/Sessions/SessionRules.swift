package import Domain
import ProviderKit
import Store

/// The rules for the fields of a new session that need the catalogue or the configuration.
package struct SessionRules: Sendable {
    let store: StoreAccess
    let registry: ProviderRegistry
    let settings: GatewaySettings

    /// The largest number of SKUs that a session names.
    private static let skuLimit = 50

    /// Reads the SKUs on sale among these ids; others are left out.
    package func skus(_ ids: [String]) async throws(GatewayError) -> [SKUCode: SKU] {
        let codes = ids.prefix(Self.skuLimit).compactMap { SKUCode($0) }
        guard !codes.isEmpty else { return [:] }
        return try await store.read { db in try db.skus.list(codes) }.filter(\.value.active)
    }

    /// - Throws: `invalidRequest` naming `currency` where a SKU has no price in it.
    package func check(_ currency: Currency, _ skus: [SKUCode: SKU]) throws(GatewayError) {
        for (code, sku) in skus.sorted(by: { $0.key < $1.key }) where !sku.currencies.contains(currency) {
            let reason: LocalizedText = "\(code.rawValue) has no price in this currency"
            throw .invalidRequest(
                field: "currency", reason: reason.with("allowed", .array(sku.currencies.map { .string($0.code) })))
        }
    }

    /// - Throws: `skuNotFound` for an id that is not on sale, `invalidRequest` for one that stands twice.
    package func codes(_ ids: [String], _ skus: [SKUCode: SKU]) throws(GatewayError) -> [SKUCode] {
        guard ids.count <= Self.skuLimit else {
            throw .invalidRequest(field: "skus", reason: "at most \(Self.skuLimit)")
        }
        var codes: [SKUCode] = []
        for (index, id) in ids.enumerated() {
            guard let code = SKUCode(id), skus[code] != nil else { throw .skuNotFound(id) }
            guard !codes.contains(code) else {
                throw .invalidRequest(field: "skus[\(index)]", reason: "stands twice")
            }
            codes.append(code)
        }
        return codes
    }

    /// - Throws: `invalidRequest` naming `quantity`, `days` or `currency`.
    package func check(
        quantity: Int64, days: Int64?, currency: Currency, _ skus: [SKU]
    ) throws(GatewayError) {
        guard SKU.quantityRange.contains(quantity) else {
            throw .invalidRequest(field: "quantity", reason: "must be 1 to 1000")
        }
        guard quantity == 1 || skus.count == 1 else {
            throw .invalidRequest(field: "quantity", reason: "is for exactly one SKU")
        }
        guard days == nil || skus.count == 1 else {
            throw .invalidRequest(field: "days", reason: "is for exactly one SKU")
        }
        guard skus.count == 1, let sku = skus.first, quantity > 1 || days != nil else { return }
        // The option that the payer will choose is not known, so any with a price in the currency stands for it.
        let option = sku.options.first { option in option.prices.contains { $0.currency == currency } }?.days
        do throws(QuoteFault) {
            _ = try sku.quote(
                quantity: quantity, days: days ?? option, currency: currency, appleOffersAll: true)
        } catch {
            switch error {
            case .quantity: throw .invalidRequest(field: "quantity", reason: "\(sku.id) is not sold in this quantity")
            case .currency: throw .invalidRequest(field: "currency", reason: "the option has no price in this currency")
            case .days: throw .invalidRequest(field: "days", reason: "must be one of the SKU's options")
            }
        }
        guard days == nil || sku.options.contains(where: { $0.days == days }) else {
            let reason: LocalizedText = "must be one of the SKU's options"
            throw .invalidRequest(
                field: "days", reason: reason.with("allowed", .array(sku.options.map { .integer($0.days) })))
        }
    }

    /// - Throws: `invalidRequest` for a name that is neither an account's nor a kind's.
    package func check(provider: String?) throws(GatewayError) {
        guard let provider else { return }
        guard registry.accounts.contains(where: { $0.id.rawValue == provider || $0.manifest.kind == provider }) else {
            throw .invalidRequest(field: "provider", reason: "no account has this id or kind")
        }
    }

    /// - Throws: `invalidRequest` for an address that the configuration does not allow, or a page of a session.
    package func check(_ address: String?, _ field: String) throws(GatewayError) {
        guard let address else { return }
        let isPage = ["/pay/", "/portal/"].contains { address.hasPrefix(settings.publicURL + $0) }
        guard settings.returnURLs.allows(address), !isPage else {
            throw .invalidRequest(field: field, reason: "this address is not one of the allowed return_urls")
        }
    }
}
