package import Domain
import Store

extension Gateway {
    /// What a user owns now; one never seen owns nothing.
    package func queryEntitlements(user: ExternalUserID) async throws(GatewayError) -> EntitlementSnapshot {
        let now = time.now
        return try await read { db in
            guard let id = try db.userID(user) else {
                return EntitlementSnapshot(
                    name: user.rawValue, version: 0, fold: EntitlementRules.fold([], now: now), balances: [:])
            }
            return EntitlementSnapshot(
                name: user.rawValue, version: try db.userVersion(id),
                fold: EntitlementRules.fold(try db.grants(of: id), now: now), balances: try db.balances(of: id))
        }
    }
}

extension EntitlementSnapshot {
    /// Balances of Sandbox and Xcode are shown together, apart from real ones.
    init(name: String, version: Int64, fold: EntitlementFold, balances: [Environment: [String: Int64]]) {
        self.init(
            userID: name, version: version, fold: fold, balances: balances[.production] ?? [:],
            sandboxBalances: (balances[.sandbox] ?? [:]).merging(balances[.xcode] ?? [:], uniquingKeysWith: +))
    }
}
