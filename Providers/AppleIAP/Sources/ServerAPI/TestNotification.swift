package import AppleTrust
import FoundationEssentials

/// The result of a test notification.
package enum AppStoreTestOutcome: Sendable, Equatable {
    /// Our address took it.
    case delivered
    /// Apple could not deliver it; the word is Apple's.
    case failed(String)
    /// Apple has not said within the time that was waited.
    case pending
}

extension AppStoreServerAPI {
    private struct Requested: Decodable {
        let testNotificationToken: String
    }

    /// The pauses before each look at a test notification, in milliseconds: 43 seconds in all.
    static let testPauses: [Int64] = [1_000, 2_000, 5_000, 5_000, 10_000, 10_000, 10_000]

    /// Asks Apple to send a notification of the type TEST to the address in App Store Connect.
    ///
    /// - Returns: the token to ask for its status by.
    /// - Throws: `notFound` with 4040007 where App Store Connect has no address.
    package func requestTestNotification(in environment: AppleEnvironment) async throws(AppStoreServerError) -> String {
        let request = AppStoreRequest(
            endpoint: .testNotification, method: "POST", path: "inApps/v1/notifications/test")
        return try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in
            try Requested.read(body).testNotificationToken
        }
    }

    /// Queries the result of a test notification (Get Test Notification Status).
    ///
    /// - Throws: `notFound` with 4040008 where Apple does not know it, or not yet.
    package func testNotification(
        _ token: String, in environment: AppleEnvironment
    ) async throws(AppStoreServerError) -> AppStoreSentNotification {
        let request = AppStoreRequest(
            endpoint: .testNotificationStatus, method: "GET",
            path: "inApps/v1/notifications/test/\(try AppStoreRequest.id(token, "test notification's token"))")
        return try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in
            try SentNotificationItem.read(body).notification
        }
    }

    /// Has a test notification sent and waits until Apple says how it fared, for most of a minute.
    package func sendTestNotification(
        in environment: AppleEnvironment
    ) async throws(AppStoreServerError) -> AppStoreTestOutcome {
        let token = try await requestTestNotification(in: environment)
        for wait in Self.testPauses {
            await pause(.milliseconds(wait))
            if Task.isCancelled { return .pending }
            do throws(AppStoreServerError) {
                let attempts = try await testNotification(token, in: environment).attempts
                if attempts.contains(where: \.isSuccess) { return .delivered }
                if let last = attempts.last { return .failed(last.sendAttemptResult ?? "no reason given") }
            } catch .notFound(4_040_008) {
                continue
            }
        }
        return .pending
    }
}

extension AppStoreTestOutcome {
    /// For a person: what happened, and where to look.
    package var explanation: String {
        switch self {
        case .delivered: "Apple's test notification was delivered."
        case .pending: "Apple has not said yet whether its test notification was delivered; ask again in a minute."
        case .failed(let word):
            "Apple could not deliver its test notification: \(Self.words(word)). "
                + "The address in App Store Connect must be {public_url}/v1/notify/{notify_token}, reachable from outside."
        }
    }

    private static func words(_ word: String) -> String {
        switch word {
        case "TIMED_OUT", "NO_RESPONSE": "our address did not answer in time"
        case "TLS_ISSUE": "its certificate or its TLS is not accepted"
        case "CIRCULAR_REDIRECT": "our address redirects in a circle"
        case "SOCKET_ISSUE", "PREMATURE_CLOSE": "the connection was refused or cut"
        case "UNSUCCESSFUL_HTTP_RESPONSE_CODE": "our address did not answer 200 to 206"
        default: word
        }
    }
}
