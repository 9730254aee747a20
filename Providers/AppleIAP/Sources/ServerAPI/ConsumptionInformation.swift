import FoundationEssentials

/// The answer to Apple about a purchase whose refund a customer asks for (Send Consumption Information v2).
package struct AppStoreConsumption: Sendable, Equatable, Encodable {
    package enum Delivery: String, Sendable, Encodable, CaseIterable {
        case delivered = "DELIVERED"
        case qualityIssue = "UNDELIVERED_QUALITY_ISSUE"
        case wrongItem = "UNDELIVERED_WRONG_ITEM"
        case serverOutage = "UNDELIVERED_SERVER_OUTAGE"
        case other = "UNDELIVERED_OTHER"
    }

    package enum Preference: String, Sendable, Encodable, CaseIterable {
        case decline = "DECLINE"
        case grantFull = "GRANT_FULL"
        case grantProrated = "GRANT_PRORATED"
    }

    /// Apple takes no information without it, and we send none.
    package var customerConsented: Bool
    package var deliveryStatus: Delivery
    package var sampleContentProvided: Bool
    /// Thousandths of a percent, 0 to 100,000.
    package var consumptionPercentage: Int64?
    package var refundPreference: Preference?

    package init(
        customerConsented: Bool, deliveryStatus: Delivery, sampleContentProvided: Bool,
        consumptionPercentage: Int64? = nil, refundPreference: Preference? = nil
    ) {
        self.customerConsented = customerConsented
        self.deliveryStatus = deliveryStatus
        self.sampleContentProvided = sampleContentProvided
        self.consumptionPercentage = consumptionPercentage
        self.refundPreference = refundPreference
    }

    /// Returns the reason why Apple would refuse this; nil where it would not.
    package func fault(isAutoRenewable: Bool) -> String? {
        if !customerConsented { return "the customer has not consented" }
        if let percentage = consumptionPercentage {
            if !(0...100_000).contains(percentage) { return "the consumption is no percentage" }
            if deliveryStatus != .delivered && percentage != 0 { return "what was not delivered was not consumed" }
            if isAutoRenewable && refundPreference == .grantProrated {
                return "a prorated refund of a subscription takes no consumption"
            }
        }
        return nil
    }
}

extension AppStoreServerAPI {
    /// Tells Apple how much of a purchase was used, in answer to its CONSUMPTION_REQUEST.
    ///
    /// - Throws: `invalidRequest`, with nothing sent, where the customer has not consented or the facts contradict.
    package func sendConsumption(
        _ consumption: AppStoreConsumption, transaction id: String, isAutoRenewable: Bool,
        in place: AppStoreSearch = .anywhere
    ) async throws(AppStoreServerError) {
        if let fault = consumption.fault(isAutoRenewable: isAutoRenewable) { throw .invalidRequest(fault) }
        let request = AppStoreRequest(
            endpoint: .consumption, method: "PUT",
            path: "inApps/v2/transactions/consumption/\(try AppStoreRequest.id(id, "transaction id"))",
            body: try AppStoreRequest.json(consumption))
        _ = try await find(place) { environment throws(AppStoreServerError) in
            try await ask(request, in: environment) { _ in true }
        }
    }
}
