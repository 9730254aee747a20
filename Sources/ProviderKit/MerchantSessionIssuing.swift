public import FoundationEssentials

/// A provider whose wallet asks, on the web, for a session of the merchant before it shows its sheet.
public protocol MerchantSessionIssuing: PaymentProvider {
    /// Returns whether a client's validation URL is one of the wallet's own; it is never dialled.
    func isKnown(validationURL: String) -> Bool

    /// Asks the wallet's gateway for a session.
    ///
    /// - Returns: the gateway's JSON object, byte for byte; it is single-use, and must be neither kept nor logged.
    /// - Throws: ``ProviderError/rejected(reason:)`` where the account has no identity to ask with.
    func merchantSession() async throws(ProviderError) -> Data

    /// The domain of the merchant's pages, lower case.
    var domain: String { get }

    /// The file that proves the domain to the wallet's maker; nil where none is configured.
    var domainAssociation: Data? { get }
}
