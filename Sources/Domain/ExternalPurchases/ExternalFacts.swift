/// A fact about money that a line item reports: its kind and the id of what it is about.
package struct ExternalFact: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case payment, trial, refund, dispute
    }

    package let kind: Kind
    /// The id of the payment, refund or dispute; of a trial, of its order.
    package let id: String
    /// The line item's id, always the same for one fact.
    package let lineItemID: String

    package init(kind: Kind, id: String, lineItemID: String) {
        self.kind = kind
        self.id = id
        self.lineItemID = lineItemID
    }
}

/// A purchase with a token as it stands now, with the money that went back.
package struct ExternalPurchase: Hashable, Sendable {
    /// The period of a subscription that a purchase pays.
    package struct Period: Hashable, Sendable {
        package let event: ExternalLineItem.SubscriptionEvent
        package let start: Timestamp
        package let end: Timestamp
        /// Whole days of paid service before this period.
        package let daysOfPaidService: Int64
        /// The line item of the subscription's start; nil for the start itself.
        package let startLineItemID: String?

        package init(
            event: ExternalLineItem.SubscriptionEvent, start: Timestamp, end: Timestamp, daysOfPaidService: Int64,
            startLineItemID: String?
        ) {
            self.event = event
            self.start = start
            self.end = end
            self.daysOfPaidService = daysOfPaidService
            self.startLineItemID = startLineItemID
        }
    }

    /// Money that went back: a refund that succeeded, or a dispute that is lost.
    package struct Return: Hashable, Sendable {
        package let fact: ExternalFact
        package let at: Timestamp
        package let amount: Money

        package init(fact: ExternalFact, at: Timestamp, amount: Money) {
            self.fact = fact
            self.at = at
            self.amount = amount
        }
    }

    package let fact: ExternalFact
    package let product: String
    package let quantity: Int64
    package let paidAt: Timestamp
    package let amount: Money
    package let taxRate: Int64
    package let taxCountry: String
    package let period: Period?
    /// The returns that hold now, in the order in which they were made.
    package let returns: [Return]

    package init(
        fact: ExternalFact, product: String, quantity: Int64, paidAt: Timestamp, amount: Money, taxRate: Int64,
        taxCountry: String, period: Period?, returns: [Return]
    ) {
        self.fact = fact
        self.product = product
        self.quantity = quantity
        self.paidAt = paidAt
        self.amount = amount
        self.taxRate = taxRate
        self.taxCountry = taxCountry
        self.period = period
        self.returns = returns
    }
}

/// A line item with the fact that it reports.
package struct ExternalReportedItem: Hashable, Sendable {
    package let kind: ExternalFact.Kind
    package let factID: String
    /// The number of times that the fact has come, from 1.
    package let turn: Int64
    /// True where it takes the fact back.
    package let isErroneous: Bool
    package let item: ExternalLineItem

    package init(kind: ExternalFact.Kind, factID: String, turn: Int64, isErroneous: Bool, item: ExternalLineItem) {
        self.kind = kind
        self.factID = factID
        self.turn = turn
        self.isErroneous = isErroneous
        self.item = item
    }

    /// Returns whether the item is about a fact.
    func isAbout(_ fact: ExternalFact) -> Bool { kind == fact.kind && factID == fact.id }
}
