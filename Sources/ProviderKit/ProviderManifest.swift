public import Domain

/// The description of a kind of provider: read by the cashier, the configuration, the conformance kit and the admin.
public struct ProviderManifest: Sendable, Equatable {
    /// The certainty with which a payment can be cancelled before another is opened.
    public enum Cancellation: String, Sendable, Codable {
        /// After a successful cancel nobody can pay it.
        case definite
        /// The payment may still be paid (a QR that was already scanned).
        case bestEffort = "best_effort"
        case none
    }

    /// The refunds that the provider can make.
    public enum Refunds: String, Sendable, Codable {
        case partial, full
        /// Only the provider's own customer service gives money back.
        case none
    }

    /// The kinds of SKU that a provider can sell.
    public enum Goods: String, Sendable, Codable {
        case anything
        /// Only SKUs that have Apple product ids.
        case appleProducts = "apple_products"
    }

    public enum NotificationMethod: String, Sendable, Codable {
        case get = "GET"
        case post = "POST"
    }

    /// The word in `kind:`, `sandbox`: `[a-z][a-z0-9_]*`.
    public var kind: String
    public var displayName: String
    public var contractTypes: [ContractType]
    /// The currencies it takes; empty means all.
    public var currencies: [Currency]
    public var goods: Goods
    /// Subscriptions renew by themselves.
    public var recurring: Bool
    public var cancel: Cancellation
    public var refunds: Refunds
    /// The HTTP methods of notifications; empty where the provider sends none.
    public var notifications: [NotificationMethod]
    /// The forms of wallet tokens that it charges; empty for a provider that charges none.
    public var instruments: [InstrumentForm]
    /// Refused in production mode, unless `allow_test_accounts` is true.
    public var developmentOnly: Bool
    public var settings: SettingsSchema

    public init(
        kind: String, displayName: String, contractTypes: [ContractType], currencies: [Currency] = [],
        goods: Goods = .anything, recurring: Bool = false, cancel: Cancellation, refunds: Refunds,
        notifications: [NotificationMethod], instruments: [InstrumentForm] = [], developmentOnly: Bool = false,
        settings: SettingsSchema
    ) {
        self.kind = kind
        self.displayName = displayName
        self.contractTypes = contractTypes
        self.currencies = currencies
        self.goods = goods
        self.recurring = recurring
        self.cancel = cancel
        self.refunds = refunds
        self.notifications = notifications
        self.instruments = instruments
        self.developmentOnly = developmentOnly
        self.settings = settings
    }
}
