package import AppleTrust
import FoundationEssentials

/// An attempt of Apple's to deliver a notification.
package struct AppStoreSendAttempt: Sendable, Equatable, Decodable {
    /// The time in milliseconds since 1970; nil where Apple does not state it.
    package let attemptDate: Int64?
    /// Apple's result, `SUCCESS` or a failure; nil where Apple does not state it.
    package let sendAttemptResult: String?

    package var isSuccess: Bool { sendAttemptResult == "SUCCESS" }
}

/// A notification in Apple's history.
package struct AppStoreSentNotification: Sendable, Equatable {
    package let signed: SignedText
    /// The attempts, oldest first.
    package let attempts: [AppStoreSendAttempt]
}

/// The filter of a notification history; Apple accepts a type or a transaction, not both.
package enum AppStoreNotificationFilter: Sendable, Equatable {
    case all
    case type(String, subtype: String? = nil)
    case transaction(String)
}

/// A notification of a list, in Apple's form.
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

    /// Returns the days for which Apple provides past notifications; an earlier start is refused (4000012).
    package static func notificationDays(_ environment: AppleEnvironment) -> Int64 {
        environment == .production ? 180 : 30
    }

    /// The limit of pages, higher than for a customer's purchases, because a day of a large app has more notifications.
    private static let notificationPages = 50_000

    /// Lists the notifications that Apple sent in a period, or tried to send (Get Notification History).
    ///
    /// - Parameters:
    ///   - from: milliseconds since 1970.
    ///   - until: milliseconds since 1970.
    ///   - onlyFailures: true for those that never arrived, without those that succeeded at a later attempt.
    ///   - token: a page's `cursor`, with the other parameters unchanged; it expires (`pagingExpired`).
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
