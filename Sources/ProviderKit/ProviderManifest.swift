public import Domain

/// The description of a kind of provider, which routing, the configuration, the conformance kit and the admin API read.
public struct ProviderManifest: Sendable, Equatable {
    /// The certainty with which a payment can be cancelled before another is opened.
    public enum Cancellation: String, Sendable, Codable {
        /// A cancelled payment can never be paid.
        case definite
        /// A cancelled payment may still be paid (a QR code that was already scanned).
        case bestEffort = "best_effort"
        case none
    }

    /// The refunds that the provider can make.
    public enum Refunds: String, Sendable, Codable {
        case partial, full
        /// Only the provider's own customer service makes refunds.
        case none
    }

    /// The kinds of SKU that a provider can sell.
    public enum Goods: String, Sendable, Codable {
        case anything
        /// Only SKUs with Apple product ids.
        case appleProducts = "apple_products"
    }

    public enum NotificationMethod: String, Sendable, Codable {
        case get = "GET"
        case post = "POST"
    }

    /// The name in `kind:`, such as `sandbox`: `[a-z][a-z0-9_]*`.
    public var kind: String
    public var displayName: String
    public var contractTypes: [ContractType]
    /// The supported currencies; empty for all.
    public var currencies: [Currency]
    public var goods: Goods
    /// True where subscriptions renew by themselves.
    public var recurring: Bool
    /// True where Paydesk can renew subscriptions through it (``MandateCharging``).
    public var mandates: Bool
    public var cancel: Cancellation
    public var refunds: Refunds
    /// The HTTP methods of notifications; empty where the provider sends none.
    public var notifications: [NotificationMethod]
    /// The forms of wallet tokens that it charges; empty where it charges none.
    public var instruments: [InstrumentForm]
    /// True for a kind that production mode refuses, unless `allow_test_accounts` is true.
    public var developmentOnly: Bool
    /// True where the provider takes the time of its service from ``ProviderContext/businessTime``, as a service that it
    /// plays itself; false where the service keeps the real time.
    public var followsBusinessTime: Bool
    /// The seconds for which the service lets a payment wait for its payer, at most; nil for no such end.
    public var longestWait: Int64?
    public var settings: SettingsSchema

    public init(
        kind: String, displayName: String, contractTypes: [ContractType], currencies: [Currency] = [],
        goods: Goods = .anything, recurring: Bool = false, mandates: Bool = false,
        cancel: Cancellation, refunds: Refunds,
        notifications: [NotificationMethod], instruments: [InstrumentForm] = [], developmentOnly: Bool = false,
        followsBusinessTime: Bool = false, longestWait: Int64? = nil, settings: SettingsSchema
    ) {
        self.kind = kind
        self.displayName = displayName
        self.contractTypes = contractTypes
        self.currencies = currencies
        self.goods = goods
        self.recurring = recurring
        self.mandates = mandates
        self.cancel = cancel
        self.refunds = refunds
        self.notifications = notifications
        self.instruments = instruments
        self.developmentOnly = developmentOnly
        self.followsBusinessTime = followsBusinessTime
        self.longestWait = longestWait
        self.settings = settings
    }
}
