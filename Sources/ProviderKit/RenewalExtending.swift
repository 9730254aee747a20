public import Domain

/// A provider whose store moves the renewal date of a subscription when the merchant asks it to.
public protocol RenewalExtending: PaymentProvider {
    /// Gives days to one subscription; it is never repeated inside the call.
    ///
    /// - Returns: when the current period ends now; nil where the store did not say.
    /// - Throws: `rejected` with the store's limits in words, `unavailable` where nothing happened, `outcomeUnknown` where
    ///   it may have, `unsupported` where the account has no way to ask.
    func extend(_ extension: RenewalExtension) async throws(ProviderError) -> Timestamp?
}

/// Days that are given to a subscriber.
public struct RenewalExtension: Sendable, Equatable {
    /// The reason for the extension, in the numbers of the App Store.
    public enum Reason: Int64, Sendable, CaseIterable {
        case undeclared, customerSatisfaction, other, outage
    }

    public static let dayRange: ClosedRange<Int64> = 1...90

    public let environment: Environment
    public let bundleID: String
    public let originalTransactionID: String
    public let days: Int64
    public let reason: Reason
    /// Our own id of this extension.
    public let request: String

    public init(
        environment: Environment, bundleID: String, originalTransactionID: String, days: Int64, reason: Reason,
        request: String
    ) {
        self.environment = environment
        self.bundleID = bundleID
        self.originalTransactionID = originalTransactionID
        self.days = days
        self.reason = reason
        self.request = request
    }
}
