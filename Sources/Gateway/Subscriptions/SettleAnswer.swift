import Domain
import Logging
import ProviderKit

extension Gateway {
    /// What a store answered, each statement with its sealed evidence.
    func words(of answer: StoreAnswer, from account: AccountID) -> [(StoreStatement, StoreWord)] {
        if answer.refused > 0 {
            logger.warning(
                "a store answered what does not verify",
                metadata: ["account": "\(account.rawValue)", "count": "\(answer.refused)"])
        }
        return answer.items.map { item in
            let evidence = item.evidence.flatMap { evidence in
                item.statement.purchase.flatMap { try? sealed(evidence, $0) }
            }
            return (item.statement, registry.word(of: account, evidence: evidence))
        }
    }
}

extension Settlement {
    /// Locks what statements are about: the original transactions, then whose they are.
    func lock(_ words: [(StoreStatement, StoreWord)]) throws {
        try lock(words.compactMap { StoreSubject($0.0) })
        try lockUsers(of: words.map { .store($0.0) })
    }

    /// Settles what a store stated; the caller has locked it.
    func settle(_ words: [(StoreStatement, StoreWord)]) throws {
        for (statement, word) in words { try settle(statement, word) }
    }
}
