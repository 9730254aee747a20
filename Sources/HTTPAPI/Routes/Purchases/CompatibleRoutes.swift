import Domain
import Foundation
import Gateway
import HTTPTypes

/// Routes in the form of other clients, without the envelope (`docs/api.md` section 7).
struct CompatibleRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listAppleProducts", .get, "/apple-iap/products", .anyone, .compatible, "What is sold in the App Store",
                note: "One item for each literal Apple product id.",
                answers: .json(.object(["success": .boolean, "data": .list(.appleProduct)]))
            ) { (_) async throws(GatewayError) in try await products() },
            Route(
                "verifyReceipt", .post, "/apple-iap/verify", .user, .compatible,
                "Attaches one transaction of a receipt to the user", note: "Only the named transaction is attached.",
                body: .json(
                    .object([
                        "receiptData": .string.noted(
                            "A PKCS #7 receipt in base64, a signed transaction, or in development the simulator's."),
                        "transactionId": .string.noted("One of the receipt, or a renewal of one that is."),
                    ])), bodyLimit: 2 << 20, answers: .json(.verifiedMembership),
                refuses: [
                    .invalidReceipt, .invalidTransaction, .unknownProduct, .purchaseBelongsToAnotherUser,
                    .purchaseRevoked, .noProviderAvailable, .providerUnavailable,
                ], idempotency: .ignored, errors: .flat
            ) {
                (call) async throws(GatewayError) in try await verify(call)
            },
        ]
    }

    /// Lists an item for each Apple product id that is not a pattern.
    private func products() async throws(GatewayError) -> Answer {
        struct Products: Encodable {
            let success: Bool
            let data: [OldProduct]
        }
        let items = try await gateway.purchases.listProducts().map(OldProduct.init)
        return try Self.json(.ok, Products(success: true, data: items))
    }

    private func verify(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(VerifyFields.self)
        try call.charge(ReceiptRoutes.signatures)
        let verified = try await gateway.receipts.verify(
            fields.receiptData, transactionID: fields.transactionId, user: call.user, context: call.context)
        return try Self.json(.ok, Verified(verified))
    }

    private static func json(_ status: HTTPResponse.Status, _ value: some Encodable) throws(GatewayError) -> Answer {
        .raw(
            status: status, contentType: "application/json; charset=utf-8", body: try Answer.encode(value),
            headers: [HTTPField(name: .cacheControl, value: "no-store")])
    }
}

private struct VerifyFields: Decodable {
    let receiptData: String
    let transactionId: String
}

private struct Verified: Encodable {
    struct Membership: Encodable {
        let status: String
        let startDate: String
        @Nullable private(set) var endDate: String?
    }

    let success = true
    let message = "会员激活成功"
    let membership: Membership
    /// The source of the state, where the evidence is a receipt of many purchases.
    let source: ReceiptSource?
    /// True where Apple could not report the current state; otherwise absent.
    let stale: Bool?

    init(_ verified: VerifiedPurchase) {
        let attached = verified.attached
        source = verified.source
        stale = verified.source.map { _ in verified.isStale }
        membership = Membership(
            // These clients know only these two words; a purchase that is paid and begins later is active for them.
            status: attached.active || attached.status == Entitlement.Status.scheduled.rawValue ? "active" : "expired",
            startDate: Self.date(attached.startsAt.rawValue),
            endDate: attached.perpetual ? nil : Self.date(attached.expires_at))
    }

    private enum CodingKeys: String, CodingKey { case success, message, membership, source, stale }

    /// Formats a date as ISO 8601 with milliseconds, as the client's formatter requires.
    private static func date(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

private struct OldProduct: Encodable {
    struct Plan: Encodable {
        let plan_code: String
    }

    let id: Int64
    let product_id: String
    let product_name: String
    let price: Decimal
    let currency: String
    let membership_plan: Plan

    init(_ product: AppleProductView) {
        id = product.number
        product_id = product.productID
        product_name = product.name
        // The price in major units, exact, because it is parsed from the amount's decimal text.
        price = Decimal(string: product.price.decimal) ?? 0
        currency = product.price.currency.code
        membership_plan = Plan(plan_code: product.planCode)
    }
}

extension Shape {
    fileprivate static let appleProduct = named(
        "AppleProduct",
        .object([
            "id": .integer.noted("The SKU's number."), "product_id": .string, "product_name": .string,
            "price": .number.noted("In major units, 29.9."), "currency": .currency,
            "membership_plan": .object(["plan_code": .string]),
        ]))

    fileprivate static let verifiedMembership = named(
        "VerifiedMembership",
        .object(
            [
                "success": .boolean, "message": .string,
                "membership": .object([
                    "status": .words("active", "expired"), "startDate": .string.noted("`2024-10-08T10:00:00.000Z`."),
                    "endDate": .string.orNull.noted("Null when perpetual."),
                ]),
            ],
            optional: [
                "source": receiptSource.noted("Who says so, where the evidence is a receipt."),
                "stale": .boolean.noted("With `source`: Apple could not say where the purchase stands by now."),
            ]))
}
