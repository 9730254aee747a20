package import Domain
import Store

extension Gateway {
    /// What a user owns now; one never seen owns nothing.
    package func queryEntitlements(
        user: ExternalUserID
    ) async throws(GatewayError) -> Answered<EntitlementSnapshot> {
        let answer = try await answer(user, from: snapshots) { db, state, now in
            let snapshot = EntitlementSnapshot(
                name: user.rawValue, version: state.version,
                fold: EntitlementRules.fold(try db.grants.list(of: state.id).value(), now: now),
                balances: try db.wallets.balances(of: state.id).value())
            return (snapshot, snapshot.next_change_at)
        }
        if let answer { return answer }
        let nothing = EntitlementSnapshot(
            name: user.rawValue, version: 0, fold: EntitlementRules.fold([], now: time.now), balances: [:])
        do { return try Answered(nothing) } catch { throw .internalError }
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
