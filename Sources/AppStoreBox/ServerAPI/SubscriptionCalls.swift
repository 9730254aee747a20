import Domain
import Encodings

// Get All Subscription Statuses, Extend a Subscription Renewal Date and Send Consumption Information.
extension ServerAPI {
    private struct Statuses: Encodable {
        struct Group: Encodable {
            let subscriptionGroupIdentifier: String
            let lastTransactions: [Last]
        }

        struct Last: Encodable {
            let originalTransactionId: String
            let status: Int64
            let signedTransactionInfo: String
            let signedRenewalInfo: String
        }

        let environment = boxEnvironment
        let bundleId: String
        let appAppleId: Int64?
        let data: [Group]
    }

    func statuses(of id: String, _ request: ServerAPIRequest) async throws -> ServerAPIAnswer {
        var wanted: Set<BoxSubscription.State> = []
        for text in request.values("status") {
            guard let state = Int64(text).flatMap(BoxSubscription.State.init) else { throw AppleError.invalidStatus }
            wanted.insert(state)
        }
        let row = try await known(id)
        var groups: [String: [Statuses.Last]] = [:]
        for subscription in try await reader.subscriptions(of: row.customer)
        where wanted.isEmpty || wanted.contains(subscription.state) {
            guard let current = try await reader.transaction(subscription.currentTransactionID) else { continue }
            groups[subscription.group, default: []].append(
                Statuses.Last(
                    originalTransactionId: subscription.originalTransactionID, status: subscription.state.rawValue,
                    signedTransactionInfo: try signer.transaction(current),
                    signedRenewalInfo: try signer.renewalInfo(subscription)))
        }
        let data = groups.sorted { $0.key < $1.key }.map {
            Statuses.Group(subscriptionGroupIdentifier: $0.key, lastTransactions: $0.value)
        }
        return .json(Statuses(bundleId: app.bundleID, appAppleId: app.appAppleID, data: data))
    }

    private struct ExtendRequest: Decodable {
        let extendByDays: Int64?
        let extendReasonCode: Int64?
        let requestIdentifier: String?
    }

    private struct Extended: Encodable {
        let originalTransactionId: String
        let webOrderLineItemId: String?
        let success = true
        let effectiveDate: Int64
    }

    /// The days in which a subscription may be extended twice.
    private static let extensionYear: Int64 = 365 * 86_400_000

    func extend(_ id: String, _ request: ServerAPIRequest) async throws -> ServerAPIAnswer {
        let row = try await known(id, else: .originalTransactionIDNotFound, malformed: .invalidOriginalTransactionID)
        let asked = try request.read(ExtendRequest.self)
        guard let days = asked.extendByDays, (1...90).contains(days) else { throw AppleError.invalidExtendByDays }
        guard let reason = asked.extendReasonCode, (0...3).contains(reason) else {
            throw AppleError.invalidExtendReasonCode
        }
        guard let name = asked.requestIdentifier, (1...128).contains(name.utf8.count) else {
            throw AppleError.invalidRequestIdentifier
        }
        guard row.transactionID == row.originalTransactionID else { throw AppleError.notOriginalTransactionID }
        let all = try await reader.subscriptions(of: row.customer)
        guard let subscription = all.first(where: { $0.originalTransactionID == id }) else {
            throw AppleError.extensionIneligible
        }
        try await checkExtension(of: subscription)
        let extended: BoxSubscription
        do {
            extended = try await acts.extend(id, days: days)
        } catch is BoxError {
            throw AppleError.extensionIneligible
        }
        let current = try await reader.transaction(extended.currentTransactionID)
        return .json(
            Extended(
                originalTransactionId: id, webOrderLineItemId: current?.webOrderLineItemID,
                effectiveDate: extended.expiresAt))
    }

    /// Refuses an extension of a subscription that is shared, not active, in a free offer, or extended twice in a year.
    private func checkExtension(of subscription: BoxSubscription) async throws {
        guard !subscription.isFamilyShared else { throw AppleError.familyExtensionIneligible }
        let current = try await reader.transaction(subscription.currentTransactionID)
        guard subscription.state == .active, current?.offer?.discount != .freeTrial else {
            throw AppleError.extensionIneligible
        }
        let now = clocks.business()
        let past = try await sentNotifications(signed: max(0, now - Self.extensionYear)...max(0, now), upTo: 2) {
            $0.row.type == .renewalExtended
                && $0.row.subscription?.originalTransactionID == subscription.originalTransactionID
        }
        guard past.count < 2 else { throw AppleError.extensionLimit }
    }

    private struct Consumption: Decodable {
        let customerConsented: Bool?
        let deliveryStatus: String?
        let sampleContentProvided: Bool?
        let consumptionPercentage: Int64?
        let refundPreference: String?
    }

    private static let deliveries: Set<String> = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
    ]
    private static let preferences: Set<String> = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

    /// Checks the information as Apple does; who decides on the refund in the box is the person at its page.
    func consumption(of id: String, _ request: ServerAPIRequest) async throws -> ServerAPIAnswer {
        let row = try await known(id)
        let told = try request.read(Consumption.self)
        guard told.customerConsented == true else { throw AppleError.invalidCustomerConsented }
        guard let delivery = told.deliveryStatus, Self.deliveries.contains(delivery) else {
            throw AppleError.invalidDeliveryStatus
        }
        guard told.sampleContentProvided != nil else { throw AppleError.invalidSampleContentProvided }
        guard told.refundPreference.map(Self.preferences.contains) ?? true else { throw AppleError.generalBadRequest }
        if let percentage = told.consumptionPercentage {
            let isSubscription = row.kind == .subscription && told.refundPreference == "GRANT_PRORATED"
            guard (0...100_000).contains(percentage), delivery == "DELIVERED" || percentage == 0, !isSubscription else {
                throw AppleError.invalidConsumptionStatus
            }
        }
        guard !row.isFamilyShared else { throw AppleError.familyTransactionNotSupported }
        return .accepted
    }
}
