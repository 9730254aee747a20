public import Domain

/// A provider whose store asks how much of a purchase was used, before it decides on a customer's refund.
public protocol ConsumptionAnswering: PaymentProvider {
    /// Tells the store; called only with the customer's consent, and may be repeated.
    ///
    /// - Throws: `rejected` where the store wants no such answer, `unavailable` where another try may help, `unsupported`
    ///   where the account has no way to answer.
    func answer(_ report: ConsumptionReport) async throws(ProviderError)
}

/// The answer to a store about a purchase whose refund its customer asks for.
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
    /// True where the customer was given what was bought.
    public let isDelivered: Bool
    /// Thousandths of a percent, 0 to 100,000; nil where it is not known.
    ///
    /// Nothing that was not delivered was used.
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
