import Domain
import HTTPTypes
import ProviderKit

extension OperationGroup {
    /// `api.md` section 6.
    static let apple = OperationGroup(
        name: "App Store purchases", note: "What was bought in the App Store becomes the user's.",
        operations: [
            Operation(
                "attachPurchase", .post, "/v1/public/iap/apple/transactions/attach", "Attaches a purchase to the user",
                note: "The same transaction again gives the same answer. An `unknown_product` is kept.",
                body: .json(.attachment), answers: .data(.attachedPurchase),
                refuses: [
                    .invalidTransaction, .unknownProduct, .purchaseBelongsToAnotherUser, .purchaseRevoked,
                    .noProviderAvailable,
                ]),
            Operation(
                "restorePurchases", .post, "/v1/public/iap/apple/restore", "Attaches many purchases to the user",
                note: "The good ones are attached even if others are rejected.",
                body: .json(
                    .object(["transactions": .list(.string.noted("A signed transaction."), 0...200)])),
                answers: .data(.restoredPurchases)),
            Operation(
                "readPurchaseStatus", .get, "/v1/public/iap/apple/status", "The user's membership",
                note: "Over all sources together, in the seven fields of App Store clients.",
                answers: .data(.purchaseStatus)),
        ])

    /// `api.md` section 8.
    static let applePay = OperationGroup(
        name: "Apple Pay", note: "Merchant sessions, tokens, and the proof of the domain.",
        operations: [
            Operation(
                "openMerchantSession", .post, "/v1/public/apple-pay/session",
                "A merchant session for Apple Pay on the web",
                body: .json(
                    .object(
                        ["order_id": .id("ord")],
                        optional: [
                            "validation_url": .sentAddress.orNull.noted("Checked to be one of Apple's; never dialled.")
                        ])),
                answers: .data(
                    .object(["merchant_session": .map(.any).noted("Apple's object, unchanged. It is good once.")])),
                refuses: [.orderNotFound, .orderNotOpen, .conflict, .providerRejected, .providerUnavailable]),
            Operation(
                "payByApplePay", .post, "/v1/public/apple-pay/payments", "Pays an open order with a token",
                note: """
                    A token that is refused leaves order and payment as they were. After `failed`, another attempt \
                    needs the next contract.
                    """,
                body: .json(.object(["order_id": .id("ord"), "token": .applePayToken])),
                answers: .data(
                    .object(["status": .words("paid", "pending", "failed"), "order": .order])),
                refuses: [
                    .orderNotFound, .orderNotOpen, .applePayTokenInvalid, .applePayTokenReused, .amountMismatch,
                    .alreadyOwned, .conflict, .providerUnavailable,
                ]),
            Operation(
                "readDomainAssociation", .get, "/.well-known/apple-developer-merchantid-domain-association",
                "The file that proves the domain to Apple",
                answers: .other("text/plain", "The file of the host's domain, else the first that is configured."),
                refuses: [.notFound]),
        ])
}

extension Shape {
    fileprivate static let attachment = object(
        ["signed_transaction_jws": .string.noted("As StoreKit 2 gives it.")],
        optional: [
            "subscribe_id": .integer.orNull.noted(
                "Names the SKU for a product that the catalogue does not know, where that SKU allows it."),
            "duration_days": .integer.orNull.noted("With `subscribe_id`; at most that SKU's."),
            "tier": .string.orNull.noted("Without effect: the tier is the SKU's."),
            "consumption_consent": .boolean.orNull.noted(
                "Whether Apple may be told about consumption when a refund is asked for. Left out: as it was."),
        ])

    fileprivate static let attachedPurchase = named(
        "AttachedPurchase",
        .object([
            "expires_at": .time.noted("Seconds since 1970-01-01 UTC; 253402300799: perpetual, 0: nothing lasts."),
            "tier": .string, "active": .boolean.noted("Whether it holds now."),
            "status": Shape(.words(Entitlement.Status.allCases.map(\.rawValue) + ["none"])).noted(
                "`scheduled`: paid, and it begins later. `none`: nothing lasts."),
            "perpetual": .boolean, "sku": .string, "order_id": .id("ord"),
            "transaction_id": .string, "original_transaction_id": .string, "environment": .words(Environment.self),
            "credited": .map(.integer).noted("Units of a consumable."),
        ]))

    fileprivate static let restoredPurchases = named(
        "RestoredPurchases",
        .object([
            "success": .boolean.noted("Whether none was rejected."),
            "restored": .integer.noted("How many were not rejected."), "results": .list(restoredPurchase),
        ]))

    private static let restoredPurchase = object(
        [
            "index": .integer.noted("In the request, from 0."),
            "status": .words("attached", "already_attached", "rejected"),
        ],
        optional: [
            "error": Shape(.words(restoreRefusals.map(\.rawValue))).noted("Why it was rejected."),
            "reason": .words(PurchaseRefusal.Reason.self).noted("Of `invalid_transaction`."),
        ])

    private static let restoreRefusals: [ErrorID] = [
        .invalidTransaction, .unknownProduct, .purchaseBelongsToAnotherUser, .purchaseRevoked, .noProviderAvailable,
    ]

    fileprivate static let purchaseStatus = named(
        "PurchaseStatus",
        .object([
            "active": .boolean,
            "expires_at": .time.noted("Seconds since 1970-01-01 UTC; 253402300799: perpetual, 0: not active."),
            "tier_expires_at": .time.noted("The end of the tier that is shown; 0 where none is active."),
            "tier": .string, "perpetual": .boolean,
            "status": Shape(.words(Entitlement.Status.allCases.map(\.rawValue) + ["none"])).noted(
                "Of the entitlement that decides the tier, or, when none is active, of the one that ends last."),
            "will_renew": .boolean, "app_account_token": .string.noted("A UUID for StoreKit's purchase."),
        ]))

    fileprivate static let applePayToken = object(
        ["paymentData": .any.noted("Apple's object, or that as base64 or as JSON text.")],
        optional: ["paymentMethod": .map(.any).orNull, "transactionIdentifier": .string.orNull]
    ).noted("`token` of Apple's payment, at most 32 KiB.")
}
