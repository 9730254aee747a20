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
    /// Development mode: answers say how payments are routed.
    package var isDevelopment: Bool
    package var retention: RetentionPolicy
    package var ownership: OwnershipRules
    /// Concurrent calls to one account on this node; further ones are not sent.
    ///
    /// Half of the requests that a node has in work at once: an account that hangs leaves the other half to the others, and
    /// a node that is busy itself, where each call takes long, does not mistake that for an account that hangs.
    package var callsPerAccount: Int

    package init(
        publicURL: String, returnURLs: ReturnURLRules, policies: OrderPolicies, meters: [Meter],
        defaultCurrency: Currency? = nil, allowsPrivateWebhooks: Bool = false, isDevelopment: Bool = false,
        retention: RetentionPolicy = RetentionPolicy(), ownership: OwnershipRules = OwnershipRules(),
        callsPerAccount: Int = 256
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
        self.callsPerAccount = callsPerAccount
    }
}
