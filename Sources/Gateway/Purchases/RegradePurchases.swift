import Domain
import Logging
import ProviderKit
import Store

extension Gateway {
    /// Brings purchases that an earlier release treated otherwise in line with what is made of them now, and tells whoever
    /// owns something else by that; one that cannot be blocks no other.
    func regradePurchases(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        let cause = cause(job)
        var cursor: (Environment, String)?
        var isWhole = true
        while true {
            let page = try await read { [cursor] db in try db.purchases.listOutdated(after: cursor, limit: 100) }
            guard let last = page.last else { break }
            for record in page {
                do throws(GatewayError) {
                    try await settle(cause) { settlement in try settlement.purchases.reapply(record) }
                } catch .leaseLost {
                    throw .leaseLost
                } catch {
                    isWhole = false
                    logger.error(
                        "a kept purchase cannot be regraded",
                        metadata: ["transaction": "\(record.purchase.transactionID)"])
                }
            }
            cursor = (last.purchase.environment, last.key)
        }
        guard isWhole else { throw .temporarilyUnavailable(retryAfter: 60) }
        return .done
    }
}
