/// The offer under which a store sold a period: an introductory price, a trial, a code.
public struct StoreOffer: Hashable, Sendable, Codable {
    /// `introductory`, `promotional`, `offer_code` or `win_back`; for an unknown type, the store's number.
    public let type: String
    /// The offer's id or the code's name, where it has one.
    public let identifier: String?
    /// The offer's discount type, in Apple's words: `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`.
    public let discount: String?
    /// An ISO 8601 duration such as `P1M`.
    public let period: String?

    public init(type: String, identifier: String?, discount: String?, period: String?) {
        self.type = type
        self.identifier = identifier
        self.discount = discount
        self.period = period
    }
}
