package import Domain
import Store

extension Gateway {
    /// What a user owns now; one never seen owns nothing.
    package func queryEntitlements(user: ExternalUserID) async throws(GatewayError) -> EntitlementSnapshot {
        let now = time.now
        return try await read { db in
            guard let id = try db.userID(user) else {
                return EntitlementSnapshot(
                    userID: user.rawValue, version: 0, fold: EntitlementRules.fold([], now: now), balances: [:],
                    sandboxBalances: [:])
            }
            let balances = try db.balances(of: id)
            return EntitlementSnapshot(
                userID: user.rawValue, version: try db.userVersion(id),
                fold: EntitlementRules.fold(try db.grants(of: id), now: now), balances: balances[.production] ?? [:],
                sandboxBalances: (balances[.sandbox] ?? [:]).merging(balances[.xcode] ?? [:], uniquingKeysWith: +))
        }
    }
}
