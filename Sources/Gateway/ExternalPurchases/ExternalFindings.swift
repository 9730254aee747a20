import Domain
import ProviderKit
import Store

/// A thing about external purchases that an operator should look at.
package struct ExternalFinding: Sendable, Equatable {
    /// The account, or the token's id at Apple.
    package let subject: String
    package let words: String
}

extension ExternalPurchases {
    /// The days after which an unreported token is told, two before Apple's own reminder ends.
    private static let patience: Int64 = 9
    /// The most tokens of one kind that are listed.
    private static let limit: Int64 = 20

    /// Finds refused reports, tokens that stay unreported, and accounts that cannot or must not send.
    package func findings() async throws(GatewayError) -> [ExternalFinding] {
        let real = settlements.time.real.now
        let selling = settlements.providers.registry.accounts.compactMap { account in
            (account.provider as? any ExternalPurchaseReporting).map { (account.id, $0.externalPurchases) }
        }
        return try await store.report { db in
            let now = try db.clock.find().businessTime(at: real)
            var found: [ExternalFinding] = []
            for (account, rules) in selling where rules.reachable.isEmpty {
                let isUsed = try !rules.regions.all.isEmpty || db.externalPurchases.hasTokens(of: account)
                guard isUsed else { continue }
                found.append(
                    ExternalFinding(
                        subject: "external purchases of \(account)",
                        words: "settings.api has no key, so no token is reported to Apple; set key_id, issuer_id and "
                            + "private_key"))
            }
            for hold in try db.externalPurchases.listHolds() {
                let end = hold.until.map { "until \($0.iso8601)" } ?? "until a retry or a restart"
                found.append(
                    ExternalFinding(
                        subject: "external purchases of \(hold.account)",
                        words: "\(hold.reason), so no report is sent \(end)"))
            }
            let before = now.adding(days: -Self.patience)
            for token in try db.externalPurchases.listUnreported(madeBefore: before, limit: Self.limit) {
                found.append(
                    ExternalFinding(
                        subject: "external purchase \(token.token.externalPurchaseID)",
                        words: "the token is \(Self.patience) days old and not reported; see GET "
                            + "/v1/admin/external-purchases"))
            }
            for token in try db.externalPurchases.listRefused(limit: Self.limit) {
                found.append(
                    ExternalFinding(
                        subject: "external purchase \(token.token.externalPurchaseID)",
                        words: "Apple refused a report; mend what it names, then POST "
                            + "/v1/admin/external-purchases/\(token.id)/retry"))
            }
            return found
        }
    }
}
