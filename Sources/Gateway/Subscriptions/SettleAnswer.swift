import Domain
import Logging
import ProviderKit

extension Gateway {
    /// Returns the statements of a store's answer, each with its sealed evidence.
    func statements(of answer: StoreAnswer, from account: AccountID) -> [SourcedStatement] {
        if answer.refused > 0 {
            logger.warning(
                "a store answered what does not verify",
                metadata: ["account": "\(account.rawValue)", "count": "\(answer.refused)"])
        }
        return answer.items.map { item in
            let evidence = item.evidence.flatMap { evidence in
                item.statement.purchase.flatMap { try? sealed(evidence, $0) }
            }
            return SourcedStatement(
                statement: item.statement, source: registry.source(of: account, evidence: evidence))
        }
    }
}
