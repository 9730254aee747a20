/// A store's own statement about a whole subscription, beside the periods that it signed; the newest one counts.
///
/// Source: Apple, App Store Server Notifications V2, `data.status`.
public struct StoreStanding: Sendable, Equatable, Codable {
    /// True where the subscription as a whole is taken back (Apple's 5).
    public let isRevoked: Bool
    /// The time of the statement, in milliseconds since 1970.
    public let at: Int64

    public init(isRevoked: Bool, at: Int64) {
        self.isRevoked = isRevoked
        self.at = at
    }
}
