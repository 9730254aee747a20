import Domain
import ProviderKit
import Store

/// The managed subscription that a session would begin with one of its SKUs.
struct SessionSubscription: Sendable {
    /// The sentence of its contract, as if the contract were made now.
    let terms: SubscriptionTerms
    /// The place where the running subscription of the group is managed; nil where none runs.
    let manage: SubscriptionSnapshot.Source?
}

/// A subscription's sentence in the languages that Paydesk has.
struct SubscriptionTerms: Sendable, Equatable {
    private let english: String
    private let chinese: String

    init(_ price: Money, every period: BillingPeriod, trialDays: Int64, at now: Timestamp) {
        let first = trialDays > 0 ? now.adding(seconds: trialDays * 86_400) : now.adding(period, times: 1)
        func text(_ language: String) -> String {
            RecurringTerms.text(
                price, every: period, trialDays: trialDays, firstChargeAt: first, language: language)
        }
        (english, chinese) = (text("en"), text("zh-Hans"))
    }

    func text(in locale: String?) -> String { SubscriptionLanguage.of(locale) == "zh-Hans" ? chinese : english }
}

/// A user's subscriptions and trials in the groups of managed SKUs, read together with the SKUs.
struct SubscriptionHoldings: Sendable {
    private struct Place: Hashable {
        let group: String
        let environment: Environment
    }

    private var running: [Place: SubscriptionSnapshot.Source] = [:]
    private var trials: Set<Place> = []

    init(
        of user: ID<User>, _ skus: [SKU], at now: Timestamp, _ secrets: MandateSecrets, in db: any Database
    ) throws {
        let managed = skus.filter { $0.renewal == .managed }
        guard !managed.isEmpty else { return }
        for environment in [Environment.production, .sandbox] {
            let holdings = try GroupHoldings(of: user, environment, in: db)
            let trialDays = TrialDays(of: user, environment, secrets, in: db)
            for group in Set(managed.map(\.stackGroup)) {
                let place = Place(group: group, environment: environment)
                if try db.managedSubscriptions.findRunning(of: user, environment, group: group) != nil {
                    running[place] = .paydesk
                } else if try holdings.storeSubscription(of: group, at: now) != nil {
                    running[place] = .appStore
                }
                if try trialDays.isEligible(for: group) { trials.insert(place) }
            }
        }
    }

    /// Decides about a managed SKU at a price.
    ///
    /// - Parameter accounts: the accounts that can charge it; an order goes through one of them.
    /// - Returns: nil for other SKUs, and where no account charges mandates.
    func subscription(
        to sku: SKU, at price: Money, through accounts: [ConfiguredAccount], now: Timestamp
    ) -> SessionSubscription? {
        let environments = Set(accounts.filter { !$0.manifest.recurring }.map(\.environment))
        guard sku.renewal == .managed, let period = sku.period, !environments.isEmpty else { return nil }
        let real = environments.contains(.production) ? Environment.production : .sandbox
        let group = sku.stackGroup
        let hasTrial = trials.contains(Place(group: group, environment: real))
        let held = environments.map { running[Place(group: group, environment: $0)] }
        let manage = held.contains(nil) ? nil : held.compactMap(\.self).first
        return SessionSubscription(
            terms: SubscriptionTerms(
                price, every: period, trialDays: hasTrial ? sku.trialDays : 0, at: now),
            manage: running[Place(group: group, environment: .production)] ?? manage)
    }
}

/// The sentences of a session's managed subscriptions, by SKU, in one language.
package struct SessionTermsBySKU: Encodable, Sendable {
    private let texts: [String: SubscriptionTerms]
    /// A language tag (RFC 5646); nil is English.
    var locale: String?

    init(_ plans: [SessionPlan], locale: String?) {
        texts = Dictionary(
            plans.compactMap { plan in plan.subscription.map { (plan.sku.id, $0.terms) } }
        ) { first, _ in first }
        self.locale = locale
    }

    package subscript(_ sku: String) -> String? { texts[sku]?.text(in: locale) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(texts.mapValues { $0.text(in: locale) })
    }
}
