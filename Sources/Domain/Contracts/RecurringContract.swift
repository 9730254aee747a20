/// The part of a contract that only a subscription has that Paydesk renews itself.
package struct RecurringContract: Sendable, Equatable {
    /// The set-up that the client completes in place of a payment; nil where it pays.
    package let setup: ID<Setup>?
    package let period: BillingPeriod
    /// The days of the trial that the contract begins; 0 for none.
    package let trialDays: Int64
    /// The time of the next charge, as if the contract were fulfilled when it was made.
    package let nextChargeAt: Timestamp
    package let nextAmount: Money
    /// The sentence to which the payer agrees.
    package private(set) var terms: String

    package init(
        setup: ID<Setup>?, period: BillingPeriod, trialDays: Int64, nextChargeAt: Timestamp, nextAmount: Money,
        terms: String
    ) {
        self.setup = setup
        self.period = period
        self.trialDays = trialDays
        self.nextChargeAt = nextChargeAt
        self.nextAmount = nextAmount
        self.terms = terms
    }

    /// Returns this contract with its terms in a language, `en` or `zh-Hans`.
    package func speaking(_ language: String) -> RecurringContract {
        var spoken = self
        spoken.terms = RecurringTerms.text(
            nextAmount, every: period, trialDays: trialDays, firstChargeAt: nextChargeAt, language: language)
        return spoken
    }
}

/// The sentence to which a payer agrees before a mandate is left behind: amount, period, first charge, how to end it.
///
/// Card schemes and payment services demand it: https://docs.stripe.com/payments/save-and-reuse#compliance.
package enum RecurringTerms {
    /// - Parameters:
    ///   - firstChargeAt: the first charge that comes after this contract.
    ///   - language: `en` or `zh-Hans`.
    package static func text(
        _ amount: Money, every period: BillingPeriod, trialDays: Int64, firstChargeAt: Timestamp, language: String
    ) -> String {
        language == "zh-Hans"
            ? chinese(amount, period, trialDays, firstChargeAt) : english(amount, period, trialDays, firstChargeAt)
    }

    private static func english(
        _ amount: Money, _ period: BillingPeriod, _ trialDays: Int64, _ first: Timestamp
    ) -> String {
        let unit = period.unit.rawValue
        let every = period.count == 1 ? "every \(unit)" : "every \(period.count) \(unit)s"
        let trial = trialDays == 0 ? "" : trialDays == 1 ? "Free for 1 day. " : "Free for \(trialDays) days. "
        return """
            \(trial)You agree to be charged \(amount) \(every), next on \(first.utcDate), until you cancel. \
            You can cancel at any time where you manage your subscription.
            """
    }

    private static func chinese(
        _ amount: Money, _ period: BillingPeriod, _ trialDays: Int64, _ first: Timestamp
    ) -> String {
        let unit =
            switch period.unit {
            case .day: "天"
            case .week: "周"
            case .month: "个月"
            case .year: "年"
            }
        let every = period.count == 1 ? "每\(unit)" : "每 \(period.count) \(unit)"
        let trial = trialDays == 0 ? "" : "免费试用 \(trialDays) 天。"
        return "\(trial)您同意\(every)扣款 \(amount)，下次扣款日期为 \(first.utcDate)，直到您取消为止。您可以随时在管理订阅处取消。"
    }
}
