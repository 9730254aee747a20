import Domain
import HTTPTypes

extension OperationGroup {
    /// Users and their purchases of `api.md` section 11.
    static let adminUsers = OperationGroup(
        name: "Users, for admins", note: "What users own, and what is given, moved and taken by hand.",
        operations: [
            Operation(
                "readUserEntitlements", .get, "/v1/admin/users/{user_id}/entitlements", "What a user owns",
                note: "Who was never seen owns nothing.", parameters: ["user_id": userID],
                answers: .tagged(.entitlements)),
            Operation(
                "explainUserEntitlements", .get, "/v1/admin/users/{user_id}/entitlements/explain",
                "Why a user owns what the user owns", note: "With the reasons that the staff noted.",
                query: [.query("sku", .string, "Only what is about it.")], parameters: ["user_id": userID],
                answers: .data(.explanation), refuses: [.skuNotFound]),
            Operation(
                "createGrant", .post, "/v1/admin/users/{user_id}/grants", "Gives a user a SKU without an order",
                note: "For a number of days it stacks like a bought pass; until a time it does not.",
                parameters: ["user_id": userID], body: .json(.newGrant), answers: .data(.entitlement),
                refuses: [.skuNotFound]),
            Operation(
                "creditBalance", .post, "/v1/admin/users/{user_id}/balances/{unit}/credit", "Gives units of a balance",
                note: "Of the production balance.", parameters: ["user_id": userID, "unit": unit],
                body: .json(.credit), answers: .data(.balance), refuses: [.conflict]),
            Operation(
                "listBalanceHistory", .get, "/v1/admin/users/{user_id}/balances/{unit}/history",
                "How a balance became what it is", query: Operation.Query.page(.numberCursor),
                parameters: ["user_id": userID, "unit": unit], answers: .page(.balanceChange)),
            Operation(
                "revokeGrant", .delete, "/v1/admin/grants/{id}", "Takes a grant back for good",
                answers: .data(.entitlement), refuses: [.notFound]),
            Operation(
                "eraseUser", .post, "/v1/admin/users/{user_id}/erase", "Forgets who a user is",
                note: "Orders and purchases stay under an internal id, and nobody inherits them.",
                parameters: ["user_id": userID], body: .json(.object([:])),
                answers: .data(.object(["erased": .boolean]))),
            Operation(
                "listWaitingPurchases", .get, "/v1/admin/purchases", "Kept store purchases that give nothing yet",
                query: Operation.Query.waitingPurchases, answers: .page(.waitingPurchase)),
            Operation(
                "transferPurchase", .post, "/v1/admin/purchases/{original_transaction_id}/transfer",
                "Gives a store purchase to a user", note: "Whatever the policy says, and whoever has it.",
                parameters: ["original_transaction_id": "The store's id of the first transaction."],
                body: .json(.newOwner), answers: .data(.transferredPurchase)),
        ])

    private static let unit = "A unit that SKUs credit, `coins`."
    private static let userID = "The app's own id of the user, 1 to 128 characters."
}

extension Operation.Query {
    fileprivate static let waitingPurchases: [Operation.Query] =
        [query("state", .words(PurchaseWait.self), "No SKU knows its product, or no user has claimed it; else both.")]
        + page(.timeCursor("(?:\(Environment.allCases.map(\.rawValue).joined(separator: "|")))"))
}

extension Shape {
    static let newGrant = named("NewGrant", newGrantMembers).shown(
        #"{"sku":"vip_month","duration_days":7,"reason":"goodwill"}"#)

    private static let newGrantMembers = object(
        ["sku": .string, "reason": .string(1...500).noted("In Unicode scalars.")],
        optional: [
            "duration_days": .integer(1...3_660).orNull.noted("The SKU's own length where there is no end either."),
            "expires_at": .timeAhead.orNull.noted("Ahead; not together with `duration_days`."),
        ])

    fileprivate static let waitingPurchase = named(
        "WaitingPurchase",
        .object([
            "transaction_id": .string, "original_transaction_id": .string, "product_id": .string,
            "bundle_id": .string, "type": .string.noted("Apple's own word."),
            "environment": .words(Environment.self), "account": .string, "price": .money.orNull,
            "purchased_at": .time, "expires_at": .time.orNull, "received_at": .time,
            "user_id": .string.orNull.noted("Null while nobody has claimed it."),
            "sku": .string.orNull.noted("Null while no SKU knows its product."),
        ]))

    fileprivate static let newOwner = object(
        ["user_id": .userID],
        optional: [
            "environment": .words("Production", "Sandbox").orNull.noted("Needed where the id is known in several.")
        ])

    fileprivate static let transferredPurchase = named(
        "TransferredPurchase",
        .object([
            "original_transaction_id": .string, "environment": .words(Environment.self), "user_id": .string,
            "transferred": .boolean.noted("False where it was this user's already."),
        ]))
}
