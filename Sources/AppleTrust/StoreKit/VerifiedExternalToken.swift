/// The token of a purchase outside of the App Store in a notification that Apple signed.
///
/// Source: Apple, App Store Server Notifications V2, `externalPurchaseToken`.
public struct VerifiedExternalToken: Sendable, Equatable {
    public let externalPurchaseID: String
    public let bundleID: String
    /// The app's number in the App Store; 0 where Apple states none, as in the sandbox.
    public let appAppleID: Int64
    /// The time at which Apple made the token, in milliseconds since 1970-01-01 UTC.
    public let creationDate: Int64
    /// The end of the period of a token that serves many purchases, in milliseconds; nil for other tokens.
    public let expirationDate: Int64?
    /// Apple's text of `tokenType`; nil for a token of one purchase.
    public let type: String?

    /// - Returns: nil for a token without its id or its date.
    init?(_ claims: ClaimReader, of bundleID: String) {
        guard let id = claims.identifier("externalPurchaseId"), let date = claims.date("tokenCreationDate") else {
            return nil
        }
        externalPurchaseID = id
        self.bundleID = bundleID
        appAppleID = claims.integer("appAppleId", in: 0...Int64.max) ?? 0
        creationDate = date
        expirationDate = claims.date("tokenExpirationDate")
        type = claims.identifier("tokenType")
    }
}
