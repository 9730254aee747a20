/// The rules by which line items follow from facts: pure functions of what holds now and what Apple has accepted.
package enum ExternalReportRules {
    /// The most line items of one report.
    package static let itemsPerReport = 100
    /// The age at which Apple takes no line item any more: three years after its `creationDate`.
    ///
    /// Source: Apple, External Purchase Server API, DateTooFarInPastError.
    package static let reportableSeconds: Int64 = 3 * 365 * 86_400
    /// The age at which Apple takes neither a refund of a line item nor a correction any more: a year after its
    /// `creationDate`.
    ///
    /// Source: Apple, External Purchase Server API, RefundNotAllowedCreationDateError and
    /// RestatementNotAllowedCreationDateError.
    package static let correctableSeconds: Int64 = 365 * 86_400

    /// Returns the line items of the next report, in the order of the purchases; empty where nothing is left to report.
    ///
    /// A report holds one item of a purchase at most, because Apple refuses two net amounts of one purchase in one
    /// report. Facts that are too old for Apple are left out.
    ///
    /// - Parameters:
    ///   - purchases: those of one token, oldest first.
    ///   - accepted: what Apple accepted about them, oldest first.
    package static func nextItems(
        _ purchases: [ExternalPurchase], accepted: [ExternalReportedItem], at now: Timestamp
    ) -> [ExternalReportedItem] {
        var items: [ExternalReportedItem] = []
        for purchase in purchases where items.count < itemsPerReport {
            if let item = nextItem(of: purchase, accepted, at: now) { items.append(item) }
        }
        return items
    }

    /// Returns the line items of a refused report as they are now: the same facts, without those that hold no more.
    package static func mended(
        _ refused: [ExternalReportedItem], _ purchases: [ExternalPurchase], accepted: [ExternalReportedItem]
    ) -> [ExternalReportedItem] {
        refused.compactMap { old in
            let item = purchases.lazy.compactMap { purchase -> ExternalReportedItem? in
                let history = History(purchase, accepted)
                if old.isErroneous { return history.latest(of: old).flatMap { history.withdrawal(of: $0, purchase) } }
                if old.isAbout(purchase.fact) { return history.purchaseItem(purchase) }
                return purchase.returns.first { old.isAbout($0.fact) }.map { history.item(of: $0, in: purchase) }
            }.first
            return item
        }
    }

    private static func nextItem(
        of purchase: ExternalPurchase, _ accepted: [ExternalReportedItem], at now: Timestamp
    ) -> ExternalReportedItem? {
        let history = History(purchase, accepted)
        guard history.latest(of: purchase.fact) != nil else {
            return purchase.paidAt.adding(seconds: reportableSeconds) > now ? history.purchaseItem(purchase) : nil
        }
        func isCorrectable(_ item: ExternalReportedItem) -> Bool {
            Timestamp(item.item.creationDate.flooredSeconds).adding(seconds: correctableSeconds) > now
        }
        if let gone = history.standing.first(where: { item in
            !purchase.returns.contains { item.isAbout($0.fact) } && isCorrectable(item)
        }) {
            return history.withdrawal(of: gone, purchase)
        }
        for found in purchase.returns {
            guard let latest = history.latest(of: found.fact) else {
                guard min(found.at, now) < purchase.paidAt.adding(seconds: correctableSeconds) else { continue }
                return history.item(of: found, in: purchase)
            }
            let isOther = latest.item.amountTaxInclusive != found.amount.milliunits
            if latest.isErroneous || isOther, isCorrectable(latest) { return history.item(of: found, in: purchase) }
        }
        return nil
    }
}

/// The line items about one purchase that Apple has accepted.
private struct History {
    let accepted: [ExternalReportedItem]
    /// The returns that Apple counts: accepted and not taken back.
    let standing: [ExternalReportedItem]

    init(_ purchase: ExternalPurchase, _ accepted: [ExternalReportedItem]) {
        let own = accepted.filter {
            $0.isAbout(purchase.fact)
                || $0.item.referenceLineItemId == purchase.fact.lineItemID
                    && $0.item.eventType == .refund
        }.sorted { ($0.turn, $0.isErroneous ? 1 : 0) < ($1.turn, $1.isErroneous ? 1 : 0) }
        self.accepted = own
        var latest: [String: ExternalReportedItem] = [:]
        var order: [String] = []
        for item in own where item.item.eventType == .refund {
            if latest.updateValue(item, forKey: item.item.lineItemId) == nil { order.append(item.item.lineItemId) }
        }
        standing = order.compactMap { latest[$0] }.filter { !$0.isErroneous }
    }

    func latest(of fact: ExternalFact) -> ExternalReportedItem? { accepted.last { $0.isAbout(fact) } }

    func latest(of item: ExternalReportedItem) -> ExternalReportedItem? {
        accepted.last { $0.kind == item.kind && $0.factID == item.factID && !$0.isErroneous }
    }

    /// The line item of the purchase itself.
    func purchaseItem(_ purchase: ExternalPurchase) -> ExternalReportedItem {
        let amount = TaxedAmount(purchase.amount, rate: purchase.taxRate)
        let net = amount.exclusive - standing.reduce(0) { $0 + $1.item.amountTaxExclusive }
        var item = ExternalLineItem(
            lineItemId: purchase.fact.lineItemID, creationDate: purchase.paidAt.rawValue * 1_000, eventType: .buy,
            currency: purchase.amount.currency, amount: amount, net: net, taxCountry: purchase.taxCountry)
        item.productType = purchase.period == nil ? .oneTimeBuy : .subscription
        item.productIdentifier = purchase.product
        item.quantity = purchase.quantity
        if let period = purchase.period {
            item.referenceLineItemId = period.startLineItemID
            item.subscriptionEvent = period.event
            item.subscriptionStartDate = period.start.rawValue * 1_000
            item.subscriptionEndDate = period.end.rawValue * 1_000
            item.subscriptionDaysOfPaidService = period.daysOfPaidService
        }
        return ExternalReportedItem(
            kind: purchase.fact.kind, factID: purchase.fact.id, turn: 1, isErroneous: false, item: item)
    }

    /// The line item of a refund or a lost dispute; a restatement where Apple knows it already.
    func item(of found: ExternalPurchase.Return, in purchase: ExternalPurchase) -> ExternalReportedItem {
        let whole = TaxedAmount(purchase.amount, rate: purchase.taxRate)
        let others = standing.filter { !$0.isAbout(found.fact) }.map(\.item.amount)
        let amount = whole.refund(of: found.amount, rate: purchase.taxRate, after: others)
        let before = latest(of: found.fact)
        var item = ExternalLineItem(
            // A restatement keeps the date of the item that it replaces (RestatementCreationDateMismatchError).
            lineItemId: found.fact.lineItemID, creationDate: before?.item.creationDate ?? found.at.rawValue * 1_000,
            eventType: .refund, currency: purchase.amount.currency, amount: amount,
            net: whole.exclusive - others.reduce(amount.exclusive) { $0 + $1.exclusive },
            taxCountry: purchase.taxCountry)
        item.referenceLineItemId = purchase.fact.lineItemID
        if before != nil { item.restatement = true }
        return ExternalReportedItem(
            kind: found.fact.kind, factID: found.fact.id, turn: (before?.turn ?? 0) + 1, isErroneous: false, item: item)
    }

    /// The line item that takes an accepted one back: its fields again, with the net amount of now.
    func withdrawal(of gone: ExternalReportedItem, _ purchase: ExternalPurchase) -> ExternalReportedItem {
        let whole = TaxedAmount(purchase.amount, rate: purchase.taxRate)
        var item = gone.item
        item.netAmountTaxExclusive =
            whole.exclusive
            - standing.filter { $0.item.lineItemId != gone.item.lineItemId }.reduce(0) {
                $0 + $1.item.amountTaxExclusive
            }
        item.restatement = true
        item.erroneouslySubmitted = true
        return ExternalReportedItem(
            kind: gone.kind, factID: gone.factID, turn: gone.turn, isErroneous: true, item: item)
    }
}

/// The standing of a token from which its next report follows.
package struct ExternalTokenFacts: Sendable, Equatable {
    /// True where a report is stored whose end is not known.
    package var isPending: Bool
    package var isRefused: Bool
    package var hasAccepted: Bool
    /// True where facts about money are left to report.
    package var hasItems: Bool
    /// True where an order of the token is open, or the end of one of its payments is not known.
    package var awaitsOrder: Bool

    package init(isPending: Bool, isRefused: Bool, hasAccepted: Bool, hasItems: Bool, awaitsOrder: Bool) {
        self.isPending = isPending
        self.isRefused = isRefused
        self.hasAccepted = hasAccepted
        self.hasItems = hasItems
        self.awaitsOrder = awaitsOrder
    }
}

extension ExternalToken {
    /// Returns the state that follows from a token's facts.
    package func state(_ facts: ExternalTokenFacts, at now: Timestamp) -> State {
        if facts.isRefused { return .refused }
        if facts.isPending || facts.hasItems || leadsToNothing(facts, at: now) { return .due }
        return facts.hasAccepted ? .reported : .waiting
    }

    /// Returns whether the token is to be reported as leading to nothing.
    package func leadsToNothing(_ facts: ExternalTokenFacts, at now: Timestamp) -> Bool {
        !facts.hasAccepted && !facts.isPending && !facts.hasItems && !facts.awaitsOrder && dueAt <= now
    }

    /// The status of a report about a token that led to nothing.
    package var statusOfNothing: ExternalReportStatus { source == .apple ? .unrecognizedToken : .noLineItem }
}
