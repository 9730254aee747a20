/// A notification that Apple signed for a configured app in an accepted environment, with what it holds.
///
/// Each JWS inside is verified on its own and is about the same app and environment. Only `AppleVerifier` makes one. Types
/// and subtypes that came after this was written keep their words.
/// Source: Apple, App Store Server Notifications V2, responseBodyV2DecodedPayload.
public struct VerifiedNotification: Sendable {
    /// `notificationUUID`: every repetition of one notification has the same.
    public let id: String
    public let type: AppleCode<AppleNotificationType>
    /// Apple's word.
    public let subtype: String?
    /// When Apple signed it, in milliseconds since 1970-01-01 UTC.
    public let signedDate: Int64
    public let environment: AppleEnvironment
    public let bundleID: String
    /// As of `signedDate`, for subscriptions.
    public let status: AppleCode<AppleSubscriptionStatus>?
    /// nil in notifications about something else, such as a test or a summary.
    public let transaction: VerifiedTransaction?
    /// nil where there is none; it belongs to `transaction` where there is one.
    public let renewalInfo: VerifiedRenewalInfo?

    init(_ payload: VerifiedPayload, _ verifier: AppleVerifier) throws(AppleRefusal) {
        let claims = ClaimReader(payload.text)
        id = try claims.required("notificationUUID", ClaimReader.appleID)
        type = AppleCode(rawValue: try claims.required("notificationType", ClaimReader.identifier))
        subtype = try claims.text("subtype")
        signedDate = payload.signedDate
        let content = try Self.content(claims)
        bundleID = try content.claims.required("bundleId", ClaimReader.identifier)
        let audience = verifier.audience
        try audience.checkApp(bundleID)
        environment = try Self.environment(content, audience)
        try audience.checkNumber(of: bundleID, try content.claims.integer("appAppleId", in: 0...Int64.max), environment)
        status = try content.claims.code("status")
        let transaction = try content.claims.text("signedTransactionInfo")
        let renewal = try content.claims.text("signedRenewalInfo")
        let app = try content.claims.text("signedAppTransactionInfo")
        self.transaction = try transaction.map { jws throws(AppleRefusal) in try verifier.transaction(jws) }
        renewalInfo = try renewal.map { jws throws(AppleRefusal) in try verifier.renewalInfo(jws) }
        try checkInner(appTransaction: try app.map { jws throws(AppleRefusal) in try verifier.payload(jws) })
    }

    private struct Content {
        let claims: ClaimReader
        let isExternal: Bool
    }

    /// The one object that says what it is about.
    private static func content(_ claims: ClaimReader) throws(AppleRefusal) -> Content {
        for name in ["data", "summary", "appData", "externalPurchaseToken"] {
            guard let object = try claims.object(name) else { continue }
            return Content(claims: object, isExternal: name == "externalPurchaseToken")
        }
        throw .malformed("data is missing")
    }

    private static func environment(
        _ content: Content, _ audience: Audience
    ) throws(AppleRefusal) -> AppleEnvironment {
        guard content.isExternal else {
            return try audience.environment(try content.claims.required("environment", ClaimReader.text))
        }
        // Tokens name no environment; those of the sandbox begin with its name.
        let token = try content.claims.text("externalPurchaseId") ?? ""
        return try audience.environment(token.hasPrefix("SANDBOX") ? "Sandbox" : "Production")
    }

    private func checkInner(appTransaction: VerifiedPayload?) throws(AppleRefusal) {
        if let transaction {
            guard transaction.bundleID == bundleID else {
                throw AppleRefusal(.wrongApp, "the transaction inside is another app's")
            }
            guard transaction.environment == environment else {
                throw AppleRefusal(.wrongEnvironment, "the transaction inside is another environment's")
            }
        }
        if let renewalInfo {
            guard renewalInfo.environment == environment else {
                throw AppleRefusal(.wrongEnvironment, "the renewal information inside is another environment's")
            }
            guard transaction.map(renewalInfo.belongs) ?? true else {
                throw .malformed("the renewal information inside is another subscription's")
            }
        }
        if let appTransaction, try ClaimReader(appTransaction.text).text("bundleId") != bundleID {
            throw AppleRefusal(.wrongApp, "the app transaction inside is another app's")
        }
    }
}

extension Audience {
    /// Checks the app's number in the App Store, which Apple signs in Production only.
    fileprivate func checkNumber(
        of bundleID: String, _ number: Int64?, _ environment: AppleEnvironment
    ) throws(AppleRefusal) {
        guard environment == .production else { return }
        guard let expected = apps[bundleID]?.appAppleID else {
            throw AppleRefusal(.wrongApp, "the app_apple_id of \(bundleID) is not configured")
        }
        guard number == expected else {
            throw AppleRefusal(.wrongApp, "signed for the app \(number ?? 0), not for \(expected)")
        }
    }
}
