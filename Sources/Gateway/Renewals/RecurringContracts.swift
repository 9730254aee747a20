package import Domain
import Store

extension RecurringContract {
    /// Makes the part of a contract about the renewals by Paydesk.
    ///
    /// - Parameters:
    ///   - setup: the set-up that the client completes; nil where it pays.
    ///   - madeAt: the time of the contract, at which it counts as fulfilled.
    init(_ subscription: ManagedSubscription, setup: ID<Setup>?, nextAmount: Money, madeAt: Timestamp) {
        var begun = subscription
        switch subscription.state {
        case .pending where subscription.trialDays > 0: begun.beginTrial(at: madeAt)
        case .pending: begun.begin(paidAt: madeAt)
        case .running, .ended:
            // A renewal that is due is paid by the contract, or charged as soon as the set-up succeeds.
            if subscription.failedAt != nil { _ = begun.renew(paidAt: madeAt) }
        }
        let language = SubscriptionLanguage.of(subscription)
        self.init(
            setup: setup, period: begun.period, trialDays: subscription.state == .pending ? subscription.trialDays : 0,
            nextChargeAt: begun.periodEnd, nextAmount: nextAmount,
            terms: RecurringTerms.text(
                nextAmount, every: begun.period, trialDays: subscription.state == .pending ? subscription.trialDays : 0,
                firstChargeAt: begun.periodEnd, language: language))
    }
}

/// The language of a subscription's texts for its payer.
enum SubscriptionLanguage {
    static func of(_ subscription: ManagedSubscription) -> String { of(subscription.locale) }

    /// Returns the first of the preferred languages that Paydesk has; nil where it has none of them.
    static func first(of languages: [String]) -> String? {
        languages.first { $0.lowercased().hasPrefix("zh") || $0.lowercased().hasPrefix("en") }
    }

    static func of(_ locale: String?) -> String { locale?.lowercased().hasPrefix("zh") == true ? "zh-Hans" : "en" }
}

extension PaymentContract {
    /// Returns this contract with its terms in the first of the caller's languages that Paydesk has.
    ///
    /// Without one of them they stay in the language of the subscription.
    package func speaking(_ languages: [String]) -> PaymentContract {
        SubscriptionLanguage.first(of: languages).map { speaking(SubscriptionLanguage.of($0)) } ?? self
    }
}

extension Contracts {
    /// Makes the part of a payment's contract about renewals; nil for other orders.
    static func renewal(
        of order: Order, madeAt: Timestamp, in db: any Database
    ) throws -> RecurringContract? {
        guard let period = order.period, let record = try db.managedSubscriptions.find(period.subscription) else {
            return nil
        }
        let change = try ManagedSnapshots.announced(record, from: db)
        return RecurringContract(
            record.subscription, setup: nil, nextAmount: ManagedSnapshots.nextAmount(record.subscription, change),
            madeAt: madeAt)
    }
}
