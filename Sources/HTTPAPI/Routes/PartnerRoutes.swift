import Domain
import Gateway
import HTTPTypes

/// What partners' servers may do for users (`api.md` section 10); webhooks have routes of their own.
struct PartnerRoutes {
    let gateway: Gateway

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .get, "/v1/partner/users/{user_id}/entitlements", .key([.entitlementsRead]), handle: entitlements),
            Endpoint(
                .post, "/v1/partner/users/{user_id}/balances/{unit}/debit", .key([.entitlementsWrite]), handle: debit),
            Endpoint(.post, "/v1/partner/users/{user_id}/grants", .key([.entitlementsWrite]), handle: grant),
            Endpoint(.post, "/v1/partner/checkout", .key([.checkoutWrite]), handle: checkout),
            Endpoint(.get, "/v1/partner/orders", .key([.ordersRead]), handle: orders),
            Endpoint(.get, "/v1/partner/orders/{id}", .key([.ordersRead]), handle: order),
            Endpoint(.post, "/v1/partner/orders/{id}/cancel", .key([.checkoutWrite]), handle: cancel),
            Endpoint(.post, "/v1/partner/orders/{id}/refunds", .key([.refundsWrite]), handle: refund),
            Endpoint(.get, "/v1/partner/events", .key([.eventsRead]), handle: events),
        ]
    }

    private func entitlements(_ call: Call) async throws(GatewayError) -> Answer {
        .tagged(try await gateway.entitlements.find(user: call.namedUser).json)
    }

    private func debit(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(DebitFields.self)
        let balance = try await gateway.wallets.debit(
            fields.amount, of: call.parameter("unit"), from: call.namedUser, reason: fields.reason ?? "",
            context: call.context)
        return try .json(balance)
    }

    private func grant(_ call: Call) async throws(GatewayError) -> Answer {
        let request = try call.decode(GrantFields.self).request()
        return try .json(
            try await gateway.grants.create(request, to: call.namedUser, by: .partner, context: call.context))
    }

    private func checkout(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(PartnerCheckoutFields.self)
        let user = try UserName.parse(fields.user_id)
        let request = try fields.checkout.request(gateway)
        let contract = try await gateway.cashier.open(
            request, user: user, partner: call.callingKey.partner, context: call.context)
        return try .json(contract)
    }

    private func orders(_ call: Call) async throws(GatewayError) -> Answer {
        let page = try await gateway.orders.list(
            call.orderQuery, visibleTo: call.callingKey.partner, cursor: call.cursor, limit: call.limit)
        return try await .namedPage(page)
    }

    private func order(_ call: Call) async throws(GatewayError) -> Answer {
        try .namedJSON(try await gateway.orders.find(call.parameter("id"), visibleTo: call.callingKey.partner))
    }

    private func cancel(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.orderClosing.cancel(
                call.parameter("id"), visibleTo: call.callingKey.partner, context: call.context))
    }

    private func refund(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(RefundFields.self)
        return try .json(
            try await gateway.refunds.request(
                call.parameter("id"), amount: fields.amount, reason: fields.checkedReason(),
                visibleTo: call.callingKey.partner, context: call.context))
    }

    private func events(_ call: Call) async throws(GatewayError) -> Answer {
        let (after, cursor) = (try call.sequence("after"), try call.sequence("cursor"))
        let feed = try await gateway.events.list(
            after: after ?? cursor ?? 0, key: call.callingKey, limit: call.limit)
        return .data(feed.json)
    }
}

private struct DebitFields: Decodable {
    let amount: Int64
    let reason: String?
}

/// A checkout, and whom it is for.
private struct PartnerCheckoutFields: Decodable {
    let user_id: String
    let checkout: CheckoutFields

    private enum CodingKeys: CodingKey { case user_id }

    init(from decoder: any Decoder) throws {
        user_id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .user_id)
        checkout = try CheckoutFields(from: decoder)
    }
}

extension Call {
    /// The key that calls; endpoints with `access: .key` always have one.
    fileprivate var callingKey: AuthenticatedKey {
        get throws(GatewayError) {
            guard case .key(let key) = caller else { throw .unauthenticated }
            return key
        }
    }

    /// A query parameter that must be the number of an event, or 0.
    fileprivate func sequence(_ name: String) throws(GatewayError) -> Int64? {
        let number = try integer(name)
        guard (number ?? 0) >= 0 else { throw .invalidRequest(field: name, reason: "must be an integer from 0") }
        return number
    }

    /// The user whom the path names.
    fileprivate var namedUser: ExternalUserID {
        get throws(GatewayError) { try UserName.parse(parameter("user_id")) }
    }
}
