public import FoundationEssentials

/// A provider whose wallet, on the web, needs a merchant session before it shows its payment sheet.
public protocol MerchantSessionIssuing: PaymentProvider {
    /// Returns whether a client's validation URL belongs to the wallet; it is never called.
    func isKnown(validationURL: String) -> Bool

    /// Requests a session from the wallet's gateway.
    ///
    /// - Returns: the gateway's JSON object, byte for byte; it is for one use, and must be neither stored nor logged.
    /// - Throws: ``ProviderError/rejected(reason:)`` where the account has no merchant identity.
    func merchantSession() async throws(ProviderError) -> Data

    /// The domain of the merchant's pages, in lower case.
    var domain: String { get }

    /// The file that proves the domain to the wallet's vendor; nil where none is configured.
    var domainAssociation: Data? { get }
}
