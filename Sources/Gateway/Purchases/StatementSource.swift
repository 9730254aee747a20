import Domain
import FoundationEssentials
import ProviderKit
import Store

/// The account whose store made or verified a statement, and the rules for its test purchases.
struct StatementSource: Sendable {
    let account: AccountID
    let rules: TestPurchaseRules
    /// The sealed evidence of the purchase; nil keeps the stored evidence.
    var evidence: Data?
}

/// A store's statement with its source.
struct SourcedStatement: Sendable {
    let statement: StoreStatement
    let source: StatementSource
}

extension ProviderRegistry {
    /// Returns an account as the source of statements; test purchases of an account that is no longer configured
    /// entitle nobody.
    func source(of account: AccountID, evidence: Data? = nil) -> StatementSource {
        let rules = (self[account]?.provider as? any PurchaseVerifying)?.testPurchases
        return StatementSource(
            account: account, rules: rules ?? TestPurchaseRules(entitled: .none, maxHours: 0), evidence: evidence)
    }
}

extension StorePurchase {
    /// The context to which the sealed evidence of this purchase is bound.
    var evidenceContext: String { Self.evidenceContext(environment, transactionID) }

    static func evidenceContext(_ environment: Environment, _ transactionID: String) -> String {
        "purchases.evidence/\(environment.rawValue)/\(transactionID)"
    }
}

extension StoreSubject {
    /// The original transaction of a statement's purchase, or else of its renewal; nil where it has neither.
    init?(_ statement: StoreStatement) {
        if let purchase = statement.purchase {
            self.init(purchase)
        } else if let renewal = statement.renewal {
            self.init(renewal)
        } else {
            return nil
        }
    }
}
