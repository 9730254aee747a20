package import Domain

/// The operator's settings that use cases read.
package struct GatewaySettings: Sendable {
    package var publicURL: String
    package var returnURLs: ReturnURLRules
    package var policies: OrderPolicies
    package var meters: [Meter]
    package var defaultCurrency: Currency?
    /// Allows http and private addresses for webhooks; development only.
    package var allowsPrivateWebhooks: Bool
    /// True in development mode, where answers describe the routing of payments.
    package var isDevelopment: Bool
    package var retention: RetentionPolicy
    package var ownership: OwnershipRules
    package var billing: BillingSettings
    /// The number of concurrent calls to one account on this node; further ones are not sent.
    ///
    /// It is half of the node's limit of concurrent requests: an account that hangs leaves the other half to other
    /// accounts, and a busy node, where each call takes long, does not mistake that for an account that hangs.
    package var callsPerAccount: Int
    package var pages: PageSettings
    /// The most live streams of this node; 0 for none at all.
    package var streams: Int
    package var snapshots: SnapshotLife

    package init(
        publicURL: String, returnURLs: ReturnURLRules, policies: OrderPolicies, meters: [Meter],
        defaultCurrency: Currency? = nil, allowsPrivateWebhooks: Bool = false, isDevelopment: Bool = false,
        retention: RetentionPolicy = RetentionPolicy(), ownership: OwnershipRules = OwnershipRules(),
        billing: BillingSettings = BillingSettings(),
        callsPerAccount: Int = 256, pages: PageSettings = PageSettings(), streams: Int = 10_000,
        snapshots: SnapshotLife = SnapshotLife()
    ) {
        self.publicURL = publicURL
        self.returnURLs = returnURLs
        self.policies = policies
        self.meters = meters
        self.defaultCurrency = defaultCurrency
        self.allowsPrivateWebhooks = allowsPrivateWebhooks
        self.isDevelopment = isDevelopment
        self.retention = retention
        self.ownership = ownership
        self.billing = billing
        self.callsPerAccount = callsPerAccount
        self.pages = pages
        self.streams = streams
        self.snapshots = snapshots
    }
}
