/// A provider whose store applies an offer to a subscription only with the merchant's signature.
public protocol OfferSigning: PaymentProvider {
    /// The bundle ids of the account's apps, in the order of its settings.
    var offeringApps: [String] { get }

    /// True where the account has a key to sign with.
    var signsOffers: Bool { get }

    /// Signs a statement in the store's current form, a JWS; makes no call.
    ///
    /// - Throws: `unsupported` where the account has no key.
    func signedToken(of statement: OfferStatement) throws(ProviderError) -> String

    /// Signs a promotional offer in the store's first form; makes no call.
    ///
    /// - Parameter username: the name of the customer that the app passes to the store.
    /// - Throws: `unsupported` where the account has no key, and for a statement about an introductory offer.
    func signature(of statement: OfferStatement, for username: String) throws(ProviderError) -> OfferSignature
}

/// A statement of the merchant about an offer.
public struct OfferStatement: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        /// The customer may have this promotional offer.
        case promotional(offer: String)
        /// The customer may, or may not, have the introductory offer.
        case introductory(isAllowed: Bool)
    }

    public let bundleID: String
    public let productID: String
    public let kind: Kind
    /// A transaction of the customer's, or the store's id of the customer in the app.
    public let transactionID: String?
    /// A UUID in lower case, a new one for each signature.
    public let nonce: String
    /// The real time, in milliseconds since 1970.
    public let signedAt: Int64

    public init(
        bundleID: String, productID: String, kind: Kind, transactionID: String?, nonce: String, signedAt: Int64
    ) {
        self.bundleID = bundleID
        self.productID = productID
        self.kind = kind
        self.transactionID = transactionID
        self.nonce = nonce
        self.signedAt = signedAt
    }
}

/// A signature in the store's first form, with the id of its key.
public struct OfferSignature: Sendable, Equatable {
    public let keyID: String
    /// The signature in base64.
    public let signature: String

    public init(keyID: String, signature: String) {
        self.keyID = keyID
        self.signature = signature
    }
}
