public import Domain

/// A provider whose contracts of some types belong to one of the merchant's apps at the wallet.
public protocol WalletBinding: PaymentProvider {
    /// The app ids of a contract type; empty for types that belong to no app.
    func appIDs(of type: ContractType) -> [String]

    /// Returns whether a contract of this type needs the payer's openid.
    func needsOpenID(_ type: ContractType) -> Bool
}

/// A provider whose wallet names the payer of a page inside of it, after a step on a page of the wallet's.
public protocol PayerAuthorizing: PaymentProvider {
    /// The step's settings; nil where the account has none.
    var authorization: (any PayerAuthorization)? { get }
}

/// The step in which a wallet names a payer to one app (OAuth 2.0 section 4.1, as the wallet speaks it).
public protocol PayerAuthorization: Sendable {
    /// The app to which the payer is named.
    var appID: String { get }

    /// Returns the wallet's address to which the payer is sent.
    ///
    /// - Parameters:
    ///   - state: up to 128 letters and digits, which come back with the answer.
    ///   - redirect: the address to which the payer comes back.
    func authorizeURL(state: String, redirect: String) -> String

    /// Exchanges the code of an answer for the payer's openid; nothing else of the answer is kept or logged.
    ///
    /// - Throws: `rejected` for a code that the wallet refuses, `unavailable` without an answer.
    func exchange(code: String) async throws(ProviderError) -> String
}
