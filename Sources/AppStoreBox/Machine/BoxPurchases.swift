package import Domain

/// A purchase that was checked: the body of `POST /dev/appstore/purchases`.
package struct BoxPurchaseRequest: Sendable, Equatable {
    package let productID: String
    /// A UUID in lower case.
    package let appAccountToken: String?
    package let quantity: Int64
    package let offer: Offer?
    package let storefront: Storefront
    package let customer: String
    /// Milliunits; nil: the product's price in the storefront's currency, else its first.
    package let price: Int64?

    package struct Offer: Sendable, Equatable {
        package let type: BoxOffer.Kind
        package let identifier: String?
        package let discount: BoxOffer.Discount

        package init(type: BoxOffer.Kind, identifier: String?, discount: BoxOffer.Discount) {
            self.type = type
            self.identifier = identifier
            self.discount = discount
        }
    }

    package init(
        productID: String, appAccountToken: String? = nil, quantity: Int64 = 1, offer: Offer? = nil,
        storefront: Storefront, customer: String = "default", price: Int64? = nil
    ) {
        self.productID = productID
        self.appAccountToken = appAccountToken
        self.quantity = quantity
        self.offer = offer
        self.storefront = storefront
        self.customer = customer
        self.price = price
    }

    /// The rows that the purchase reads.
    ///
    /// - Throws: `notFound` for a product that is not for sale.
    package func need(_ products: [BoxProduct]) throws(BoxError) -> BoxNeed {
        guard let product = products.first(where: { $0.productID == productID }) else {
            throw .notFound("no product \(productID) is for sale")
        }
        return .purchase(customer: customer, group: product.group, productID: productID)
    }
}

/// A purchase that was made.
package struct BoxPurchase: Sendable, Equatable {
    package let transaction: BoxTransaction
    /// nil for all kinds but subscriptions.
    package let subscription: BoxSubscription?
    package let notification: BoxNotification
}

extension BoxMachine {
    /// Buys a product.
    ///
    /// - Throws: `notFound` for an unknown product, `invalidRequest` for a quantity or an offer that its kind does not
    ///   take, `conflict` for a subscription that runs and a non-consumable that is owned.
    package mutating func purchase(_ request: BoxPurchaseRequest) throws(BoxError) -> BoxPurchase {
        settle()
        guard let product = product(request.productID), let listed = product.price(in: request.storefront) else {
            throw .notFound("no product \(request.productID) is for sale")
        }
        let price = BoxProduct.Price(currency: listed.currency, milliunits: request.price ?? listed.milliunits)
        guard product.kind == .consumable || request.quantity == 1 else {
            throw .invalidRequest(field: "quantity", "must be 1 for all kinds but consumables")
        }
        guard let period = product.period, let group = product.group else {
            return try buyOnce(request, product, price)
        }
        let owned = orderedSubscriptions.filter { $0.customer == request.customer && $0.group == group }
        if let running = owned.first(where: \.isRunning) {
            return try redeem(request, on: running, period, price)
        }
        return subscribe(request, product, group, period, price, after: owned.last { !$0.isFamilyShared })
    }

    private mutating func buyOnce(
        _ request: BoxPurchaseRequest, _ product: BoxProduct, _ price: BoxProduct.Price
    ) throws(BoxError) -> BoxPurchase {
        guard request.offer == nil else {
            throw .invalidRequest(field: "offer", "must be null for all kinds but subscriptions")
        }
        let isOwned = transactions.values.contains {
            $0.customer == request.customer && $0.productID == product.productID && $0.revocation == nil
        }
        guard product.kind != .nonConsumable || !isOwned else {
            throw .conflict("\(request.customer) owns \(product.productID) already")
        }
        let (total, overflow) = price.milliunits.multipliedReportingOverflow(
            by: request.price == nil ? request.quantity : 1)
        guard !overflow else { throw .invalidRequest(field: "quantity", "makes the price too large") }
        let id = nextID()
        let made = BoxTransaction(
            transactionID: id, originalTransactionID: id, webOrderLineItemID: nil, customer: request.customer,
            appTransactionID: Self.appTransactionID(of: request.customer), productID: product.productID,
            kind: product.kind, group: nil, purchasedAt: now, originalPurchasedAt: now, expiresAt: nil,
            quantity: request.quantity, appAccountToken: request.appAccountToken, isFamilyShared: false,
            reason: .purchase, isUpgraded: false, offer: nil, storefront: request.storefront.code,
            currency: price.currency, price: total, revocation: nil, signedAt: sign(at: now))
        store(made)
        let told = notify(.oneTimeCharge, nil, transaction: made, subscription: nil, signedAt: made.signedAt)
        return BoxPurchase(transaction: made, subscription: nil, notification: told)
    }

    private mutating func subscribe(
        _ request: BoxPurchaseRequest, _ product: BoxProduct, _ group: String, _ period: StoreKitPeriod,
        _ price: BoxProduct.Price, after former: BoxSubscription?
    ) -> BoxPurchase {
        let id = nextID()
        // The first transaction of a subscription has the subscription's own id.
        let transactionID = id
        let original = former?.originalTransactionID ?? id
        var subscription = BoxSubscription(
            originalTransactionID: original, customer: request.customer,
            appTransactionID: Self.appTransactionID(of: request.customer), group: group, sharedFrom: nil,
            appAccountToken: request.appAccountToken, storefront: request.storefront.code,
            originalPurchasedAt: former?.originalPurchasedAt ?? now, startedAt: now, productID: product.productID,
            nextProductID: product.productID, currentTransactionID: transactionID, currency: price.currency,
            renewalPrice: price.milliunits, priceIncrease: nil, anchor: now, periods: 1,
            expiresAt: BoxCalendar.end(of: 1, period, after: now), state: .active, willRenew: true,
            failsWithGrace: nil, graceEndsAt: nil, expirationIntent: nil, signedAt: sign(at: now))
        if request.offer != nil, let usual = product.price(currency: price.currency) {
            subscription.renewalPrice = usual.milliunits
        }
        let offer = request.offer.map { BoxOffer($0, period) }
        let made = BoxTransaction(
            transactionID: transactionID, originalTransactionID: original, webOrderLineItemID: nextID(),
            customer: request.customer, appTransactionID: subscription.appTransactionID,
            productID: product.productID, kind: .subscription, group: group, purchasedAt: now,
            originalPurchasedAt: subscription.originalPurchasedAt, expiresAt: subscription.expiresAt, quantity: 1,
            appAccountToken: request.appAccountToken, isFamilyShared: false, reason: .purchase, isUpgraded: false,
            offer: offer, storefront: request.storefront.code, currency: price.currency,
            price: offer?.discount == .freeTrial ? 0 : price.milliunits, revocation: nil,
            signedAt: subscription.signedAt)
        store(made)
        store(subscription)
        let told = notify(
            .subscribed, former == nil ? .initialBuy : .resubscribe, transaction: made, subscription: subscription,
            signedAt: subscription.signedAt)
        return BoxPurchase(transaction: made, subscription: subscription, notification: told)
    }

    /// Redeems an offer on the running subscription: its next period is charged now and has the offer.
    private mutating func redeem(
        _ request: BoxPurchaseRequest, on running: BoxSubscription, _ period: StoreKitPeriod,
        _ price: BoxProduct.Price
    ) throws(BoxError) -> BoxPurchase {
        let id = running.originalTransactionID
        guard running.productID == request.productID else {
            throw .conflict(
                "\(request.customer) has \(running.productID) of this group; use the acts upgrade or downgrade of "
                    + "subscription \(id)")
        }
        guard let offer = request.offer else {
            throw .conflict("\(request.customer) has this subscription already: \(id)")
        }
        guard offer.type == .promotional || offer.type == .offerCode else {
            throw .conflict("subscription \(id) runs; \(offer.type.rawValue) offers are for customers without one")
        }
        try requireOwn(running)
        try requireActive(running)
        try requireRoom(running)
        var redeeming = running
        redeeming.willRenew = true
        redeeming.nextProductID = running.productID
        redeeming.priceIncrease = nil
        redeeming.appAccountToken = request.appAccountToken ?? running.appAccountToken
        let told = renew(
            redeeming, from: running.expiresAt, period, told: (.offerRedeemed, nil), offer: BoxOffer(offer, period),
            price: offer.discount == .freeTrial ? 0 : request.price ?? running.renewalPrice, at: now)
        guard let made = told.transaction else { throw .conflict("the offer made no transaction") }
        return BoxPurchase(transaction: made, subscription: told.subscription, notification: told)
    }

    /// Apple's `appTransactionId` of a customer: 18 digits that begin with 9 and depend on the name alone.
    static func appTransactionID(of customer: String) -> String {
        // FNV-1a, 64 bits: every node and every run gives the same number.
        let hash = customer.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return String(900_000_000_000_000_000 + hash % 100_000_000_000_000_000)
    }
}

extension BoxOffer {
    init(_ offer: BoxPurchaseRequest.Offer, _ period: StoreKitPeriod) {
        self.init(type: offer.type, identifier: offer.identifier, discount: offer.discount, period: period.text)
    }
}
