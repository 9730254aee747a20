/// Payloads with every field that is read, and the words in them.
enum Payloads {
    static let transaction = """
        {"transactionId":"2000000000000001","originalTransactionId":"2000000000000000",\
        "webOrderLineItemId":"2000000000000009","bundleId":"com.example.app","productId":"vip.month",\
        "subscriptionGroupIdentifier":"20800001","purchaseDate":1789999995000,"originalPurchaseDate":1789999991000,\
        "expiresDate":1792591995000,"quantity":1,"type":"Auto-Renewable Subscription",\
        "appAccountToken":"6D7A1A51-0F0A-4F6E-9C1B-4A0A9C3F1E2D","inAppOwnershipType":"PURCHASED",\
        "signedDate":1790000000000,"environment":"Production","transactionReason":"PURCHASE","storefront":"USA",\
        "storefrontId":"143441","price":1990,"currency":"USD","offerType":1,"offerIdentifier":"spring",\
        "offerDiscountType":"FREE_TRIAL","offerPeriod":"P1M","isUpgraded":false,"revocationDate":1790000000000,\
        "revocationReason":1,"revocationType":"REFUND_PRORATED","revocationPercentage":50000,\
        "appTransactionId":"704000000000001","billingPlanType":"MONTHLY","commitmentInfo":{"billingPeriodNumber":1,\
        "totalBillingPeriods":12,"commitmentPrice":23880,"commitmentExpiresDate":1792591995000}}
        """
    static let short = """
        {"transactionId":"1","originalTransactionId":"1","bundleId":"com.example.app","productId":"p",\
        "purchaseDate":1.5,"type":"Consumable","signedDate":1790000000000.25,"environment":"Sandbox"}
        """
    static let renewal = """
        {"originalTransactionId":"2000000000000000","autoRenewProductId":"vip.month","productId":"vip.month",\
        "autoRenewStatus":1,"renewalPrice":1990,"currency":"USD","signedDate":1790000000000,\
        "environment":"Production","recentSubscriptionStartDate":1789999991000,"renewalDate":1792591995000,\
        "isInBillingRetryPeriod":true,"gracePeriodExpiresDate":1792591995000,"expirationIntent":2,\
        "priceIncreaseStatus":0,"offerType":3,"eligibleWinBackOfferIds":["a","b"],\
        "appAccountToken":"6d7a1a51-0f0a-4f6e-9c1b-4a0a9c3f1e2d","renewalBillingPlanType":"BILLED_UPFRONT"}
        """
    static let notification = """
        {"notificationType":"DID_RENEW","subtype":"BILLING_RECOVERY","notificationUUID":"1","version":"2.0",\
        "signedDate":1790000000000,"data":{"appAppleId":1,"bundleId":"com.example.app","environment":"Sandbox",\
        "signedTransactionInfo":"a.b.c"}}
        """
    static let app = """
        {"receiptType":"Production","bundleId":"com.example.app","signedDate":1790000000000,"appAppleId":1}
        """
    static let odd = """
        {"signedDate":1.79e12,"a\\u0062":[null,true,-0.5E-3,"\\ud83d\\ude00\\n",{}],"data":{"x":[[[[1]]]]}}
        """

    static let all: [[UInt8]] = [transaction, short, renewal, notification, app, odd].map { Array($0.utf8) }

    /// The payloads in the form of Xcode's.
    static let xcode: [[UInt8]] = [transaction, short, renewal].map {
        Array($0.replacing("Production", with: "Xcode").replacing("Sandbox", with: "LocalTesting").utf8)
    }

    static let words =
        Set(all.flatMap { $0.split(separator: UInt8(ascii: "\"")) }.map { String(decoding: $0, as: UTF8.self) })
        .filter { $0.utf8.count > 2 && $0.utf8.count <= 40 }.sorted()
        + [
            "null", "true", "false", "{}", "[]", "\"\"", "Xcode", "LocalTesting", "REFUND_FULL", "FAMILY_SHARED",
            "9223372036854775807", "-9223372036854775808", "9223372036854775808", "2147483647", "1e308", "1E400",
            "-0.0", "253402300799999", "\\ud800", "\\udc00", "\\u0000", "\\/", "summary", "appData",
            "externalPurchaseToken", "\u{212A}", "e\u{301}",
        ]
}
