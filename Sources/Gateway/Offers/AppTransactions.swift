import Domain
import FoundationEssentials
import Logging
import ProviderKit
import Store

/// Reads from sealed evidence which customer of the store bought, for purchases that earlier releases stored without it.
struct AppTransactions: Sendable {
    let settlements: SettlementRunner
    let keyRing: KeyRing
    let threads: BackgroundThreads
    let logger: Logger

    private static let page: Int64 = 100

    /// Names the store's customer of every purchase whose evidence does; the others stay as they are.
    func name(_ job: ClaimedJob) async throws(GatewayError) -> JobOutcome {
        var cursor: (Environment, String)?
        var count = 0
        while true {
            let page = try await settlements.store.read { [cursor] db in
                try db.appTransactions.listUnnamed(after: cursor, limit: Self.page)
            }
            guard let last = page.last else { break }
            cursor = (last.environment, last.key)
            let named = try await threads.run { () async throws(GatewayError) in
                var named: [(purchase: UnnamedPurchase, id: String)] = []
                for purchase in page {
                    if let id = await appTransactionID(in: purchase) { named.append((purchase, id)) }
                }
                return named
            }
            guard !named.isEmpty else { continue }
            try await settlements.store.write { tx in
                for (purchase, id) in named { try tx.appTransactions.name(purchase, id) }
            }
            count += named.count
        }
        logger.info("stored purchases name their store's customers", metadata: ["purchases": "\(count)"])
        return .done
    }

    /// - Returns: nil where the evidence names nobody, or cannot be verified any more.
    private func appTransactionID(in purchase: UnnamedPurchase) async -> String? {
        let place = StorePurchase.evidenceContext(purchase.environment, purchase.transactionID)
        guard let account = settlements.providers.registry[purchase.account],
            let evidence = try? keyRing.open(purchase.evidence, context: place)
        else { return nil }
        guard evidence.first == UInt8(ascii: "{") else {
            let verifier = account.provider as? any PurchaseVerifying
            let verified = try? verifier?.verify(.signedTransaction(String(decoding: evidence, as: UTF8.self)))
            return verified?.transactionID == purchase.transactionID ? verified?.appTransactionID : nil
        }
        let notification = RawNotification(method: .post, headers: [], body: evidence)
        guard let received = try? await account.provider.receive(notification) else { return nil }
        for case .store(let statement) in received.facts
        where statement.purchase?.transactionID == purchase.transactionID {
            return statement.purchase?.appTransactionID ?? statement.renewal?.appTransactionID
        }
        return nil
    }
}
