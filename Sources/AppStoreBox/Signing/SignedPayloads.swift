import Domain

/// A transaction as Apple signs it (App Store Server API, JWSTransactionDecodedPayload).
struct TransactionPayload: Encodable {
    let transactionId: String
    let originalTransactionId: String
    let webOrderLineItemId: String?
    let appTransactionId: String
    let bundleId: String
    let productId: String
    let subscriptionGroupIdentifier: String?
    let type: String
    let quantity: Int64
    let purchaseDate: Int64
    let originalPurchaseDate: Int64
    let expiresDate: Int64?
    let signedDate: Int64
    let environment = boxEnvironment
    let appAccountToken: String?
    let inAppOwnershipType: String
    let transactionReason: String
    let isUpgraded: Bool?
    let price: Int64
    let currency: String
    let storefront: String
    let offerType: Int64?
    let offerIdentifier: String?
    let offerDiscountType: String?
    let offerPeriod: String?
    let revocationDate: Int64?
    let revocationReason: Int64?
    let revocationType: String?
    let revocationPercentage: Int64?

    init(_ row: BoxTransaction, of app: BoxApp) {
        transactionId = row.transactionID
        originalTransactionId = row.originalTransactionID
        webOrderLineItemId = row.webOrderLineItemID
        appTransactionId = row.appTransactionID
        bundleId = app.bundleID
        productId = row.productID
        subscriptionGroupIdentifier = row.group
        type = row.kind.appleType
        quantity = row.quantity
        purchaseDate = row.purchasedAt
        originalPurchaseDate = row.originalPurchasedAt
        expiresDate = row.expiresAt
        signedDate = row.signedAt
        appAccountToken = row.appAccountToken
        inAppOwnershipType = row.isFamilyShared ? "FAMILY_SHARED" : "PURCHASED"
        transactionReason = row.reason.rawValue
        // Apple writes it only where it is true.
        isUpgraded = row.isUpgraded ? true : nil
        price = row.price
        currency = row.currency
        storefront = row.storefront
        offerType = row.offer?.type.appleType
        offerIdentifier = row.offer?.identifier
        offerDiscountType = row.offer?.discount.rawValue
        offerPeriod = row.offer?.period
        revocationDate = row.revocation?.at
        revocationReason = row.revocation?.reason
        revocationType = row.revocation?.kind.rawValue
        revocationPercentage = row.revocation?.percentage
    }
}

/// A subscription's next renewal as Apple signs it (App Store Server API, JWSRenewalInfoDecodedPayload).
struct RenewalPayload: Encodable {
    let originalTransactionId: String
    let productId: String
    let autoRenewProductId: String
    let autoRenewStatus: Int
    let isInBillingRetryPeriod: Bool
    let gracePeriodExpiresDate: Int64?
    let expirationIntent: Int64?
    let priceIncreaseStatus: Int64?
    let renewalDate: Int64
    let renewalPrice: Int64
    let currency: String
    let recentSubscriptionStartDate: Int64
    let appAccountToken: String?
    let appTransactionId: String
    let signedDate: Int64
    let environment = boxEnvironment

    init(_ row: BoxSubscription) {
        originalTransactionId = row.originalTransactionID
        productId = row.productID
        autoRenewProductId = row.nextProductID
        autoRenewStatus = row.willRenew ? 1 : 0
        isInBillingRetryPeriod = row.state == .grace || row.state == .billingRetry
        gracePeriodExpiresDate = row.state == .grace ? row.graceEndsAt : nil
        expirationIntent = row.expirationIntent?.rawValue
        priceIncreaseStatus = row.priceIncreaseStatus
        renewalDate = row.expiresAt
        renewalPrice = row.nextPrice
        currency = row.currency
        recentSubscriptionStartDate = row.startedAt
        appAccountToken = row.appAccountToken
        appTransactionId = row.appTransactionID
        signedDate = row.signedAt
    }
}

/// A notification as Apple signs it (App Store Server Notifications V2, responseBodyV2DecodedPayload).
struct NotificationPayload: Encodable {
    struct Content: Encodable {
        let environment = boxEnvironment
        let bundleId: String
        let bundleVersion: String?
        let status: Int64?
        let consumptionRequestReason: String?
        let signedTransactionInfo: String?
        let signedRenewalInfo: String?
    }

    let notificationType: String
    let subtype: String?
    let notificationUUID: String
    let version = "2.0"
    let signedDate: Int64
    let data: Content
}

extension BoxSigner {
    /// Signs a transaction; its `signedDate` is the row's, so that equal facts have equal dates.
    package func transaction(_ row: BoxTransaction) throws(BoxAuthorityError) -> String {
        try sign(TransactionPayload(row, of: app))
    }

    /// Signs the renewal information of a subscription.
    package func renewalInfo(_ row: BoxSubscription) throws(BoxAuthorityError) -> String {
        try sign(RenewalPayload(row))
    }

    /// Signs a notification with its transaction and renewal information, for the member `signedPayload`.
    package func notification(_ row: BoxNotification) throws(BoxAuthorityError) -> String {
        let data = NotificationPayload.Content(
            bundleId: app.bundleID, bundleVersion: row.type == .test ? nil : "1",
            status: row.subscription?.state.rawValue, consumptionRequestReason: row.consumptionRequestReason,
            signedTransactionInfo: try signed(row.transaction), signedRenewalInfo: try signed(row.subscription))
        return try sign(
            NotificationPayload(
                notificationType: row.type.rawValue, subtype: row.subtype?.rawValue, notificationUUID: row.uuid,
                signedDate: row.signedAt, data: data))
    }

    private func signed(_ row: BoxTransaction?) throws(BoxAuthorityError) -> String? {
        guard let row else { return nil }
        return try transaction(row)
    }

    private func signed(_ row: BoxSubscription?) throws(BoxAuthorityError) -> String? {
        guard let row else { return nil }
        return try renewalInfo(row)
    }
}
