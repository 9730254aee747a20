import Domain
import Gateway
import HTTPTypes

/// Routes of grants that admins and partners give and revoke by hand.
struct GrantRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "createGrant", .post, "/v1/admin/users/{user_id}/grants", .key([.admin]), .adminUsers,
                "Gives a user a SKU without an order",
                note: "For a number of days it stacks like a bought pass; until a time it does not.",
                parameters: ["user_id": "The app's own id of the user, 1 to 128 characters."], body: .json(.newGrant),
                answers: .data(.entitlement), refuses: [.skuNotFound], handle: grant),
            Route(
                "revokeGrant", .delete, "/v1/admin/grants/{id}", .key([.admin]), .adminUsers,
                "Takes a grant back for good", answers: .data(.entitlement), refuses: [.notFound], handle: revoke),
            Route(
                "createPartnerGrant", .post, "/v1/partner/users/{user_id}/grants", .key([.entitlementsWrite]), .partner,
                "Gives a user a SKU without an order",
                note: """
                    For so many days it stacks like a bought pass, until a time it does not; with neither it lasts as \
                    long as the SKU says. Both together are refused.
                    """, parameters: ["user_id": "The app's own id of the user."], body: .json(.newGrant),
                answers: .data(.entitlement), refuses: [.skuNotFound], handle: grantByPartner),
        ]
    }

    private func grant(_ call: Call) async throws(GatewayError) -> Answer {
        let user = try UserName.parse(call.parameter("user_id"))
        let request = try call.decode(GrantFields.self).request()
        return try .json(try await gateway.grants.create(request, to: user, by: .admin, context: call.context))
    }

    private func revoke(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.grants.revoke(call.parameter("id"), context: call.context))
    }

    private func grantByPartner(_ call: Call) async throws(GatewayError) -> Answer {
        let request = try call.decode(GrantFields.self).request()
        return try .json(
            try await gateway.grants.create(request, to: call.namedUser, by: .partner, context: call.context))
    }
}

struct GrantFields: Decodable {
    let sku: String
    let duration_days: Int64?
    let expires_at: Timestamp?
    let reason: String

    func request() throws(GatewayError) -> GrantRequest {
        guard reason.hasScalars(1...500) else {
            throw .invalidRequest(field: "reason", reason: "must have 1 to 500 characters")
        }
        return GrantRequest(sku: sku, durationDays: duration_days, expiresAt: expires_at, reason: reason)
    }
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
}
