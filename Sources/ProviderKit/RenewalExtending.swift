public import Domain

/// A provider whose store extends a subscription at the merchant's request.
public protocol RenewalExtending: PaymentProvider {
    /// Extends a subscription by days; the call is never repeated inside.
    ///
    /// - Returns: the new end of the current period; nil where the store did not state it.
    /// - Throws: `rejected` with the store's reason, `unavailable` where nothing was extended, `outcomeUnknown` where
    ///   it may have been, `unsupported` where the account cannot make the request.
    func extend(_ extension: RenewalExtension) async throws(ProviderError) -> Timestamp?
}

/// An extension of a subscription by days.
public struct RenewalExtension: Sendable, Equatable {
    /// The reason for the extension, with the App Store's numbers.
    public enum Reason: Int64, Sendable, CaseIterable {
        case undeclared, customerSatisfaction, other, outage
    }

    public static let dayRange: ClosedRange<Int64> = 1...90

    public let environment: Environment
    public let bundleID: String
    public let originalTransactionID: String
    public let days: Int64
    public let reason: Reason
    /// Paydesk's own id of this extension.
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
