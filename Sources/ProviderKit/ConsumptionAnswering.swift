public import Domain

/// A provider whose store asks how much of a purchase was used, before it decides about a customer's refund.
public protocol ConsumptionAnswering: PaymentProvider {
    /// Sends the answer to the store; called only with the customer's consent, and may be repeated.
    ///
    /// - Throws: `rejected` where the store refuses the answer, `unavailable` where a retry may help, `unsupported`
    ///   where the account cannot answer.
    func answer(_ report: ConsumptionReport) async throws(ProviderError)
}

/// The answer to a store about a purchase whose customer requests a refund.
public struct ConsumptionReport: Sendable, Equatable {
    /// The merchant's preference; the store decides.
    public enum Preference: String, Sendable {
        case decline
        case grantFull = "grant_full"
    }

    public let environment: Environment
    public let bundleID: String
    public let transactionID: String
    public let isAutoRenewable: Bool
    /// True where the purchase was delivered to the customer.
    public let isDelivered: Bool
    /// The used share in thousandths of a percent, 0 to 100,000; nil where it is unknown.
    ///
    /// It is 0 where nothing was delivered.
    public let percentage: Int64?
    public let preference: Preference?

    public init(
        environment: Environment, bundleID: String, transactionID: String, isAutoRenewable: Bool, isDelivered: Bool,
        percentage: Int64?, preference: Preference?
    ) {
        self.environment = environment
        self.bundleID = bundleID
        self.transactionID = transactionID
        self.isAutoRenewable = isAutoRenewable
        self.isDelivered = isDelivered
        self.percentage = percentage
        self.preference = preference
    }
}
