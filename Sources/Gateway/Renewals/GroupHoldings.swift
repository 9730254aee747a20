import Domain
import Store

/// A user's grants in one environment, as subscriptions of a group need them.
struct GroupHoldings {
    private let grants: [Grant]
    private let db: any Database

    init(of user: ID<User>, _ environment: Environment, in db: any Database) throws {
        grants = try db.grants.list(of: user).value().filter { $0.environment == environment }
        self.db = db
    }

    /// Finds a running subscription of a store in a group: active or in its grace period, shared ones included.
    func storeSubscription(of group: String, at now: Timestamp) throws -> Grant? {
        let running = EntitlementRules.fold(grants.filter { $0.source.kind == .appleSubscription }, now: now)
            .entitlements.filter(\.status.holds)
        return try running.map(\.grant).first { try self.group(of: $0) == group }
    }

    /// Returns whether a user has ever had a pass or a store's subscription of a group.
    func hasHad(_ group: String) throws -> Bool {
        try grants.contains {
            guard $0.kind == .subscription || $0.kind == .nonRenewing, $0.source.kind != .managedSubscription else {
                return false
            }
            return try self.group(of: $0) == group
        }
    }

    private func group(of grant: Grant) throws -> String? { try db.skus.find(grant.sku)?.stackGroup }
}
