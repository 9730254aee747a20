import Domain
import Logging
import ProviderKit
import Store

/// Stored purchases that are applied again: unmapped ones after a change of the catalogue, granted ones after an upgrade.
package struct PurchaseBacklog: Sendable {
    let settlements: SettlementRunner
    let logger: Logger

    private static let pageSize: Int64 = 100

    /// Grants the unmapped purchases whose product a SKU now names, so that the next request of their users has them.
    ///
    /// After a failure the job that was made with the change of the catalogue grants them.
    func grantUnmappedNow(_ audit: AuditContext) async {
        do throws(GatewayError) { _ = try await grantUnmapped(audit) } catch {
            logger.notice("kept purchases are granted later", metadata: ["error": "\(error)"])
        }
    }

    /// Grants the unmapped purchases again a while after a change of the catalogue: a purchase that was being stored
    /// during the change did not see the new SKU, and the first run did not see the purchase.
    func grantUnmapped(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        guard try await grantUnmapped(job.audit) else { throw .temporarilyUnavailable(retryAfter: 60) }
        return .done
    }

    /// Attaches every unmapped purchase again for its owner; one that fails stays stored, and the others continue.
    ///
    /// - Returns: true where all of them could be attached.
    private func grantUnmapped(_ audit: AuditContext) async throws(GatewayError) -> Bool {
        var cursor: (Environment, String)?
        var isComplete = true
        while true {
            let page = try await settlements.store.read { [cursor] db in
                try db.purchases.listUnmapped(after: cursor, limit: Self.pageSize)
            }
            guard let last = page.last else { return isComplete }
            for record in page {
                guard let owner = record.user else { continue }
                let claim = PurchaseClaim(
                    record, rules: settlements.providers.registry.source(of: record.account).rules)
                do throws(GatewayError) {
                    _ = try await settlements.run(audit) { settlement in
                        let name = try settlement.tx.users.findExternalID(owner) ?? ""
                        try settlement.ownership.lockHolders(of: [claim], besides: owner)
                        return try settlement.purchases.attach(
                            claim, claimant: owner, name: name, mayChangeHands: false)
                    }
                } catch .leaseLost {
                    throw .leaseLost
                } catch {
                    isComplete = false
                    logger.error(
                        "a kept purchase cannot be granted",
                        metadata: ["transaction": "\(record.purchase.transactionID)"])
                }
            }
            cursor = (last.purchase.environment, last.purchase.key(claimant: last.user))
        }
    }

    /// Takes what purchases of an App Store in a box gave, for a server that takes none; a server in production calls
    /// this before it listens.
    package func withdrawBox(_ context: CallContext) async throws(GatewayError) {
        var cursor: (Environment, String)?
        while true {
            let page = try await settlements.store.read { [cursor] db in
                try db.purchases.listFromBox(after: cursor, limit: Self.pageSize)
            }
            guard let last = page.last else { return }
            for record in page {
                try await settlements.run(context.audit) { settlement in try settlement.purchases.reapply(record) }
            }
            cursor = (last.purchase.environment, last.key)
        }
    }

    /// Applies purchases again that an earlier release applied by other rules, and publishes changed entitlements; one
    /// that fails does not stop the others.
    func reapply(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        var cursor: (Environment, String)?
        var isComplete = true
        while true {
            let page = try await settlements.store.read { [cursor] db in
                try db.purchases.listOutdated(after: cursor, limit: Self.pageSize)
            }
            guard let last = page.last else { break }
            for record in page {
                do throws(GatewayError) {
                    try await settlements.run(job.audit) { settlement in try settlement.purchases.reapply(record) }
                } catch .leaseLost {
                    throw .leaseLost
                } catch {
                    isComplete = false
                    logger.error(
                        "a kept purchase cannot be regraded",
                        metadata: ["transaction": "\(record.purchase.transactionID)"])
                }
            }
            cursor = (last.purchase.environment, last.key)
        }
        guard isComplete else { throw .temporarilyUnavailable(retryAfter: 60) }
        return .done
    }
}
