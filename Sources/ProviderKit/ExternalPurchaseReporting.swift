public import Domain
public import FoundationEssentials

/// A provider whose store hands out tokens for purchases outside of it, and wants every token reported.
public protocol ExternalPurchaseReporting: PaymentProvider {
    /// The account's rules.
    var externalPurchases: ExternalPurchaseRules { get }

    /// Sends a report once; the call is never repeated inside.
    ///
    /// - Parameter body: the report's JSON, sent as it is.
    func send(_ body: Data, of bundleID: String, in environment: Environment) async -> ExternalReportAnswer

    /// Asks whether the store has a report.
    func find(
        report requestIdentifier: String, of bundleID: String, in environment: Environment
    ) async -> ExternalReportAnswer
}

/// The apps, storefronts and dates of an account that sells outside of its store.
public struct ExternalPurchaseRules: Sendable {
    /// An app whose tokens are taken.
    public struct App: Sendable, Equatable {
        public let bundleID: String
        /// The app's number in the store; nil where it is not configured and not compared.
        public let number: Int64?

        public init(bundleID: String, number: Int64?) {
            self.bundleID = bundleID
            self.number = number
        }
    }

    public let apps: [App]
    /// The environments whose tokens are taken.
    public let environments: Set<Environment>
    /// The environments to which reports can be sent; empty without a key.
    public let reachable: Set<Environment>
    /// The days after which a token that led to nothing is reported.
    public let reportAfterDays: Int64
    public let regions: ExternalRegions

    public init(
        apps: [App], environments: Set<Environment>, reachable: Set<Environment>, reportAfterDays: Int64,
        regions: ExternalRegions
    ) {
        self.apps = apps
        self.environments = environments
        self.reachable = reachable
        self.reportAfterDays = reportAfterDays
        self.regions = regions
    }

    /// Returns whether a token is of one of the apps and of an environment that is accepted.
    public func takes(_ token: ExternalPurchaseToken) -> Bool {
        environments.contains(token.environment)
            && apps.contains {
                $0.bundleID == token.bundleID && ($0.number == nil || $0.number == token.appAppleID)
            }
    }
}

/// The store's answer about a report; closed, because the next step depends on it.
public enum ExternalReportAnswer: Sendable, Equatable {
    /// The store has the report.
    case accepted
    /// The store received nothing of it, because of these faults in its line items.
    case refused(String)
    /// The answer to a question: the store does not have the report.
    case notThere
    /// The report may have arrived.
    case unknown(String)
    /// The report certainly did not arrive; a repetition may succeed.
    case notSent(String)
    /// The store refuses the key, and so every further call.
    case unauthorized
    /// The store takes no call before this time, in milliseconds since 1970.
    case rateLimited(until: Int64)
    /// The account has no key for this environment.
    case noKey
}
