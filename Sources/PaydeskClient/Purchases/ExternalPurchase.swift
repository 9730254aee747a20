/// A purchase outside of the App Store, as StoreKit let the app begin it.
public struct ExternalPurchase: Sendable, Equatable {
    /// StoreKit's token, base64url as it is.
    public let token: String
    /// The storefront's country code, `Storefront.current?.countryCode`: `DEU`.
    public let storefront: String

    public init(token: String, storefront: String) {
        self.token = token
        self.storefront = storefront
    }
}
