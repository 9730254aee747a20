package import Domain
import Foundation
import Gateway
import Store

/// The catalogue of a ``GatewayFixture``.
package enum FixtureCatalogue {
    package static let json = """
        [
        {"id": "vip_month", "name": "VIP monthly", "kind": "non_renewing", "tier": "VIP", "rank": 20,
         "duration_days": 30, "plan_code": "monthly",
         "prices": [{"currency": "CNY", "value": 3990}, {"currency": "USD", "value": 599}],
         "apple_product_ids": ["com.example.vip.month"], "localizations": {"zh-Hans": {"name": "月度会员"}}},
        {"id": "vip_year", "name": "VIP yearly", "kind": "non_renewing", "tier": "VIP", "rank": 20,
         "duration_days": 365, "prices": [{"currency": "CNY", "value": 16900}],
         "apple_product_ids": ["com.example.vip.year"]},
        {"id": "vip_kept", "name": "VIP that stays", "kind": "non_renewing", "tier": "VIP", "rank": 20,
         "duration_days": 10, "on_refund": "keep", "prices": [{"currency": "CNY", "value": 1000}]},
        {"id": "vip_auto", "name": "VIP renewed", "kind": "subscription", "tier": "VIP", "rank": 20,
         "duration_days": 30, "one_period_elsewhere": true, "prices": [{"currency": "CNY", "value": 2990}],
         "apple_product_ids": ["com.example.vip.auto"]},
        {"id": "apple_auto", "name": "Renewed by Apple", "kind": "subscription", "tier": "VIP", "rank": 20,
         "duration_days": 30, "prices": [{"currency": "CNY", "value": 2990}],
         "apple_product_ids": ["com.example.apple.auto"]},
        {"id": "basic_days", "name": "Basic pass", "kind": "non_renewing", "tier": "Basic", "rank": 5,
         "apple_product_ids": ["merchant.example.day${days}"],
         "options": [{"days": 7, "prices": [{"currency": "CNY", "value": 800}]},
                     {"days": 30, "prices": [{"currency": "CNY", "value": 2500}]}]},
        {"id": "walkie", "name": "Walkie-talkie", "kind": "non_consumable",
         "prices": [{"currency": "USD", "value": 99}], "attributes": {"range_km": 3}},
        {"id": "coins", "name": "100 coins", "kind": "consumable", "prices": [{"currency": "CNY", "value": 600}],
         "units": {"coins": 100, "stars": 1}},
        {"id": "trial", "name": "Trial", "kind": "non_renewing", "tier": "Basic", "rank": 5, "duration_days": 3,
         "prices": [{"currency": "CNY", "value": 0}]}
        ]
        """

    package static func skus() throws -> [SKU] { try JSONDecoder().decode([SKU].self, from: Data(json.utf8)) }
}

extension Store {
    /// Removes the job of a changed catalogue: a desk's catalogue is older than every purchase, so that none waits for
    /// it.
    func forgetCatalogueChange() async throws {
        try await write { tx in try tx.jobs.delete(kind: JobKind.grantUnmapped.rawValue, subject: "") }
    }
}
