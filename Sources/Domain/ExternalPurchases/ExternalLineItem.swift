/// A line item of a report to Apple: one fact about money, with Apple's names.
///
/// A refund has neither `productType`, `productIdentifier` nor `quantity`; the members of subscriptions are absent for
/// others. Source: Apple, External Purchase Server API, OneTimeBuyLineItem, SubscriptionBuyLineItem, RefundLineItem.
package struct ExternalLineItem: Hashable, Sendable, Codable {
    package enum Event: String, Sendable, Codable {
        case buy = "BUY"
        case refund = "REFUND"
    }

    package enum ProductType: String, Sendable, Codable {
        case oneTimeBuy = "ONE_TIME_BUY"
        case subscription = "SUBSCRIPTION"
    }

    /// The event in a subscription's life; Apple's `SUBSCRIPTION_PAYMENT` is not used.
    package enum SubscriptionEvent: String, Sendable, Codable {
        case start = "SUBSCRIPTION_START"
        case renewal = "RENEWAL"
        case change = "SUBSCRIPTION_CHANGE"
    }

    package var lineItemId: String
    package var creationDate: Int64
    package var eventType: Event
    package var productType: ProductType?
    package var productIdentifier: String?
    package var quantity: Int64?
    package var pricingCurrency: String
    package var reportingCurrency: String
    package var amountTaxInclusive: Int64
    package var amountTaxExclusive: Int64
    package var taxAmount: Int64
    /// The purchase's exclusive amount less its refunds so far.
    package var netAmountTaxExclusive: Int64
    package var taxCountry: String
    package var referenceLineItemId: String?
    package var subscriptionEvent: SubscriptionEvent?
    package var subscriptionStartDate: Int64?
    package var subscriptionEndDate: Int64?
    package var subscriptionDaysOfPaidService: Int64?
    package var restatement: Bool?
    package var erroneouslySubmitted: Bool?

    package init(
        lineItemId: String, creationDate: Int64, eventType: Event, currency: Currency, amount: TaxedAmount, net: Int64,
        taxCountry: String
    ) {
        self.lineItemId = lineItemId
        self.creationDate = creationDate
        self.eventType = eventType
        pricingCurrency = currency.code
        reportingCurrency = currency.code
        amountTaxInclusive = amount.inclusive
        amountTaxExclusive = amount.exclusive
        taxAmount = amount.tax
        netAmountTaxExclusive = net
        self.taxCountry = taxCountry
    }
}

extension ExternalLineItem {
    package var amount: TaxedAmount { TaxedAmount(inclusive: amountTaxInclusive, exclusive: amountTaxExclusive) }

    /// The amount as money; nil for a currency that this release does not know.
    package var money: Money? {
        Currency(pricingCurrency).map { Money(milliunits: amountTaxInclusive, currency: $0) }
    }
}

/// The word of a report that says what became of a token.
package enum ExternalReportStatus: String, Sendable, Codable, CaseIterable {
    case lineItem = "LINE_ITEM"
    case noLineItem = "NO_LINE_ITEM"
    case unrecognizedToken = "UNRECOGNIZED_TOKEN"
    case duplicateToken = "DUPLICATE_TOKEN"
}

/// The body of a report to Apple.
package struct ExternalReportBody: Hashable, Sendable, Codable {
    package let requestIdentifier: String
    package let externalPurchaseId: String
    package let status: ExternalReportStatus
    /// nil for every status but `LINE_ITEM`.
    package let lineItems: [ExternalLineItem]?

    package init(
        requestIdentifier: String, externalPurchaseId: String, status: ExternalReportStatus,
        lineItems: [ExternalLineItem]?
    ) {
        self.requestIdentifier = requestIdentifier
        self.externalPurchaseId = externalPurchaseId
        self.status = status
        self.lineItems = lineItems
    }
}
