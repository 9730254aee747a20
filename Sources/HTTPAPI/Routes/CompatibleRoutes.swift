import Domain
import Foundation
import Gateway
import HTTPTypes
import ProviderKit

/// The shapes of other clients, without the envelope (`api.md` section 7).
struct CompatibleRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(.get, "/apple-iap/products", .anyone) { (_) async throws(GatewayError) in try await products() },
            Endpoint(.post, "/apple-iap/verify", .user, bodyLimit: 2 << 20, idempotency: .ignored, errors: .flat) {
                (call) async throws(GatewayError) in try await verify(call)
            },
        ]
    }

    /// One item for each literal Apple product id.
    private func products() async throws(GatewayError) -> Answer {
        struct Products: Encodable {
            let success: Bool
            let data: [OldProduct]
        }
        let items = try await gateway.appleProducts().map(OldProduct.init)
        return try Self.json(.ok, Products(success: true, data: items))
    }

    private func verify(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(VerifyFields.self)
        try call.charge(ReceiptRoutes.signatures)
        let verified = try await gateway.verifyReceipt(
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
    /// Who says so, where the evidence is a receipt of many purchases.
    let source: ReceiptSource?
    /// Present where Apple could not say where the purchase stands by now.
    let stale: Bool?

    init(_ verified: VerifiedPurchase) {
        let attached = verified.attached
        source = verified.source
        stale = verified.source.map { _ in verified.isStale }
        membership = Membership(
            // What is paid and begins later is no end of anything for a client that knows these two words.
            status: attached.active || attached.status == Entitlement.Status.scheduled.rawValue ? "active" : "expired",
            startDate: Self.date(attached.startsAt.rawValue),
            endDate: attached.perpetual ? nil : Self.date(attached.expires_at))
    }

    private enum CodingKeys: String, CodingKey { case success, message, membership, source, stale }

    /// ISO 8601 with milliseconds, as the client's formatter reads it.
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
        // Major units, exact: the number is read from the amount's own decimal text.
        price = Decimal(string: product.price.decimal) ?? 0
        currency = product.price.currency.code
        membership_plan = Plan(plan_code: product.planCode)
    }
}
