import Domain
import ProviderKit

/// An app of an account that has a key to sign its offers.
struct OfferSigner: Sendable {
    let account: AccountID
    let bundleID: String
    let provider: any OfferSigning

    /// Finds the signer of an app.
    ///
    /// - Parameter bundle: nil names the only app.
    /// - Throws: `invalidRequest` where the app is none of the configured ones, or must be named; `noProviderAvailable`
    ///   where no account has a key for it.
    init(of bundle: String?, in registry: ProviderRegistry) throws(GatewayError) {
        var apps: [(account: AccountID, bundle: String, provider: any OfferSigning)] = []
        for account in registry.accounts where account.enabled {
            guard let provider = account.provider as? any OfferSigning else { continue }
            apps += provider.offeringApps.map { (account.id, $0, provider) }
        }
        guard let first = apps.first else { throw .noProviderAvailable }
        let names = Set(apps.map(\.bundle))
        guard bundle.map(names.contains) ?? (names.count == 1) else {
            let reason: LocalizedText = "must name one of the apps"
            throw .invalidRequest(
                field: "bundle_id", reason: reason.with("allowed", .array(names.sorted().map(JSONValue.string))))
        }
        let wanted = bundle ?? first.bundle
        guard let found = apps.first(where: { $0.bundle == wanted && $0.provider.signsOffers }) else {
            throw .noProviderAvailable
        }
        (account, bundleID, provider) = found
    }

    /// Signs a statement as a token.
    func token(_ statement: OfferStatement) throws(GatewayError) -> String {
        do throws(ProviderError) { return try provider.signedToken(of: statement) } catch { throw Self.refusal(error) }
    }

    /// Signs a promotional offer in the first form.
    func signature(_ statement: OfferStatement, for username: String) throws(GatewayError) -> OfferSignature {
        do throws(ProviderError) { return try provider.signature(of: statement, for: username) } catch {
            throw Self.refusal(error)
        }
    }

    private static func refusal(_ error: ProviderError) -> GatewayError {
        error == .unsupported ? .noProviderAvailable : .internalError
    }
}
