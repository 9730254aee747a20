/// The form in which a promotional offer is signed.
package enum OfferFormat: String, Sendable, Codable, CaseIterable {
    /// A JWS, which StoreKit 2 takes.
    case v2
    /// A signature over joined texts, which StoreKit 1 takes too.
    case v1
}

/// A request for the signature of a promotional offer.
package struct OfferRequest: Sendable {
    package let productID: String
    package let offerID: String
    /// A transaction of the user's, or the App Store's id of the customer in the app.
    package let transactionID: String?
    package let bundleID: String?
    package let format: OfferFormat

    package init(
        productID: String, offerID: String, transactionID: String?, bundleID: String?, format: OfferFormat
    ) {
        self.productID = productID
        self.offerID = offerID
        self.transactionID = transactionID
        self.bundleID = bundleID
        self.format = format
    }
}

/// A request for a signed statement about an introductory offer.
package struct IntroductoryRequest: Sendable {
    package let productID: String
    package let transactionID: String
    package let bundleID: String?

    package init(productID: String, transactionID: String, bundleID: String?) {
        self.productID = productID
        self.transactionID = transactionID
        self.bundleID = bundleID
    }
}

/// A signed promotional offer, with what the app passes to StoreKit.
package enum SignedOffer: Sendable, Equatable {
    case token(String)
    case legacy(LegacySignature)

    /// The parts of a signature in Apple's first form.
    package struct LegacySignature: Sendable, Equatable, Codable {
        package let key_id: String
        package let nonce: String
        /// The real time of the signature, in milliseconds since 1970.
        package let timestamp: Int64
        package let signature: String
        /// The user's `app_account_token`.
        package let application_username: String
    }
}

extension SignedOffer: Codable {
    private enum CodingKeys: String, CodingKey { case format, jws }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        switch try fields.decode(OfferFormat.self, forKey: .format) {
        case .v2: self = .token(try fields.decode(String.self, forKey: .jws))
        case .v1: self = .legacy(try LegacySignature(from: decoder))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .token(let jws):
            try fields.encode(OfferFormat.v2, forKey: .format)
            try fields.encode(jws, forKey: .jws)
        case .legacy(let signature):
            try fields.encode(OfferFormat.v1, forKey: .format)
            try signature.encode(to: encoder)
        }
    }
}

/// A signed statement that a user may, or may not, have an introductory offer.
package struct SignedIntroductory: Encodable, Sendable, Equatable {
    package let jws: String
    package let allow: Bool
}
