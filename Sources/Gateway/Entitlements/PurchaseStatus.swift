import Domain
import Store

/// The membership from all sources together, in the eight fields that App Store clients read (`docs/api.md`, section
/// 6).
package struct PurchaseStatus: Encodable, Sendable, Equatable {
    package let active: Bool
    /// Seconds since 1970.
    package let expires_at: Int64
    package let tier: String
    /// The end of that tier alone.
    package let tier_expires_at: Int64
    package let perpetual: Bool
    package let status: String
    package let will_renew: Bool
    package let app_account_token: String
}

extension PurchaseStatus {
    init(_ fold: EntitlementFold, token: String) {
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

    /// The end of an entitlement; a revoked one ended at its revocation.
    private static func end(_ entitlement: Entitlement) -> Timestamp {
        let end = entitlement.endsAt ?? .farFuture
        return entitlement.grant.revocation.map { min(end, $0.at) } ?? end
    }
}
