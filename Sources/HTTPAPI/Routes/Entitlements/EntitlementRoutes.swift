import Domain
import FoundationEssentials
import Gateway
import HTTPTypes

/// Routes of a user's entitlements and their explanation, for the user, partners and admins (`docs/api.md` section 5).
struct EntitlementRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "readEntitlements", .get, "/v1/public/entitlements", .user, sessions: [.portal], .entitlements,
                "What the user owns now",
                note: """
                    A user who was never seen owns nothing. With `Accept: application/jwt` it is a signed snapshot, which \
                    an app can believe while it is offline; `GET /.well-known/jwks.json` has the keys.
                    """,
                answers: .tagged(.entitlements),
                or: [Route.Other(status: 200, note: "eyJhbGciOiJFUzI1NiJ9.e30.c2ln", mediaType: "application/jwt")],
                handle: read),
            Route(
                "explainEntitlements", .get, "/v1/public/entitlements/explain", .user, .entitlements,
                "The facts that led to what the user owns",
                note: "In the language of `Accept-Language`; of orders, purchases and balances the latest 200.",
                query: [.query("sku", .string, "Only what concerns this SKU.")], answers: .data(.explanation),
                refuses: [.skuNotFound], handle: explain),
            Route(
                "explainUserEntitlements", .get, "/v1/admin/users/{user_id}/entitlements/explain",
                .key([.admin, .adminRead]), .adminUsers, "Why a user owns what the user owns",
                note: "With the reasons that the staff noted.",
                query: [.query("sku", .string, "Only what is about it.")],
                parameters: ["user_id": "The app's own id of the user, 1 to 128 characters."],
                answers: .data(.explanation), refuses: [.skuNotFound], handle: explainToStaff),
            Route(
                "readUserEntitlements", .get, "/v1/admin/users/{user_id}/entitlements", .key([.admin, .adminRead]),
                .adminUsers, "What a user owns", note: "Who was never seen owns nothing.",
                parameters: ["user_id": "The app's own id of the user, 1 to 128 characters."],
                answers: .tagged(.entitlements), handle: readOfUser),
            Route(
                "readPartnerEntitlements", .get, "/v1/partner/users/{user_id}/entitlements", .key([.entitlementsRead]),
                .partner, "What a user owns", note: "A user id that was never seen owns nothing.",
                parameters: ["user_id": "The app's own id of the user."], answers: .tagged(.entitlements),
                handle: entitlements),
        ]
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        guard AcceptMedia.prefersSnapshot(call.request.headerFields[.accept]) else {
            return .tagged(try await gateway.entitlements.find(user: call.user).json, vary: "Accept")
        }
        let snapshot = try await gateway.signedSnapshots.sign(for: call.user)
        return .raw(
            status: .ok, contentType: AcceptMedia.snapshot, body: Data(snapshot.utf8),
            headers: [
                HTTPField(name: .cacheControl, value: "no-store"), HTTPField(name: .vary, value: "Accept"),
            ])
    }

    private func explain(_ call: Call) async throws(GatewayError) -> Answer {
        try await explain(call, user: call.user, to: .user)
    }

    private func explainToStaff(_ call: Call) async throws(GatewayError) -> Answer {
        try await explain(call, user: UserName.parse(call.parameter("user_id")), to: .staff)
    }

    private func explain(
        _ call: Call, user: ExternalUserID, to reader: Explanation.Reader
    ) async throws(GatewayError) -> Answer {
        try .json(
            try await gateway.reports.explain(
                user: user, sku: call.query["sku"], reader: reader, languages: call.languages))
    }

    private func readOfUser(_ call: Call) async throws(GatewayError) -> Answer {
        let user = try UserName.parse(call.parameter("user_id"))
        return .tagged(try await gateway.entitlements.find(user: user).json)
    }

    private func entitlements(_ call: Call) async throws(GatewayError) -> Answer {
        .tagged(try await gateway.entitlements.find(user: call.namedUser).json)
    }
}

extension Shape {
    /// All entitlements of a user.
    static let entitlements = named(
        "Entitlements",
        .object([
            "user_id": .string, "version": .integer.noted("Grows with every change; 0 for a user never seen."),
            "active": .boolean, "tier": .string.noted("Of the membership; empty where there is none."),
            "expires_at": .time.orNull.noted("Null when nothing is active or when it is perpetual."),
            "tier_expires_at": .time.orNull.noted("The end of the tier that is shown, which a lower tier may outlast."),
            "perpetual": .boolean, "next_change_at": .time.orNull.noted("When time alone changes this answer."),
            "tiers": .list(
                .object([
                    "tier": .string, "rank": .integer, "expires_at": .time.orNull, "perpetual": .boolean,
                ])),
            "entitlements": .list(entitlement), "balances": .map(.integer).noted("By unit."),
            "sandbox_balances": .map(.integer).noted("By unit, of Sandbox and Xcode."),
        ]))

    /// An entitlement of a user.
    static let entitlement = named(
        "Entitlement",
        .object([
            "id": .id("grt"), "sku": .string, "kind": .words(SKU.Kind.self), "tier": .string,
            "status": .words(Entitlement.Status.self), "starts_at": .time, "expires_at": .time.orNull,
            "perpetual": .boolean, "will_renew": .boolean, "environment": .words(Environment.self),
            "source": .object([
                "type": .words(Grant.SourceKind.self), "id": .string, "order_id": .id("ord").orNull,
            ]),
            "attributes": .map(.any).noted("The SKU's."),
        ]))

    /// The reasons for a user's entitlements.
    static let explanation = named(
        "Explanation",
        .object([
            "user_id": .string, "sku": .string.orNull.noted("Null where it is about everything."),
            "active": .boolean.noted("Whether the SKU is owned now; without one, whether there is a membership."),
            "facts": .list(
                .object([
                    "at": .time, "type": .string, "text": .string.noted("A sentence for people."),
                    "order_id": .id("ord").orNull, "grant_id": .id("grt").orNull,
                ])
            ).noted("Oldest first."),
            "conclusion": .string.noted("Sentences for people."),
        ]))
}
