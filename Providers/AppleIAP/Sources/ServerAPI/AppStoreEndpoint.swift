import AppleTrust

/// The endpoints of the API that have different rate limits.
enum AppStoreEndpoint: CaseIterable, Sendable {
    case transaction, history, statuses, notificationHistory, refundHistory, orderLookup, testNotification
    case testNotificationStatus, consumption, appAccountToken, renewalExtension, massExtension, massExtensionStatus

    /// The requests a second that Apple allows an app in Production; Sandbox allows a tenth of them.
    var perSecond: Int64 {
        switch self {
        case .transaction, .history, .statuses, .notificationHistory, .consumption: 50
        case .appAccountToken, .renewalExtension: 20
        case .refundHistory, .orderLookup: 10
        case .testNotification, .testNotificationStatus, .massExtension, .massExtensionStatus: 1
        }
    }

    /// The time between two requests at the limit, in milliseconds.
    func interval(_ environment: AppleEnvironment) -> Int64 {
        (environment == .production ? 1_000 : 10_000) / perSecond
    }

    /// A page has up to 20 signed texts of up to 64 KiB.
    var maxReplyBytes: Int {
        switch self {
        case .history, .refundHistory, .statuses, .notificationHistory, .orderLookup: 4 << 20
        case .transaction, .testNotificationStatus: 256 << 10
        default: 64 << 10
        }
    }
}
