import Domain
import Logging
import ProviderKit

extension Gateway {
    /// Settles what a store answered, in one transaction.
    ///
    /// - Parameters:
    ///   - before: what has to stand first.
    ///   - after: what is remembered with it.
    func settle(
        _ answer: StoreAnswer, from account: AccountID, _ cause: Cause,
        before: @escaping @Sendable (Settlement) throws -> Void = { _ in },
        after: @escaping @Sendable (Settlement) throws -> Void
    ) async throws(GatewayError) {
        if answer.refused > 0 {
            logger.warning(
                "a store answered what does not verify",
                metadata: ["account": "\(account.rawValue)", "count": "\(answer.refused)"])
        }
        var words: [(StoreStatement, StoreWord)] = []
        for item in answer.items {
            let evidence = item.evidence.flatMap { evidence in
                item.statement.purchase.flatMap { try? sealed(evidence, $0) }
            }
            words.append((item.statement, registry.word(of: account, evidence: evidence)))
        }
        try await settle(cause) { [words] settlement in
            try settlement.lockUsers(of: words.map { .store($0.0) })
            try before(settlement)
            for (statement, word) in words { try settlement.settle(statement, word) }
            try after(settlement)
        }
    }
}
