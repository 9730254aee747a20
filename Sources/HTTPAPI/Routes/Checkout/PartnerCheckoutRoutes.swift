import Domain
import Gateway
import HTTPTypes

/// Routes of checkouts that a partner's server makes for a user.
struct PartnerCheckoutRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "openPartnerCheckout", .post, "/v1/partner/checkout", .key([.checkoutWrite]), .partner,
                "Makes a user's order and the contract to pay it", note: "No other partner sees the order.",
                body: .json(.partnerCheckout), answers: .data(.contract),
                refuses: CheckoutRoutes.refusals, idempotency: .storedWithContract(claims: .withObject),
                handle: checkout)
        ]
    }

    private func checkout(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(PartnerCheckoutFields.self)
        let user = try UserName.parse(fields.user_id)
        let request = try fields.checkout.request(gateway)
        let contract = try await gateway.cashier.open(
            request, user: user, partner: call.callingKey.partner, context: call.context)
        return try .json(contract)
    }
}

/// The body of a partner's checkout: the user and a checkout.
private struct PartnerCheckoutFields: Decodable {
    let user_id: String
    let checkout: CheckoutFields

    private enum CodingKeys: CodingKey { case user_id }

    init(from decoder: any Decoder) throws {
        user_id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .user_id)
        checkout = try CheckoutFields(from: decoder)
    }
}

extension Shape {
    fileprivate static let partnerCheckout = named(
        "PartnerCheckout",
        checkoutMembers.adding(["sku": .string, "platform": .words(Platform.self), "user_id": .userID]))
}
