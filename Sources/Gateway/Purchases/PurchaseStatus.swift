package import Domain
import Store

/// The membership over all sources together, in the eight fields of the App Store clients (`api.md` section 6).
package struct PurchaseStatus: Encodable, Sendable, Equatable {
    package let active: Bool
    package let expires_at: Int64
    package let tier: String
    /// The end of that tier alone.
    package let tier_expires_at: Int64
    package let perpetual: Bool
    package let status: String
    package let will_renew: Bool
    package let app_account_token: String
}

extension Gateway {
    /// What the user's membership is now, and the token that StoreKit's purchases should carry.
    package func purchaseStatus(user: ExternalUserID) async throws(GatewayError) -> Answered<PurchaseStatus> {
        let answer = try await answer(user, from: statuses) { db, state, now in
            guard let token = state.appAccountToken else { return nil }
            let fold = EntitlementRules.fold(try db.grants.list(of: state.id).value(), now: now)
            return (PurchaseStatus(fold, token: token), fold.nextChangeAt)
        }
        if let answer { return answer }
        // The token is made when it is first asked for.
        let (ids, now, candidate) = (ids, time.now, random.uuid4())
        return try await write { tx in
            let id = try tx.users.ensure(user, candidate: ids.make(), at: now)
            let token = try tx.users.appAccountToken(of: id, candidate: candidate)
            return try Answered(
                PurchaseStatus(EntitlementRules.fold(try tx.grants.list(of: id).value(), now: now), token: token))
        }
    }
}

extension PurchaseStatus {
    fileprivate init(_ fold: EntitlementFold, token: String) {
        let tiered = fold.entitlements.filter { !$0.grant.tier.isEmpty }
        let deciding =
            tiered.filter { $0.status.holds && $0.grant.tier == fold.membership?.tier }.max(by: Self.endsBefore)
            ?? tiered.max(by: Self.endsBefore)
        active = fold.membership != nil
        perpetual = fold.membership.map { $0.endsAt == nil } ?? false
        expires_at = fold.membership.map { ($0.endsAt ?? .farFuture).rawValue } ?? 0
        tier = fold.membership?.tier ?? ""
        tier_expires_at = fold.tiers.first.map { ($0.endsAt ?? .farFuture).rawValue } ?? 0
        status = deciding?.status.rawValue ?? "none"
        will_renew = deciding?.willRenew ?? false
        app_account_token = token
    }

    private static func endsBefore(_ left: Entitlement, _ right: Entitlement) -> Bool { end(left) < end(right) }

    /// What was taken back ended then.
    private static func end(_ entitlement: Entitlement) -> Timestamp {
        let end = entitlement.endsAt ?? .farFuture
        return entitlement.grant.revocation.map { min(end, $0.at) } ?? end
    }
}
