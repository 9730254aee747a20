import Domain
import Encodings

// Request a Test Notification, Get Test Notification Status and Get Notification History.
extension ServerAPI {
    private struct Requested: Encodable {
        let testNotificationToken: String
    }

    func requestTest() async throws -> ServerAPIAnswer {
        let test = try await acts.requestTest()
        return .json(Requested(testNotificationToken: "\(test.uuid)_\(test.signedAt)"))
    }

    /// The state of a test notification; while it was not sent it has no attempts.
    func testStatus(_ token: String) async throws -> ServerAPIAnswer {
        let parts = token.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts[0].hasBytes(36...36, where: { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }),
            let signedAt = Int64(parts[1])
        else { throw AppleError.invalidTestNotificationToken }
        guard let sent = try await reader.notification(parts[0]), sent.row.type == .test, sent.row.signedAt == signedAt
        else { throw AppleError.testNotificationNotFound }
        return .json(Item(sent))
    }

    private struct Item: Encodable {
        struct Attempt: Encodable {
            let attemptDate: Int64
            let sendAttemptResult: String
        }

        let signedPayload: String
        let sendAttempts: [Attempt]

        init(_ sent: SentNotification) {
            signedPayload = sent.signedPayload
            sendAttempts = sent.row.attempts.map {
                Attempt(attemptDate: $0.at, sendAttemptResult: $0.appleResult)
            }
        }
    }

    private struct Question: Decodable {
        let startDate: Int64?
        let endDate: Int64?
        let notificationType: String?
        let notificationSubtype: String?
        let transactionId: String?
        let onlyFailures: Bool?
    }

    private struct Answer: Encodable {
        let notificationHistory: [Item]
        let hasMore: Bool
        let paginationToken: String?
    }

    /// The days that Apple's sandbox keeps notifications.
    private static let kept: Int64 = 30 * 86_400_000

    func notifications(_ request: ServerAPIRequest) async throws -> ServerAPIAnswer {
        let question = try request.read(Question.self)
        let now = clocks.business()
        guard let from = question.startDate, from >= 0 else { throw AppleError.invalidStartDate }
        guard let until = question.endDate, until >= 0 else { throw AppleError.invalidEndDate }
        guard from < until else { throw AppleError.startDateAfterEndDate }
        // A caller counts the days from a moment before this one.
        guard from >= now - Self.kept - 3_600_000 else { throw AppleError.startDateTooFarInPast }
        let filter = try await filter(question)
        var after: Int64 = 0
        if let token = request.value("paginationToken") {
            guard let parts = PageToken.decoded(token), parts.count == 1, let number = Int64(parts[0]) else {
                throw AppleError.invalidPaginationToken
            }
            after = number
        }
        let found = try await sentNotifications(signed: from...until, after: after, upTo: Self.page + 1, where: filter)
        let shown = found.prefix(Self.page)
        let hasMore = found.count > Self.page
        return .json(
            Answer(
                notificationHistory: shown.map(Item.init), hasMore: hasMore,
                paginationToken: hasMore ? shown.last.map { PageToken.encoded([String($0.row.number)]) } : nil))
    }

    private func filter(_ question: Question) async throws -> (SentNotification) -> Bool {
        guard question.transactionId == nil || question.notificationType == nil else {
            throw AppleError.multipleFiltersSupplied
        }
        guard question.notificationSubtype == nil || question.notificationType != nil,
            question.notificationType.map({ $0.isWord(1...64) }) ?? true
        else { throw AppleError.invalidNotificationType }
        var customer: String?
        if let id = question.transactionId { customer = try await known(id).customer }
        return { sent in
            (question.notificationType.map { sent.row.type.rawValue == $0 } ?? true)
                && (question.notificationSubtype.map { sent.row.subtype?.rawValue == $0 } ?? true)
                && (customer.map { sent.row.customer == $0 } ?? true)
                && (question.onlyFailures != true || !sent.row.attempts.contains(where: \.isSuccess))
        }
    }

    /// The notifications of a time that a filter takes, read a hundred at a time.
    func sentNotifications(
        signed dates: ClosedRange<Int64>, after number: Int64 = 0, upTo limit: Int,
        where takes: (SentNotification) -> Bool
    ) async throws -> [SentNotification] {
        var (found, number): ([SentNotification], Int64) = ([], number)
        while true {
            let rows = try await reader.notifications(signed: dates, after: number, limit: 100)
            found += rows.filter(takes)
            guard rows.count == 100, found.count < limit, let last = rows.last else { break }
            number = last.row.number
        }
        return Array(found.prefix(limit))
    }
}

extension BoxNotification {
    /// The customer whom it is about; nil for a test.
    fileprivate var customer: String? { transaction?.customer ?? subscription?.customer }
}

extension BoxNotification.Attempt {
    /// Apple counts 200 to 206 as a success.
    fileprivate var isSuccess: Bool { status.map { (200...206).contains($0) } ?? false }

    /// Apple's `sendAttemptResult`.
    fileprivate var appleResult: String {
        isSuccess ? "SUCCESS" : status == nil ? "NO_RESPONSE" : "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    }
}
