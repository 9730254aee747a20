import Domain
import FoundationEssentials
public import ProviderKit

/// The apps of an account and the key that signs offers for them.
struct AppStoreOffers: Sendable {
    /// The claims that all statements have, and those of a promotional offer.
    ///
    /// Source: Apple, StoreKit, Generating JWS to sign App Store requests; the names, the set and the types of the claims
    /// are those of Apple's app-store-server-library 3.1.2.
    private struct PromotionalClaims: Encodable {
        let aud = "promotional-offer"
        let bid: String
        let iat: Int64
        let iss: String
        let nonce: String
        let offerIdentifier: String
        let productId: String
        let transactionId: String?
    }

    private struct IntroductoryClaims: Encodable {
        let allowIntroductoryOffer: Bool
        let aud = "introductory-offer-eligibility"
        let bid: String
        let iat: Int64
        let iss: String
        let nonce: String
        let productId: String
        let transactionId: String?
    }

    let bundles: [String]
    /// nil without a key in `settings.api`; the key of an App Store in a box signs nothing that Apple accepts.
    let key: AppStoreKey?

    /// Reads validated settings.
    init(_ account: ProviderAccount) {
        bundles = account.settings.objects("apps").map { $0.text("bundle_id") }
        key = AppStoreSettings.read(ProviderSettingsReader(account))?.key
    }

    func token(_ statement: OfferStatement) throws(ProviderError) -> String {
        guard let key else { throw .unsupported }
        let seconds = statement.signedAt / 1_000
        do throws(AppStoreServerError) {
            switch statement.kind {
            case .promotional(let offer):
                return try key.token(
                    PromotionalClaims(
                        bid: statement.bundleID, iat: seconds, iss: key.issuerID, nonce: statement.nonce,
                        offerIdentifier: offer, productId: statement.productID, transactionId: statement.transactionID))
            case .introductory(let isAllowed):
                return try key.token(
                    IntroductoryClaims(
                        allowIntroductoryOffer: isAllowed, bid: statement.bundleID, iat: seconds, iss: key.issuerID,
                        nonce: statement.nonce, productId: statement.productID, transactionId: statement.transactionID))
            }
        } catch {
            throw ProviderError(error)
        }
    }

    /// Signs Apple's text of a promotional offer.
    ///
    /// Source: Apple, StoreKit, Generating a signature for promotional offers: the parts are joined by U+2063.
    func signature(_ statement: OfferStatement, for username: String) throws(ProviderError) -> OfferSignature {
        guard let key, case .promotional(let offer) = statement.kind else { throw .unsupported }
        let text = [
            statement.bundleID, key.keyID, statement.productID, offer, username.lowercased(), statement.nonce,
            "\(statement.signedAt)",
        ].joined(separator: "\u{2063}")
        do throws(AppStoreServerError) {
            let signature = try key.derSignature(for: Data(text.utf8))
            return OfferSignature(keyID: key.keyID, signature: signature.base64EncodedString())
        } catch {
            throw ProviderError(error)
        }
    }
}

extension AppleIAPProvider: OfferSigning {
    public var offeringApps: [String] { offers.bundles }
    public var signsOffers: Bool { offers.key != nil }

    public func signedToken(of statement: OfferStatement) throws(ProviderError) -> String {
        try offers.token(statement)
    }

    public func signature(
        of statement: OfferStatement, for username: String
    ) throws(ProviderError) -> OfferSignature {
        try offers.signature(statement, for: username)
    }
}
