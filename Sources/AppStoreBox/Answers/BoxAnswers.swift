package import Domain

// The JSON answers of /dev/appstore/*; times are business seconds, member names are the JSON's.

/// The answer of `POST /dev/appstore/purchases`.
package struct BoxPurchaseAnswer: Encodable, Sendable, Equatable {
    package let transaction_id: String
    package let original_transaction_id: String
    package let signed_transaction: String
    @Nullable package var signed_renewal_info: String?
    /// A PKCS#7 in base64 with every purchase of the customer.
    package let receipt: String

    package init(_ purchase: BoxPurchase, signedTransaction: String, signedRenewalInfo: String?, receipt: String) {
        transaction_id = purchase.transaction.transactionID
        original_transaction_id = purchase.transaction.originalTransactionID
        signed_transaction = signedTransaction
        _signed_renewal_info = Nullable(wrappedValue: signedRenewalInfo)
        self.receipt = receipt
    }
}

/// The answer of an act.
package struct BoxActAnswer: Encodable, Sendable, Equatable {
    package struct Delivery: Encodable, Sendable, Equatable {
        /// The HTTP status; null where there was no answer.
        @Nullable package var status: Int64?

        package init(status: Int64?) { _status = Nullable(wrappedValue: status) }
    }

    package struct Notification: Encodable, Sendable, Equatable {
        package let uuid: String
        package let type: String
        @Nullable package var subtype: String?
        @Nullable package var delivery: Delivery?
    }

    @Nullable package var transaction: BoxTransactionAnswer?
    @Nullable package var subscription: BoxSubscriptionAnswer?
    @Nullable package var notification: Notification?

    /// - Parameter delivery: the first attempt of the act's notification; nil where it was not sent yet.
    package init(_ done: BoxDone, delivery: BoxNotification.Attempt?) {
        _transaction = Nullable(wrappedValue: done.transaction.map(BoxTransactionAnswer.init))
        _subscription = Nullable(wrappedValue: done.subscription.map(BoxSubscriptionAnswer.init))
        let told = done.notification.map { told in
            Notification(
                uuid: told.uuid, type: told.type.rawValue, subtype: told.subtype?.rawValue,
                delivery: delivery.map { Delivery(status: $0.status) })
        }
        _notification = Nullable(wrappedValue: told)
    }
}

/// The answer of `GET /dev/appstore/state`; lists are oldest first.
package struct BoxStateAnswer: Encodable, Sendable, Equatable {
    package struct Notification: Encodable, Sendable, Equatable {
        package struct Attempt: Encodable, Sendable, Equatable {
            package let at: Int64
            @Nullable package var status: Int64?
        }

        package let uuid: String
        package let type: String
        @Nullable package var subtype: String?
        package let signed_payload: String
        package let attempts: [Attempt]

        package init(_ notification: BoxNotification, signedPayload: String) {
            uuid = notification.uuid
            type = notification.type.rawValue
            _subtype = Nullable(wrappedValue: notification.subtype?.rawValue)
            signed_payload = signedPayload
            attempts = notification.attempts.map { Attempt(at: $0.at.flooredSeconds, status: $0.status) }
        }
    }

    package struct Delivery: Encodable, Sendable, Equatable {
        package let mode: String
        package let seconds: Int64
    }

    package let products: [BoxProductAnswer]
    /// The customers' names, in alphabetical order.
    package let customers: [String]
    package let transactions: [BoxTransactionAnswer]
    package let subscriptions: [BoxSubscriptionAnswer]
    package let notifications: [Notification]
    package let delivery: Delivery
    package let now: Int64

    /// - Parameters:
    ///   - notifications: each with its signed payload.
    ///   - now: business milliseconds.
    package init(
        meta: BoxMeta, products: [BoxProduct], transactions: [BoxTransaction], subscriptions: [BoxSubscription],
        notifications: [(BoxNotification, signedPayload: String)], now: Int64
    ) {
        self.products = products.map(BoxProductAnswer.init)
        customers = Set(transactions.map(\.customer)).sorted()
        self.transactions = transactions.map(BoxTransactionAnswer.init)
        self.subscriptions = subscriptions.map(BoxSubscriptionAnswer.init)
        self.notifications = notifications.map { Notification($0.0, signedPayload: $0.signedPayload) }
        delivery = Delivery(mode: meta.delivery.mode.rawValue, seconds: meta.delivery.seconds)
        self.now = now.flooredSeconds
    }
}

/// A product as the answers show it.
package struct BoxProductAnswer: Encodable, Sendable, Equatable {
    package struct Price: Encodable, Sendable, Equatable {
        package let currency: String
        package let milliunits: Int64
    }

    package let product_id: String
    package let name: String
    package let kind: SKU.Kind
    @Nullable package var group: String?
    package let level: Int64
    /// ISO 8601, `P1M`.
    @Nullable package var period: String?
    package let prices: [Price]

    package init(_ product: BoxProduct) {
        product_id = product.productID
        name = product.name
        kind = product.kind
        _group = Nullable(wrappedValue: product.group)
        level = product.level
        _period = Nullable(wrappedValue: product.period?.text)
        prices = product.prices.map { Price(currency: $0.currency, milliunits: $0.milliunits) }
    }
}

/// A transaction as the answers show it.
package struct BoxTransactionAnswer: Encodable, Sendable, Equatable {
    package let transaction_id: String
    package let original_transaction_id: String
    package let customer: String
    package let product_id: String
    package let kind: SKU.Kind
    package let purchased_at: Int64
    @Nullable package var expires_at: Int64?
    package let quantity: Int64
    @Nullable package var app_account_token: String?
    package let is_family_shared: Bool
    package let is_upgraded: Bool
    package let reason: String
    package let currency: String
    /// Milliunits.
    package let price: Int64
    @Nullable package var offer: String?
    @Nullable package var revoked_at: Int64?
    /// Percent of the price that was refunded.
    @Nullable package var refunded_percentage: Int64?

    package init(_ transaction: BoxTransaction) {
        transaction_id = transaction.transactionID
        original_transaction_id = transaction.originalTransactionID
        customer = transaction.customer
        product_id = transaction.productID
        kind = transaction.kind
        purchased_at = transaction.purchasedAt.flooredSeconds
        _expires_at = Nullable(wrappedValue: transaction.expiresAt?.flooredSeconds)
        quantity = transaction.quantity
        _app_account_token = Nullable(wrappedValue: transaction.appAccountToken)
        is_family_shared = transaction.isFamilyShared
        is_upgraded = transaction.isUpgraded
        reason = transaction.reason.rawValue
        currency = transaction.currency
        price = transaction.price
        _offer = Nullable(wrappedValue: transaction.offer?.type.rawValue)
        _revoked_at = Nullable(wrappedValue: transaction.revocation?.at.flooredSeconds)
        _refunded_percentage = Nullable(wrappedValue: transaction.revocation?.percentage.map { $0 / 1_000 })
    }
}

/// A subscription as the answers show it.
package struct BoxSubscriptionAnswer: Encodable, Sendable, Equatable {
    package let original_transaction_id: String
    package let customer: String
    package let group: String
    package let product_id: String
    package let next_product_id: String
    package let transaction_id: String
    /// `active`, `in_grace_period`, `in_billing_retry`, `expired` or `revoked`.
    package let status: String
    package let will_renew: Bool
    /// True where the next renewal is to fail, and while one has failed.
    package let fails: Bool
    package let expires_at: Int64
    @Nullable package var grace_until: Int64?
    package let currency: String
    /// Milliunits of the next renewal.
    package let renewal_price: Int64
    /// null where no price increase is under way.
    @Nullable package var price_accepted: Bool?
    package let is_family_shared: Bool

    package init(_ subscription: BoxSubscription) {
        original_transaction_id = subscription.originalTransactionID
        customer = subscription.customer
        group = subscription.group
        product_id = subscription.productID
        next_product_id = subscription.nextProductID
        transaction_id = subscription.currentTransactionID
        status =
            switch subscription.state {
            case .active: "active"
            case .grace: "in_grace_period"
            case .billingRetry: "in_billing_retry"
            case .expired: "expired"
            case .revoked: "revoked"
            }
        will_renew = subscription.willRenew
        fails = subscription.failsWithGrace != nil
        expires_at = subscription.expiresAt.flooredSeconds
        _grace_until = Nullable(wrappedValue: subscription.graceEndsAt?.flooredSeconds)
        currency = subscription.currency
        renewal_price = subscription.nextPrice
        _price_accepted = Nullable(wrappedValue: subscription.priceIncrease?.isAccepted)
        is_family_shared = subscription.isFamilyShared
    }
}
