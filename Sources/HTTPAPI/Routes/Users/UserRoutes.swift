import Domain
import Gateway
import HTTPTypes

/// Routes by which admins change users.
struct UserRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "eraseUser", .post, "/v1/admin/users/{user_id}/erase", .key([.admin]), .adminUsers,
                "Forgets who a user is",
                note: "Orders and purchases stay under an internal id, and nobody inherits them.",
                parameters: ["user_id": "The app's own id of the user, 1 to 128 characters."],
                body: .json(
                    .object(
                        [:],
                        optional: [
                            "reason": .string(1...500).orNull.noted("Stays in the audit: do not name the person.")
                        ])), answers: .data(.object(["erased": .boolean])), handle: erase)
        ]
    }

    private func erase(_ call: Call) async throws(GatewayError) -> Answer {
        let reason = try call.decode(EraseFields.self).reason
        guard reason?.hasScalars(1...500) ?? true else {
            throw .invalidRequest(field: "reason", reason: "must have 1 to 500 characters")
        }
        let user = try UserName.parse(call.parameter("user_id"))
        return try .json(try await gateway.users.erase(user, reason: reason, context: call.context))
    }
}

private struct EraseFields: Decodable {
    let reason: String?
}

/// Parses a user's name in a path, a query or a body.
enum UserName {
    static func parse(_ text: String) throws(GatewayError) -> ExternalUserID {
        guard let user = ExternalUserID(text) else {
            throw .invalidRequest(
                field: "user_id", reason: "must have 1 to 128 characters, none of them a control character")
        }
        return user
    }
}

extension Call {
    /// The key of the caller; always known on routes with `access: .key`.
    var callingKey: AuthenticatedKey {
        get throws(GatewayError) {
            guard case .key(let key) = caller else { throw .unauthenticated }
            return key
        }
    }

    /// The user in the path.
    var namedUser: ExternalUserID {
        get throws(GatewayError) { try UserName.parse(parameter("user_id")) }
    }
}
