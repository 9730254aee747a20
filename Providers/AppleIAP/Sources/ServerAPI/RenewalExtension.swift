import FoundationEssentials

/// Days that are given to subscribers.
package struct AppStoreExtension: Sendable, Equatable {
    package enum Reason: Int, Sendable, CaseIterable {
        case undeclared, customerSatisfaction, other, outage
    }

    /// 1 to 90.
    package var days: Int
    package var reason: Reason
    /// Our own id of this extension, at most 128 bytes.
    package var request: String

    package init(days: Int, reason: Reason, request: String) {
        self.days = days
        self.reason = reason
        self.request = request
    }

    var fault: AppStoreServerError? {
        if !(1...90).contains(days) { return .invalidRequest("a renewal date moves by 1 to 90 days") }
        if !(1...128).contains(request.utf8.count) { return .invalidRequest("the request's id is empty or too long") }
        return nil
    }
}

/// The result of an extension.
package struct AppStoreExtended: Sendable, Equatable {
    package let originalTransactionId: String
    /// The time when the current period ends now, in milliseconds since 1970; nil where Apple wrote no time that can be
    /// read.
    package let effectiveDate: Int64?
    package let success: Bool
}

extension AppStoreExtended: Decodable {
    private enum CodingKeys: String, CodingKey { case originalTransactionId, effectiveDate, success }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        originalTransactionId = try fields.decode(String.self, forKey: .originalTransactionId)
        let date = try fields.decodeIfPresent(Lenient<Int64>.self, forKey: .effectiveDate)?.value
        effectiveDate = date.flatMap { (0...253_402_300_799_999).contains($0) ? $0 : nil }
        success = try fields.decode(Bool.self, forKey: .success)
    }
}

extension AppStoreServerAPI {
    private struct Question: Encodable {
        let extendByDays: Int
        let extendReasonCode: Int
        let requestIdentifier: String
    }

    /// Moves the renewal date of one active, paid subscription (Extend a Subscription Renewal Date).
    ///
    /// Apple allows it twice in 365 days for a customer. After `outcomeUnknown` look at the subscription before asking
    /// again: a second extension would count.
    ///
    /// - Throws: `permanent` with 4030004, 4030005 or 4030007 where Apple's limits forbid it.
    package func extend(
        original id: String, by days: AppStoreExtension, in place: AppStoreSearch = .anywhere
    ) async throws(AppStoreServerError) -> AppStoreAnswer<AppStoreExtended> {
        if let fault = days.fault { throw fault }
        let request = AppStoreRequest(
            endpoint: .renewalExtension, method: "PUT",
            path: "inApps/v1/subscriptions/extend/\(try AppStoreRequest.id(id, "transaction id"))",
            body: try AppStoreRequest.json(
                Question(
                    extendByDays: days.days, extendReasonCode: days.reason.rawValue, requestIdentifier: days.request)),
            isRepeatable: false)
        return try await find(place) { environment throws(AppStoreServerError) in
            try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in
                try AppStoreExtended.read(body)
            }
        }
    }
}
