import AppleTrust
public import Domain
public import FoundationEssentials
public import ProviderKit

extension AppleIAPProvider: ExternalPurchaseReporting {
    public func send(
        _ body: Data, of bundleID: String, in environment: Domain.Environment
    ) async -> ExternalReportAnswer {
        await externalPurchaseAPI?.send(body, of: bundleID, in: environment) ?? .noKey
    }

    public func find(
        report requestIdentifier: String, of bundleID: String, in environment: Domain.Environment
    ) async -> ExternalReportAnswer {
        await externalPurchaseAPI?.find(report: requestIdentifier, of: bundleID, in: environment) ?? .noKey
    }
}

extension ExternalTokenNotice {
    /// - Returns: nil for a notification without a token, and for a subtype that this release does not know.
    init?(_ notification: VerifiedNotification) {
        guard let token = notification.externalToken else { return nil }
        let isReminder: Bool
        switch notification.subtype {
        case "CREATED": isReminder = false
        case "UNREPORTED", "ACTIVE_TOKEN_REMINDER": isReminder = true
        default: return nil
        }
        self.init(
            token: ExternalPurchaseToken(
                externalPurchaseID: token.externalPurchaseID, appAppleID: token.appAppleID, bundleID: token.bundleID,
                createdAt: Timestamp(token.creationDate.flooredSeconds),
                expiresAt: token.expirationDate.map { Timestamp($0.flooredSeconds) }, type: token.type),
            isReminder: isReminder)
    }
}
