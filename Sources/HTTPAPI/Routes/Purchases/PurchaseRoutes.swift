import Domain
import Gateway
import HTTPTypes

/// Routes of store purchases for admins: a list, with those that give nothing yet, and transfers by hand.
struct PurchaseRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listPurchases", .get, "/v1/admin/purchases", .key([.admin, .adminRead]), .adminUsers,
                "Stored store purchases, by their arrival", query: Route.Query.storedPurchases,
                answers: .page(.storedPurchase), handle: purchases),
            Route(
                "transferPurchase", .post, "/v1/admin/purchases/{original_transaction_id}/transfer", .key([.admin]),
                .adminUsers, "Gives a store purchase to a user", note: "Whatever the policy says, and whoever has it.",
                parameters: ["original_transaction_id": "The store's id of the first transaction."],
                body: .json(.newOwner), answers: .data(.transferredPurchase), handle: transfer),
        ]
    }

    private func purchases(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.purchases.list(
            call.choice("state", PurchaseWait.self), cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func transfer(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(TransferFields.self)
        let original = try call.parameter("original_transaction_id")
        // No store signs such ids, and no database can store them.
        guard (1...128).contains(original.utf8.count), original.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            throw .unknown(.purchase, original)
        }
        let transferred = try await gateway.purchases.transfer(
            original, to: UserName.parse(fields.user_id), environment: fields.place(), context: call.context)
        return try .json(transferred)
    }
}

private struct TransferFields: Decodable {
    let user_id: String
    let environment: String?

    func place() throws(GatewayError) -> Environment? {
        guard let environment else { return nil }
        // In Xcode transaction ids repeat on every machine, so no purchase can be transferred.
        guard let place = Environment(rawValue: environment), place != .xcode else {
            throw .invalidRequest(
                field: "environment", reason: .words([Environment.production, .sandbox].map(\.rawValue)))
        }
        return place
    }
}

extension Route.Query {
    fileprivate static let storedPurchases: [Route.Query] =
        [
            query(
                "state", .words(PurchaseWait.self),
                "Only those that give nothing yet: no SKU knows their product, or no user has claimed them.")
        ]
        + page(.timeCursor("(?:\(Environment.allCases.map(\.rawValue).joined(separator: "|")))"))
}

extension Shape {
    fileprivate static let storedPurchase = named("StoredPurchase", storedPurchaseMembers)

    static let purchaseOfUser = named(
        "UserPurchase",
        storedPurchaseMembers.adding(["grant_id": .id("grt").orNull.noted("Null where it gave none.")]))

    private static let storedPurchaseMembers = object(
        [
            "transaction_id": .string, "original_transaction_id": .string, "product_id": .string,
            "bundle_id": .string, "type": .string.noted("Apple's own word."),
            "environment": .words(Environment.self), "account": .string,
            "box": .boolean.noted("True for a purchase of the App Store in a box, for which nobody paid."),
            "price": .money.orNull,
            "purchased_at": .time, "expires_at": .time.orNull, "received_at": .time,
            "user_id": .string.orNull.noted("Null while nobody has claimed it."),
            "sku": .string.orNull.noted("Null while no SKU knows its product."),
        ])

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
