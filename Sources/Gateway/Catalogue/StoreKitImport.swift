package import Domain
import Store

/// The products of a StoreKit configuration file, with the admin's values for new ones, which the file lacks.
package struct StoreKitImport: Codable, Sendable {
    /// The membership that a SKU gives.
    package struct Tier: Codable, Sendable, Equatable {
        package let name: String
        package let rank: Int64

        package init(name: String, rank: Int64) {
            self.name = name
            self.rank = rank
        }
    }

    package let products: [StoreKitProduct]
    /// The app to which the file belongs; nil for any.
    package let bundle: String?
    /// The membership that a product gives, by product id; an empty name gives none.
    package let tiers: [String: Tier]
    /// The days that a pass gives, by product id.
    package let days: [String: Int64]
    /// The units that a consumable gives, by product id.
    package let units: [String: [String: Int64]]

    package init(
        products: [StoreKitProduct], bundle: String? = nil, tiers: [String: Tier] = [:], days: [String: Int64] = [:],
        units: [String: [String: Int64]] = [:]
    ) {
        self.products = products
        self.bundle = bundle
        self.tiers = tiers
        self.days = days
        self.units = units
    }
}

/// The result of a StoreKit import; an import with faults changes nothing.
package struct StoreKitOutcome: Codable, Sendable, Equatable {
    /// A product that cannot be imported, with the reason and a remedy.
    package struct Fault: Codable, Sendable, Equatable {
        package let path: String
        package let problem: String
        package let remedy: String
    }

    /// A line for each SKU.
    package internal(set) var added: [String] = []
    package internal(set) var changed: [String] = []
    /// Notes for the admin.
    package internal(set) var notes: [String] = []
    package internal(set) var faults: [Fault] = []
}

extension Catalogue {
    /// Merges the App Store's products into the catalogue: names and prices of SKUs that name them, new SKUs for
    /// others.
    ///
    /// The changes are computed and written in one transaction under the catalogue's lock; a fault refuses all of them.
    /// - Throws: `conflict` where an active SKU names a product by another entry.
    package func importStoreKit(
        _ file: StoreKitImport, context: CallContext
    ) async throws(GatewayError) -> StoreKitOutcome {
        let outcome = try await settlements.run(context.audit) { settlement in
            let plan = StoreKitPlan(file, onto: try settlement.tx.skus.lockAll())
            guard plan.outcome.faults.isEmpty else { return plan.outcome }
            _ = try CatalogueWriter(settlement).merge(plan.skus)
            return plan.outcome
        }
        if outcome.faults.isEmpty { await grantUnmapped(context.audit) }
        return outcome
    }
}
