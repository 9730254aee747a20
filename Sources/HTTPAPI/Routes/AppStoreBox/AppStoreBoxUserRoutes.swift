import Domain
import FoundationEssentials
import Gateway
import HTTPTypes

/// Routes by which the box's page signs its customers in, and shows what Paydesk makes of their purchases.
struct AppStoreBoxUserRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "signInBoxCustomer", .post, "/dev/appstore/users", .anyone, nil, "Finds or makes a user's token",
                answers: .json(.any), idempotency: .ignored, isLocal: true, errors: .bare, handle: signIn),
            Route(
                "readBoxUser", .get, "/dev/appstore/users/{app_account_token}", .anyone, nil,
                "What a user owns, by the token of the user's purchases", answers: .json(.any), isLocal: true,
                errors: .bare, handle: read),
        ]
    }

    private func signIn(_ call: Call) async throws(GatewayError) -> Answer {
        struct Fields: Decodable { let user_id: String }
        struct Body: Encodable {
            let user_id: String
            let app_account_token: String
        }
        let user = try UserName.parse(try call.decode(Fields.self).user_id)
        let status = try await gateway.entitlements.purchaseStatus(user: user).value
        return try .bare(Body(user_id: user.rawValue, app_account_token: status.app_account_token))
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        struct Body: Encodable {
            let user_id: String
            let status: PurchaseStatus
            let entitlements: EntitlementSnapshot
        }
        let token = try call.parameter("app_account_token").lowercased()
        guard token.utf8.count <= 64, let user = try await gateway.entitlements.findUser(appAccountToken: token) else {
            throw .notFound
        }
        return try .bare(
            Body(
                user_id: user.rawValue, status: try await gateway.entitlements.purchaseStatus(user: user).value,
                entitlements: try await gateway.entitlements.find(user: user).value))
    }
}

extension Answer {
    /// Encodes JSON without the envelope.
    static func bare(
        _ value: some Encodable, _ status: HTTPResponse.Status = .ok
    ) throws(GatewayError) -> Answer {
        .raw(
            status: status, contentType: "application/json; charset=utf-8", body: try encode(value),
            headers: [HTTPField(name: .cacheControl, value: "no-store")])
    }
}
