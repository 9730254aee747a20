import FoundationEssentials

/// Apple's word on a subscription, `status`: a value that came after this was written is kept.
package struct AppStoreSubscriptionStatus: RawRepresentable, Hashable, Sendable, Decodable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let active = Self(rawValue: 1)
    package static let expired = Self(rawValue: 2)
    package static let billingRetry = Self(rawValue: 3)
    package static let gracePeriod = Self(rawValue: 4)
    package static let revoked = Self(rawValue: 5)
    /// The status where Apple's cannot be read.
    package static let unknown = Self(rawValue: 0)
}

/// Apple's status of one subscription of a customer.
package struct AppStoreSubscription: Sendable, Equatable {
    package let group: String
    package let originalTransactionID: String
    /// Unsigned, unlike the texts: it is what Apple answered over TLS.
    package let status: AppStoreSubscriptionStatus
    package let transaction: SignedText
    package let renewalInfo: SignedText?
}

extension AppStoreServerAPI {
    private struct Answer: Decodable {
        struct Group: Decodable {
            let subscriptionGroupIdentifier: Lenient<String>?
            let lastTransactions: [Last]
        }

        struct Last: Decodable {
            let originalTransactionId: String
            let status: Lenient<AppStoreSubscriptionStatus>?
            let signedTransactionInfo: SignedText
            let signedRenewalInfo: Lenient<SignedText>?
        }

        let data: [Group]

        var subscriptions: [AppStoreSubscription] {
            data.flatMap { group in
                group.lastTransactions.map {
                    AppStoreSubscription(
                        group: group.subscriptionGroupIdentifier?.value ?? "",
                        originalTransactionID: $0.originalTransactionId, status: $0.status?.value ?? .unknown,
                        transaction: $0.signedTransactionInfo, renewalInfo: $0.signedRenewalInfo?.value)
                }
            }
        }
    }

    /// All subscriptions of the customer who made this transaction, each with its last transaction and its renewal.
    ///
    /// Apple's Get All Subscription Statuses: the source of truth for auto-renewable subscriptions.
    ///
    /// - Parameter statuses: only these; empty means all.
    package func subscriptions(
        of id: String, statuses: [AppStoreSubscriptionStatus] = [], in place: AppStoreSearch = .anywhere
    ) async throws(AppStoreServerError) -> AppStoreAnswer<[AppStoreSubscription]> {
        let request = AppStoreRequest(
            endpoint: .statuses, method: "GET",
            path: "inApps/v1/subscriptions/\(try AppStoreRequest.id(id, "transaction id"))",
            query: statuses.map { (name: "status", value: "\($0.rawValue)") })
        return try await find(place) { environment throws(AppStoreServerError) in
            try await ask(request, in: environment) { body throws(AppStoreAnswerDefect) in
                try Answer.read(body).subscriptions
            }
        }
    }
}
