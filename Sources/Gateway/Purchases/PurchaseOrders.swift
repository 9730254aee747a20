import Domain
import ProviderKit
import Store

/// The SKU of a purchase, and the order that the purchase completes or makes.
struct PurchaseOrders {
    let log: ChangeLog
    let payments: PaymentLedger

    private var tx: any Transaction { log.tx }

    /// Finds the SKU of a purchase, and the days that a pattern or the client's fallback states.
    ///
    /// In this order: the SKU that was assigned before; the catalogue; the SKU of an earlier period of the same
    /// subscription; the client's fallback, where the SKU allows one.
    /// - Parameter named: the SKU that names the claim's product literally.
    /// - Returns: nil where no SKU names the product.
    func sku(
        of record: PurchaseRecord, named: SKU?, _ claim: PurchaseClaim
    ) throws -> (sku: SKU, days: Int64?)? {
        let (product, bundle) = (record.purchase.productID, record.purchase.bundleID)
        let isClaims = product == claim.purchase.productID && bundle == claim.purchase.bundleID
        let named = isClaims ? named : try tx.skus.findLiteral(appleProduct: product, bundle: bundle).value()
        if let code = record.sku, let sku = try named?.code == code ? named : tx.skus.find(code),
            record.order != nil || sku.lasts(record.days, as: record.purchase)
        {
            return (sku, record.days)
        }
        if let found = try tx.skus.find(appleProduct: product, bundle: bundle, literal: named) {
            return found.sku.lasts(found.days, as: record.purchase) ? found : nil
        }
        if let period = try earlierPeriod(than: record), let code = period.sku, let sku = try tx.skus.find(code) {
            return (sku, period.days)
        }
        guard let fallback = claim.fallback else { return nil }
        let believed = try tx.skus.listActive().first { $0.clientFallback && $0.subscribeID == fallback.subscribeID }
        guard let sku = believed, let longest = sku.durationDays else { return nil }
        let days = fallback.durationDays ?? longest
        return (1...longest).contains(days) ? (sku, days) : nil
    }

    /// Finds the latest granted period of a subscription with the same product.
    ///
    /// A store's renewal lacks the client's fallback by which the first period was granted, and it counts also after
    /// the catalogue has dropped its product. In Xcode ids repeat, so another user's period may have the same id.
    private func earlierPeriod(than record: PurchaseRecord) throws -> PurchaseRecord? {
        let purchase = record.purchase
        guard purchase.isSubscription, purchase.environment != .xcode else { return nil }
        return try tx.purchases.list(purchase.environment, original: purchase.originalTransactionID)
            .filter { $0.order != nil && $0.sku != nil && $0.purchase.productID == purchase.productID }
            .max { $0.purchase.purchasedAt < $1.purchase.purchasedAt }
    }

    /// Completes the newest unpaid order that offered a purchase's product, even if it has expired, or makes a paid order.
    ///
    /// - Returns: the order; where it was made here, the first entry of its timeline as well.
    func complete(
        _ record: PurchaseRecord, sku: SKUCode, terms: OrderTerms, owner: ID<User>
    ) throws -> (order: Order, entry: TimelineEntry?) {
        let purchase = record.purchase
        let charge = StoreCharge(
            sku: sku, price: purchase.charge, terms: terms, quantity: purchase.quantity,
            environment: purchase.environment, paidAt: purchase.purchased)
        if !purchase.isRenewal, let (order, payment) = try waitingOrder(purchase, sku: sku, owner: owner) {
            try tx.orders.complete(order.id, from: order.state, by: payment.id, charge)
            if payment.state != .succeeded { try tx.payments.move(payment.id, from: payment.state, to: .succeeded) }
            _ = try tx.payments.setReference(purchase.transactionID, of: payment)
            try log.appendTimeline(order, "order.paid", "\(purchase.environment.rawValue) \(purchase.transactionID)")
            try log.audit(order, "order.paid", before: order.state.rawValue, after: purchase.transactionID)
            try payments.closeAttempts(try tx.payments.list(of: order.id).value(), of: order.id)
            return (try tx.orders.find(order.id) ?? order, nil)
        }
        let order = Order(
            id: log.ids.make(), user: owner, origin: purchase.isRenewal ? .renewal : .purchase, sku: sku,
            quantity: min(max(purchase.quantity, 1), SKU.quantityRange.upperBound), terms: terms, days: nil,
            amount: purchase.charge, state: .paid, platform: .ios, environment: purchase.environment, partner: nil,
            returnURL: nil, metadata: [:], charged: purchase.charge, createdAt: log.now, expiresAt: log.now,
            paidAt: purchase.purchased)
        try tx.orders.insert(order)
        let entry = try log.appendTimeline(
            order, "order.paid", "\(purchase.environment.rawValue) \(purchase.transactionID)")
        try log.audit(order, "order.paid", before: "", after: purchase.transactionID, isNew: true)
        return (order, entry)
    }

    /// Finds and locks the newest unpaid order that offered this product before the purchase, with its payment.
    ///
    /// An order may be up to 60 s younger than the purchase, because the store's clock is not ours.
    private func waitingOrder(
        _ purchase: StorePurchase, sku: SKUCode, owner: ID<User>
    ) throws -> (order: Order, payment: Payment)? {
        let limit = purchase.purchased.adding(seconds: 60)
        for found in try tx.purchases.listAwaitingOrders(
            appleProduct: purchase.productID, sku: sku, user: owner, before: limit)
        {
            guard let order = try tx.orders.lock(found.order), order.state != .paid,
                let payment = try tx.payments.lock(found.payment)?.payment
            else { continue }
            return (order, payment)
        }
        return nil
    }

    /// Sets the price of an order whose receipt had none, once the store has signed it.
    func fillPrice(_ record: PurchaseRecord, order id: ID<Order>) throws {
        guard let price = record.purchase.charge, let order = try tx.orders.lock(id), order.charged == nil,
            order.state == .paid
        else { return }
        try tx.orders.setSignedPrice(price, of: id)
        try log.audit(order, "order.priced", before: "", after: "\(record.purchase.transactionID) \(price)")
        if order.revokedShare != nil { try setReturned(record.purchase, of: order, charged: price) }
    }

    /// Records on an order that its store revoked all or a part of the purchase, or less of it than before.
    func setRevocation(_ purchase: StorePurchase, of order: Order) throws {
        try setReturned(purchase, of: order, charged: order.charged)
        let id = purchase.transactionID
        guard let share = purchase.revokedShare else {
            try log.appendTimeline(order, "order.reinstated", id)
            return try log.audit(order, "order.reinstated", before: "revoked", after: id)
        }
        guard purchase.isRefunded else {
            try log.appendTimeline(order, "order.sharing_ended", id)
            return try log.audit(order, "order.sharing_ended", before: "paid", after: id)
        }
        // The share is in thousandths of a percent.
        let part = share == Order.wholeShare ? "" : " \(share)"
        try log.appendTimeline(order, "order.revoked", id + part)
        try log.audit(
            order, "order.revoked", before: order.revokedShare.map { "\($0)" } ?? "paid",
            after: "\(id) was revoked by Apple\(part)")
    }

    private func setReturned(_ purchase: StorePurchase, of order: Order, charged: Money?) throws {
        try tx.orders.setReturned(
            order.id, purchase.returned(of: charged), share: purchase.revokedShare,
            at: purchase.isRefunded ? purchase.revokedAt : nil)
    }

    /// Writes the event of a refund by the store, or of a smaller refund than was recorded before.
    func emitRevocation(_ purchase: StorePurchase, of order: Order) throws {
        let before = order.refundedShare ?? 0
        let after = purchase.isRefunded ? purchase.revokedShare ?? 0 : 0
        if after > before { try log.emit(.refundSucceeded, order.id) }
        if after < before { try log.emit(.refundFailed, order.id) }
    }
}

extension SKU {
    /// Returns the terms of a purchase of this SKU, with the kind that Apple signed.
    ///
    /// StoreKit sells several units of a consumable or of a pass at once (`Product.PurchaseOption.quantity(_:)`), which
    /// multiplies the units or days.
    func terms(for purchase: StorePurchase, days: Int64?) -> OrderTerms {
        let quantity = min(max(purchase.quantity, 1), Self.quantityRange.upperBound)
        let kind = kind(of: purchase)
        var terms = terms(
            days: kind == .nonRenewing ? days.map { $0.multipliedReportingOverflow(by: quantity).partialValue } : days,
            quantity: quantity)
        terms.kind = kind
        if terms.kind != .nonRenewing { terms.stackGroup = nil }
        if terms.kind == .nonRenewing && stacking == .extend { terms.stackGroup = stackGroup }
        return terms
    }
}
