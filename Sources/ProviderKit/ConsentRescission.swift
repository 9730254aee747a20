public import Domain

/// A store's statement that a person, or the person's guardian, withdrew the consent to the use of an app.
public struct ConsentRescission: Sendable, Equatable, Codable {
    public let environment: Environment
    public let bundleID: String
    /// The store's id of the customer in the app.
    public let appTransactionID: String
    /// The time of the statement, in milliseconds since 1970.
    public let statedAt: Int64

    public init(environment: Environment, bundleID: String, appTransactionID: String, statedAt: Int64) {
        self.environment = environment
        self.bundleID = bundleID
        self.appTransactionID = appTransactionID
        self.statedAt = statedAt
    }
}
