package import AppleTrust
import FoundationEssentials

/// A try of Apple's to deliver a notification.
package struct AppStoreSendAttempt: Sendable, Equatable, Decodable {
    /// In milliseconds since 1970; nil where Apple does not say.
    package let attemptDate: Int64?
    /// Apple's word, `SUCCESS` or a failure's; nil where Apple does not say.
    package let sendAttemptResult: String?

    package var isSuccess: Bool { sendAttemptResult == "SUCCESS" }
}

/// A notification as the history gives it.
package struct AppStoreSentNotification: Sendable, Equatable {
    package let signed: SignedText
    /// Oldest first.
    package let attempts: [AppStoreSendAttempt]
}

/// The filter of a notification history; Apple takes a type or a transaction, not both.
package enum AppStoreNotificationFilter: Sendable, Equatable {
    case all
    case type(String, subtype: String? = nil)
    case transaction(String)
}

/// A notification of a list, as Apple writes it.
struct SentNotificationItem: Decodable {
    let signedPayload: SignedText
    let sendAttempts: Lenient<[AppStoreSendAttempt]>?

    var notification: AppStoreSentNotification {
        AppStoreSentNotification(signed: signedPayload, attempts: sendAttempts?.value ?? [])
    }
}

extension AppStoreServerAPI {
    private struct Question: Encodable {
        let startDate: Int64
        let endDate: Int64
        var onlyFailures: Bool?
        var notificationType: String?
        var notificationSubtype: String?
        var transactionId: String?
    }

    private struct Answer: Decodable {
        let notificationHistory: [SentNotificationItem]
        let paginationToken: String?
        let hasMore: Bool
    }

    /// Returns the time for which Apple keeps notifications, in days; an earlier start is refused (4000012).
    package static func notificationDays(_ environment: AppleEnvironment) -> Int64 {
        environment == .production ? 180 : 30
    }

    /// A day of a large app is more than any customer's purchases.
    private static let notificationPages = 50_000

    /// The notifications that Apple sent in a time, or tried to (Get Notification History).
    ///
    /// - Parameters:
    ///   - from: in milliseconds since 1970.
    ///   - until: in milliseconds since 1970.
    ///   - onlyFailures: those that never arrived; what succeeded at a later try is not among them.
    ///   - token: a page's `cursor`, with all else the same; it expires (`pagingExpired`).
    package func notifications(
        from: Int64, until: Int64, filter: AppStoreNotificationFilter = .all, onlyFailures: Bool = false,
        after token: String? = nil, in environment: AppleEnvironment
    ) -> AppStorePages<AppStoreSentNotification> {
        AppStorePages(
            from: token, in: .only(environment), limit: Self.notificationPages
        ) { cursor, place throws(AppStoreServerError) in
            guard from < until else { throw .invalidRequest("the time is empty") }
            var question = Question(startDate: from, endDate: until, onlyFailures: onlyFailures ? true : nil)
            switch filter {
            case .all: break
            case .type(let type, let subtype):
                (question.notificationType, question.notificationSubtype) = (type, subtype)
            case .transaction(let id): question.transactionId = id
            }
            let request = AppStoreRequest(
                endpoint: .notificationHistory, method: "POST", path: "inApps/v1/notifications/history",
                query: cursor.map { [(name: "paginationToken", value: $0)] } ?? [],
                body: try AppStoreRequest.json(question))
            return try await page(in: place) { environment throws(AppStoreServerError) in
                try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in
                    let answer = try Answer.read(body)
                    return AppStorePage(
                        environment: environment, items: answer.notificationHistory.map(\.notification),
                        cursor: try checkedCursor(answer.paginationToken, hasMore: answer.hasMore, "paginationToken"),
                        hasMore: answer.hasMore)
                }
            }
        }
    }
}
