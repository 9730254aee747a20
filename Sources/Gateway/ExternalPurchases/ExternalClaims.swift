import Domain
import ProviderKit
import Store

/// A checkout's word that its order is sold outside of the App Store.
package struct ExternalClaim: Sendable {
    enum Token: Sendable {
        case given(ExternalPurchaseToken, at: AccountID)
        /// A token that a session has kept.
        case kept(ID<ExternalToken>)
    }

    let token: Token
    let storefront: String
}

/// The sale of a SKU outside of the App Store, checked.
struct ExternalTerms: Sendable {
    let token: ExternalPurchaseToken
    let account: AccountID
    let storefront: String
    let taxRate: Int64
}

/// The accounts that take tokens of external purchases.
struct ExternalAccounts: Sendable {
    let registry: ProviderRegistry

    /// Finds the account of a token.
    ///
    /// - Throws: `invalidRequest` naming the field.
    func read(
        _ text: String, _ field: String
    ) throws(GatewayError) -> (token: ExternalPurchaseToken, account: AccountID) {
        guard let token = ExternalPurchaseToken(text) else {
            throw .invalidRequest(field: field, reason: "must be a token of an external purchase, as StoreKit gives it")
        }
        for account in registry.accounts where account.enabled {
            guard let provider = account.provider as? any ExternalPurchaseReporting,
                provider.externalPurchases.takes(token)
            else { continue }
            return (token, account.id)
        }
        throw .invalidRequest(field: field, reason: "is of no app and environment that an account has")
    }

    func rules(of account: AccountID) -> ExternalPurchaseRules? {
        (registry[account]?.provider as? any ExternalPurchaseReporting)?.externalPurchases
    }

    /// Checks what a checkout's claim needs.
    ///
    /// - Parameter kept: reads a token that a session has kept.
    /// - Throws: `noProvider` with the reason why the SKU is not sold so.
    func terms(
        _ claim: ExternalClaim, _ sku: SKU, _ currency: Currency, kept: ExternalToken?, at now: Timestamp
    ) throws(GatewayError) -> ExternalTerms {
        let (token, account): (ExternalPurchaseToken, AccountID)
        switch (claim.token, kept) {
        case (.given(let given, let at), _): (token, account) = (given, at)
        case (.kept, let kept?): (token, account) = (kept.token, kept.account)
        case (.kept, nil): throw .internalError
        }
        guard let rules = rules(of: account) else { throw Self.refusal(.storefront) }
        do throws(ExternalRegions.Refusal) {
            let rate = try rules.regions.rate(
                in: claim.storefront, of: sku.taxCategory, currency: currency, at: now)
            return ExternalTerms(token: token, account: account, storefront: claim.storefront, taxRate: rate)
        } catch {
            throw Self.refusal(error)
        }
    }

    private static func refusal(_ refusal: ExternalRegions.Refusal) -> GatewayError {
        let reason: SelectionRefusal =
            switch refusal {
            case .storefront: .storefront
            case .taxCategory: .taxCategory
            case .taxRate: .taxRate
            case .currency: .currency
            }
        return .noProvider(NoProvider(reason: reason, accounts: []))
    }
}
