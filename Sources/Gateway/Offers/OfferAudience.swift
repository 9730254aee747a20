import Domain
import Store

/// The relation of a user to the subscriptions of a stack group, over all sources: the App Store's, those that Paydesk
/// renews, and periods that were sold or granted.
struct GroupStanding: Equatable {
    /// True where a subscription of the group was ever the user's, whatever has become of it.
    let hasHad: Bool
    /// True where one is active or in its grace period.
    let isRunning: Bool

    private static let most: Int64 = 1_000

    init(hasHad: Bool, isRunning: Bool) {
        self.hasHad = hasHad
        self.isRunning = isRunning
    }

    /// - Parameter environment: the only one whose facts count; nil for all of them.
    init(
        of user: ID<User>, group: String, in environment: Environment?, from db: any Database, at now: Timestamp
    ) throws {
        func counts(_ place: Environment) -> Bool { environment == nil || environment == place }
        let held = try db.subscriptionHistory.listSKUs(of: user).filter { counts($0.environment) }
        let skus = try db.skus.list(Array(Set(held.map(\.sku))))
        let codes = Set(skus.filter { $0.value.kind == .subscription && $0.value.stackGroup == group }.keys)
        let managed = try db.managedSubscriptions.list(of: user, before: nil, limit: Self.most).filter {
            $0.subscription.stackGroup == group && counts($0.subscription.environment)
        }
        hasHad = held.contains { codes.contains($0.sku) } || !managed.isEmpty
        guard hasHad else {
            isRunning = false
            return
        }
        let stores = try db.subscriptions.list(of: user, before: nil, limit: Self.most).filter {
            counts($0.environment)
        }
        let owned = try SubscriptionSnapshot.load(stores, from: db, at: now).filter { snapshot in
            snapshot.sku.flatMap(SKUCode.init).map(codes.contains) ?? false
        }
        let renewed = try managed.map { try ManagedSnapshots.load($0, from: db, at: now) }
        if (owned + renewed).contains(where: { $0.status == .active || $0.status == .inGracePeriod }) {
            isRunning = true
            return
        }
        let granted = try db.grants.list(of: user).value().filter { grant in
            grant.source.kind != .appleSubscription && grant.source.kind != .managedSubscription
                && codes.contains(grant.sku) && counts(grant.environment)
        }
        isRunning = EntitlementRules.fold(granted, now: now).entitlements.contains(where: \.status.holds)
    }

    /// Returns whether the user is in an audience.
    func isIn(_ audience: PromotionalOffer.Audience) -> Bool {
        switch audience {
        case .any: true
        case .new: !hasHad
        case .lapsed: hasHad && !isRunning
        case .running: isRunning
        }
    }
}
