import RefusalReasons

/// A notification that Apple signed for a configured app in an accepted environment, with what it holds.
///
/// Each JWS inside is verified on its own and is about the same app and environment. Only `AppleVerifier` makes one.
/// Types and subtypes that are newer than this program keep their text.
/// Source: Apple, App Store Server Notifications V2, responseBodyV2DecodedPayload.
public struct VerifiedNotification: Sendable {
    /// `notificationUUID`: the same for every repetition of one notification.
    public let id: String
    public let type: AppleCode<AppleNotificationType>
    /// Apple's text of `subtype`.
    public let subtype: String?
    /// The time when Apple signed it, in milliseconds since 1970-01-01 UTC.
    public let signedDate: Int64
    public let environment: AppleEnvironment
    public let bundleID: String
    /// The subscription's status at `signedDate`; nil for other notifications.
    public let status: AppleCode<AppleSubscriptionStatus>?
    /// nil in notifications without one, such as a test or a summary.
    public let transaction: VerifiedTransaction?
    /// The renewal information of `transaction`, where there is one.
    public let renewalInfo: VerifiedRenewalInfo?
    /// The token of a purchase outside of the App Store; nil in other notifications.
    public let externalToken: VerifiedExternalToken?
    /// The customer's Apple Account in the app, of a notification about a person; nil for other notifications.
    public let appTransactionID: String?

    /// Fields of an unknown form or value; they count as absent.
    public let unreadFields: [String]

    init(_ payload: VerifiedPayload, _ verifier: AppleVerifier) throws(AppleRefusal) {
        let claims = ClaimReader(payload.text)
        id = try claims.required("notificationUUID", ClaimReader.id)
        type = claims.code("notificationType") ?? .unknown("")
        subtype = claims.identifier("subtype")
        signedDate = payload.signedDate
        let content = try Self.content(claims)
        bundleID = try content.claims.required("bundleId", ClaimReader.identifier)
        let audience = verifier.audience
        try audience.checkApp(bundleID)
        environment = try Self.environment(content, audience)
        try audience.checkNumber(of: bundleID, content, environment)
        guard content.kind != .unknown else {
            (status, transaction, renewalInfo, externalToken, appTransactionID) = (nil, nil, nil, nil, nil)
            unreadFields = claims.unread.names
            return
        }
        status = content.claims.code("status")
        externalToken = content.kind == .externalToken ? VerifiedExternalToken(content.claims, of: bundleID) : nil
        let signed = try SignedParts(content.claims, verifier)
        (transaction, renewalInfo) = (signed.transaction, signed.renewalInfo)
        appTransactionID = signed.appTransaction.flatMap { ClaimReader($0.text).id("appTransactionId") }
        unreadFields =
            claims.unread.names + (transaction?.unreadFields ?? []) + (renewalInfo?.unreadFields ?? [])
        try checkInner(appTransaction: signed.appTransaction)
    }

    /// The object that names a notification's app and environment.
    fileprivate struct Content {
        enum Kind { case known, externalToken, unknown }

        let claims: ClaimReader
        let kind: Kind
    }

    private static let contents = ["data", "summary", "appData", "externalPurchaseToken"]

    /// - Returns: the known object; where there is none, the first object that names an app: it is newer than this
    ///   program, and only its app and its environment are read.
    private static func content(_ claims: ClaimReader) throws(AppleRefusal) -> Content {
        for name in contents {
            guard let object = claims.object(name) else { continue }
            return Content(claims: object, kind: name == "externalPurchaseToken" ? .externalToken : .known)
        }
        guard let object = claims.object(besides: contents, where: { $0.has("bundleId") }) else {
            throw .malformed("data is missing")
        }
        claims.unread.add("data")
        return Content(claims: object, kind: .unknown)
    }

    private static func environment(
        _ content: Content, _ audience: Audience
    ) throws(AppleRefusal) -> AppleEnvironment {
        guard content.kind == .externalToken else {
            return try audience.environment(try content.claims.required("environment", ClaimReader.text))
        }
        // Tokens name no environment; those of the sandbox begin with its name.
        let token = content.claims.text("externalPurchaseId") ?? ""
        return try audience.environment(token.hasPrefix("SANDBOX") ? "Sandbox" : "Production")
    }

    private func checkInner(appTransaction: VerifiedPayload?) throws(AppleRefusal) {
        if let transaction {
            guard transaction.bundleID == bundleID else {
                throw AppleRefusal(.wrongApp, "the transaction inside is another app's", at: .app)
            }
            guard transaction.environment == environment else {
                throw AppleRefusal(
                    .wrongEnvironment, "the transaction inside is another environment's", at: .signedTransactionInfo)
            }
        }
        if let renewalInfo {
            guard renewalInfo.environment == environment else {
                throw AppleRefusal(
                    .wrongEnvironment, "the renewal information inside is another environment's",
                    at: .signedRenewalInfo)
            }
            guard transaction.map(renewalInfo.belongs) ?? true else {
                throw AppleRefusal(
                    .malformed, "the renewal information inside is another subscription's", at: .signedRenewalInfo)
            }
        }
        guard let appTransaction else { return }
        let claims = ClaimReader(appTransaction.text)
        guard claims.text("bundleId") == bundleID else {
            throw AppleRefusal(.wrongApp, "the app transaction inside is another app's", at: .app)
        }
        guard claims.text("receiptType").map({ $0 == environment.rawValue }) ?? true else {
            throw AppleRefusal(
                .wrongEnvironment, "the app transaction inside is another environment's", at: .signedAppTransactionInfo)
        }
    }
}

/// The JWS inside a notification's content, each verified on its own.
private struct SignedParts {
    let transaction: VerifiedTransaction?
    let renewalInfo: VerifiedRenewalInfo?
    let appTransaction: VerifiedPayload?

    init(_ content: ClaimReader, _ verifier: AppleVerifier) throws(AppleRefusal) {
        transaction = try Self.read("signedTransactionInfo", .signedTransactionInfo, content) {
            (jws) throws(AppleRefusal) in try verifier.transaction(jws)
        }
        renewalInfo = try Self.read("signedRenewalInfo", .signedRenewalInfo, content) {
            (jws) throws(AppleRefusal) in try verifier.renewalInfo(jws)
        }
        appTransaction = try Self.read("signedAppTransactionInfo", .signedAppTransactionInfo, content) {
            (jws) throws(AppleRefusal) in try verifier.payload(jws)
        }
    }

    /// - Parameter check: the check as which a refusal of this part is shown, unless it is about the app.
    private static func read<Value>(
        _ name: String, _ check: AppleCheck.Name, _ content: ClaimReader,
        _ verify: (String) throws(AppleRefusal) -> Value
    ) throws(AppleRefusal) -> Value? {
        do throws(AppleRefusal) {
            guard content.has(name), content.text(name) != nil || content.unread.names.contains(name) else {
                return nil
            }
            return try verify(try content.required(name, ClaimReader.text))
        } catch {
            throw error.at(error.reason == .wrongApp ? .app : check)
        }
    }
}

extension Audience {
    /// Checks the app's number in the App Store, which Apple signs in Production only.
    ///
    /// An object of an unknown kind need not have the number; a number that it has must be right.
    fileprivate func checkNumber(
        of bundleID: String, _ content: VerifiedNotification.Content, _ environment: AppleEnvironment
    ) throws(AppleRefusal) {
        guard environment == .production else { return }
        do throws(AppleRefusal) {
            let number = try content.claims.checked("appAppleId") { reader in
                { reader.integer($0, in: 0...Int64.max) }
            }
            if content.kind == .unknown, number == nil { return }
            guard let expected = apps[bundleID]?.appAppleID else {
                throw AppleRefusal(.wrongApp, "the app_apple_id of \(bundleID) is not configured")
            }
            guard number == expected else {
                throw AppleRefusal(.wrongApp, "signed for the app \(number ?? 0), not for \(expected)")
            }
        } catch {
            throw error.at(.appAppleID)
        }
    }
}
