import Domain
import Store

/// Reads the purchases of a token as they stand now, with the money that went back.
struct ExternalPurchaseReading {
    let db: any Database

    /// Lists what a token's orders were paid with, oldest first.
    ///
    /// Only the payment that paid an order counts: another payment of the same order goes back, or waits for a person,
    /// and buys nothing.
    func purchases(of token: ID<ExternalToken>) throws -> [ExternalPurchase] {
        let paid = try db.externalPurchases.orders(of: token).filter { $0.state == .paid }
        return try paid.sorted { ($0.paidAt ?? $0.createdAt, $0.id) < ($1.paidAt ?? $1.createdAt, $1.id) }
            .compactMap(purchase)
    }

    private func purchase(_ order: Order) throws -> ExternalPurchase? {
        guard let external = order.external, let paidAt = order.paidAt, let fact = Self.fact(of: order) else {
            return nil
        }
        guard let amount = order.charged ?? order.amount else { return nil }
        return ExternalPurchase(
            fact: fact, product: order.sku.rawValue, quantity: order.quantity, paidAt: paidAt, amount: amount,
            taxRate: external.taxRate, taxCountry: external.storefront, period: try period(of: order),
            returns: try order.paidBy.map { try returns(of: $0, order, amount) } ?? [])
    }

    /// The fact of a paid order: its payment, or the start of a trial; nil where no money and no trial is in it.
    private static func fact(of order: Order) -> ExternalFact? {
        if let payment = order.paidBy { return fact(.payment, payment.rawValue) }
        return order.period == nil ? nil : fact(.trial, order.id.rawValue)
    }

    private static func fact(_ kind: ExternalFact.Kind, _ id: String) -> ExternalFact {
        ExternalFact(kind: kind, id: id, lineItemID: NameUUID.text(id))
    }

    /// The period that an order pays; nil for an order without a subscription.
    private func period(of order: Order) throws -> ExternalPurchase.Period? {
        guard let own = order.period else { return nil }
        let periods = try db.externalPurchases.periods(of: own.subscription)
        guard let place = periods.firstIndex(where: { $0.order == order.id }), let start = periods.first else {
            return nil
        }
        let paid = periods[..<place].filter(\.isPaid).reduce(0) { $0 + $1.end.rawValue - $1.start.rawValue }
        let event: ExternalLineItem.SubscriptionEvent =
            place == 0 ? .start : periods[place].sku != periods[place - 1].sku ? .change : .renewal
        return ExternalPurchase.Period(
            event: event, start: periods[place].start, end: periods[place].end, daysOfPaidService: paid / 86_400,
            startLineItemID: place == 0 ? nil : NameUUID.text(start.payment?.rawValue ?? start.order.rawValue))
    }

    /// The returns of a payment that hold now, at most what was captured together.
    private func returns(
        of payment: ID<Payment>, _ order: Order, _ amount: Money
    ) throws -> [ExternalPurchase.Return] {
        let (refunds, disputes) = (try db.refunds.list(of: payment), try db.disputes.list(of: payment))
        let lost = try disputes.value().filter { $0.state == .lost }
        let refunded = try refunds.value().filter { $0.state == .succeeded && $0.counted }
        guard !lost.isEmpty || !refunded.isEmpty else { return [] }
        let times = try refundTimes(order.id)
        var left = amount.value
        var found: [ExternalPurchase.Return] = []
        func add(_ fact: ExternalFact, at: Timestamp, _ value: Int64) {
            let taken = min(value, left)
            guard taken > 0 else { return }
            left -= taken
            found.append(
                ExternalPurchase.Return(
                    fact: fact, at: at, amount: Money(value: taken, currency: amount.currency)))
        }
        for dispute in lost { add(Self.fact(.dispute, dispute.id.rawValue), at: dispute.toldAt, dispute.amount.value) }
        for refund in refunded {
            let at = times[refund.id.rawValue] ?? refund.sentAt ?? refund.createdAt
            add(Self.fact(.refund, refund.id.rawValue), at: at, refund.amount.value)
        }
        return found.sorted { ($0.at, $0.fact.id) < ($1.at, $1.fact.id) }
    }

    /// The times at which refunds succeeded, from the order's timeline.
    private func refundTimes(_ order: ID<Order>) throws -> [String: Timestamp] {
        var times: [String: Timestamp] = [:]
        for entry in try db.orders.timeline(of: order).value() where entry.type == "refund.succeeded" {
            times[String(entry.detail.prefix { $0 != " " })] = entry.at
        }
        return times
    }
}
