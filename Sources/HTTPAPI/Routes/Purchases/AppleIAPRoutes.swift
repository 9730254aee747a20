import Domain
import Gateway
import HTTPTypes
import ProviderKit

/// Routes of App Store purchases: attach, restore, status (`docs/api.md` section 6).
struct AppleIAPRoutes {
    let gateway: Gateway

    private static let restoreLimit = 200

    var routes: [Route] {
        [
            Route(
                "attachPurchase", .post, "/v1/public/iap/apple/transactions/attach", .user, .apple,
                "Attaches a purchase to the user",
                note: "The same transaction again gives the same answer. An `unknown_product` is kept.",
                body: .json(.attachment), answers: .data(.attachedPurchase),
                refuses: [
                    .invalidTransaction, .unknownProduct, .purchaseBelongsToAnotherUser, .purchaseRevoked,
                    .noProviderAvailable,
                ], handle: attach),
            Route(
                "restorePurchases", .post, "/v1/public/iap/apple/restore", .user, .apple,
                "Attaches many purchases to the user", note: "The good ones are attached even if others are rejected.",
                body: .json(
                    .object(["transactions": .list(.string.noted("A signed transaction."), 0...200)])),
                bodyLimit: 2 << 20, answers: .data(.restoredPurchases), handle: restore),
            Route(
                "readPurchaseStatus", .get, "/v1/public/iap/apple/status", .user, .apple, "The user's membership",
                note: "Over all sources together, in the seven fields of App Store clients.",
                answers: .data(.purchaseStatus), handle: status),
        ]
    }

    private func attach(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(AttachFields.self)
        let fallback = fields.subscribe_id.map {
            PurchaseFallback(durationDays: fields.duration_days, subscribeID: $0)
        }
        let attached = try await gateway.purchases.attach(
            .signedTransaction(fields.signed_transaction_jws), fallback: fallback,
            consent: fields.consumption_consent, user: call.user, context: call.context)
        return try .json(attached)
    }

    private func restore(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(RestoreFields.self)
        guard fields.transactions.count <= Self.restoreLimit else {
            throw .invalidRequest(field: "transactions", reason: "at most \(Self.restoreLimit)")
        }
        // The request itself was charged already, for one signature.
        try call.charge(Int64(max(0, fields.transactions.count - 1)))
        let items = try await gateway.purchases.restore(fields.transactions, user: call.user, context: call.context)
        return try .json(RestoreView(items.map(RestoredLine.init)))
    }

    private func status(_ call: Call) async throws(GatewayError) -> Answer {
        .data(try await gateway.entitlements.purchaseStatus(user: call.user).json)
    }
}

private struct AttachFields: Decodable {
    let signed_transaction_jws: String
    let duration_days: Int64?
    let subscribe_id: Int64?
    let tier: String?
    let consumption_consent: Bool?
}

private struct RestoreFields: Decodable {
    let transactions: [String]
}

private struct RestoreView: Encodable {
    let success: Bool
    let restored: Int
    let results: [RestoredLine]

    init(_ results: [RestoredLine]) {
        success = !results.contains { $0.status == .rejected }
        restored = results.count { $0.status != .rejected }
        self.results = results
    }
}

private struct RestoredLine: Encodable {
    let index: Int
    let status: RestoredItem.Status
    let error: String?
    let reason: String?

    init(_ item: RestoredItem) {
        let refusal = item.refusal.map(ErrorReply.init)
        index = item.index
        status = item.status
        error = refusal?.id
        reason = if case .string(let reason)? = refusal?.details["reason"] { reason } else { nil }
    }
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
}
