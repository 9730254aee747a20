package import Domain
import Encodings

/// A token of an external purchase that the box hands out: the answer of `POST /dev/appstore/external-purchase-tokens`.
package struct BoxExternalToken: Encodable, Sendable {
    package let external_purchase_id: String
    /// Base64url of Apple's JSON.
    package let token: String

    private struct Content: Encodable {
        let externalPurchaseId: String
        let appAppleId: Int64
        let bundleId: String
        let tokenCreationDate: Int64
        let tokenExpirationDate: Int64?
        let tokenType: String?
    }

    /// - Parameter now: business milliseconds.
    package init(_ request: BoxExternalTokenRequest, of app: BoxApp, now: Int64, random: RandomSource) throws {
        external_purchase_id = "SANDBOX_\(random.uuid4())"
        let content = Content(
            externalPurchaseId: external_purchase_id, appAppleId: app.appAppleID ?? 0, bundleId: app.bundleID,
            tokenCreationDate: now,
            tokenExpirationDate: request.type == nil ? nil : now + request.days * 86_400_000, tokenType: request.type)
        token = Base64URL.encoded(try JSONText.encoded(content))
    }
}

/// The body of `POST /dev/appstore/external-purchase-tokens`.
package struct BoxExternalTokenRequest: Sendable, Equatable {
    /// Apple's `tokenType`; nil for a token of one purchase.
    package let type: String?
    /// The days of a token that lives for a period.
    package let days: Int64

    /// Reads `{"token_type", "days"}`.
    package init(body: [UInt8]) throws(BoxError) {
        let fields = try BoxFields(body, ["token_type", "days"])
        type = try fields.text("token_type")
        guard type.map(ExternalToken.typesOfPeriods.contains) ?? true else {
            throw .invalidRequest(field: "token_type", "must be null, SERVICES or ACQUISITION")
        }
        days = try fields.integer("days", 1...3_660) ?? 365
    }
}
