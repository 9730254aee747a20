import Domain
import Gateway
import HTTPTypes

/// Routes of sessions (`docs/api.md` section 13).
struct SessionRoutes {
    let gateway: Gateway

    var routes: [Route] {
        let shownOnce = """
            The token is shown only here; a replay answers `conflict` with the session's id in `details.resource`.
            """
        return [
            Route(
                "readSession", .get, "/v1/public/session", .session, sessions: [.checkout, .portal], .sessions,
                "What the session shows", note: "The page, its module and every other client show the same `state`.",
                answers: .data(.session), handle: read),
            Route(
                "createSession", .post, "/v1/public/sessions", .user, .sessions, "Makes a session of the user's own",
                note: shownOnce, body: .json(.newSession), answers: .data(.issuedSession),
                refuses: [.skuNotFound, .conflict], idempotency: .outcomeOnly, handle: create),
            Route(
                "endSession", .delete, "/v1/public/sessions/{id}", .user, .sessions, "Ends a session",
                note: "One that the user made; twice is the same.", answers: .data(.endedSession),
                refuses: [.notFound]
            ) { (call) async throws(GatewayError) in try await end(call, by: .user(call.user)) },
            Route(
                "createPartnerSession", .post, "/v1/partner/sessions", .key([.checkoutWrite]), .partner,
                "Makes a session for a user", note: shownOnce, body: .json(.newUserSession),
                answers: .data(.issuedSession), refuses: [.skuNotFound, .conflict], idempotency: .outcomeOnly
            ) { (call) async throws(GatewayError) in try await create(call, by: .partner(call.callingKey.partner)) },
            Route(
                "endPartnerSession", .delete, "/v1/partner/sessions/{id}", .key([.checkoutWrite]), .partner,
                "Ends a session", note: "One that the partner made; twice is the same.",
                answers: .data(.endedSession), refuses: [.notFound]
            ) { (call) async throws(GatewayError) in try await end(call, by: .partner(call.callingKey.partner)) },
            Route(
                "createAdminSession", .post, "/v1/admin/sessions", .key([.admin]), .adminUsers,
                "Makes a session for a user: a payment link", note: shownOnce, body: .json(.newUserSession),
                answers: .data(.issuedSession), refuses: [.skuNotFound, .conflict], idempotency: .outcomeOnly
            ) { (call) async throws(GatewayError) in try await create(call, by: .admin) },
            Route(
                "listUserSessions", .get, "/v1/admin/sessions", .key([.admin, .adminRead]), .adminUsers,
                "A user's sessions, without their tokens", note: "Newest first, for 30 days after their end.",
                query: [.query("user_id", .userID, "The app's own id of the user.", isRequired: true)]
                    + Route.Query.page(of: "ses"), answers: .page(.listedSession), handle: list),
            Route(
                "endAdminSession", .delete, "/v1/admin/sessions/{id}", .key([.admin]), .adminUsers,
                "Ends any session", note: "Twice is the same.", answers: .data(.endedSession), refuses: [.notFound]
            ) { (call) async throws(GatewayError) in try await end(call, by: .admin) },
        ]
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        guard let session = call.session else { throw .needsSession }
        // A language that was chosen for the pages is the one of what they show.
        let languages = (session.session.locale.map { [$0] } ?? []) + call.languages
        return try .json(try await gateway.sessionReading.find(session).speaking(languages))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        guard let name = call.query["user_id"] else { throw .invalidRequest(field: "user_id", reason: "is missing") }
        let page = try await gateway.sessions.list(of: UserName.parse(name), cursor: call.cursor, limit: call.limit)
        return try await .namedPage(page)
    }

    private func create(_ call: Call) async throws(GatewayError) -> Answer {
        let request = try await call.decode(NewSessionFields.self).request(gateway)
        return try .json(
            try await gateway.sessions.make(request, for: call.user, by: .user, context: call.context))
    }

    private func create(_ call: Call, by maker: Session.Maker) async throws(GatewayError) -> Answer {
        let fields = try call.decode(UserSessionFields.self)
        let user = try fields.user
        let request = try await fields.session.request(gateway)
        return try .json(try await gateway.sessions.make(request, for: user, by: maker, context: call.context))
    }

    private func end(_ call: Call, by ender: SessionEnder) async throws(GatewayError) -> Answer {
        try .json(try await gateway.sessions.end(call.parameter("id"), by: ender, context: call.context))
    }
}

extension Shape {
    fileprivate static let newSession = named("NewSession", newSessionMembers)
    fileprivate static let newUserSession = named(
        "NewUserSession", newSessionMembers.adding(["user_id": .userID]))

    private static let types = ContractType.known.map(\.rawValue)

    private static let newSessionMembers = object(
        ["purpose": .words(Session.Purpose.self).shown(#""checkout""#)],
        optional: [
            "skus": .list(.code, 0...50).orNull.noted(
                "What is on offer; without one every SKU that platform and currency can be sold."),
            "quantity": .integer(1...1_000).orNull.noted("More than 1 is for exactly one SKU."),
            "days": .integer(1...3_660).orNull.noted("The option of the only SKU."),
            "currency": .knownCurrency.orNull.noted("The configured `default_currency` where it is left out."),
            "platform": .words(Platform.self).orNull.noted("`web` where it is left out."),
            "provider": .string.orNull.noted("An account's id, or a kind.").shown("null"),
            "accept": .list(.words(types), 1...20).orNull.noted(
                "The contract types that may be offered; the first five where left out, and inside WeChat its own."),
            "return_url": .sentAddress.orNull.noted(
                "Where the payer goes afterwards; one of the allowed `return_urls`."),
            "cancel_url": .sentAddress.orNull.noted("Where the payer goes without an order."),
            "locale": .words(Session.locales).orNull.noted("The language of the pages; else the browser's."),
            "metadata": .map(.string(0...1_000), keys: .string(1...64), 0...50).orNull.noted(
                "Goes to the orders; never shown to the session."),
            "expires_in": .integer(60...86_400).orNull.noted(
                "Seconds; 1,800 for `checkout` and 900 for `portal` where it is left out."
            ).shown("1800"),
            "external_purchase_token": .string.orNull.shown("null"),
            "storefront": .string(3...3, pattern: "[A-Z]{3}").orNull.noted("ISO 3166 alpha-3.").shown("null"),
        ])

    fileprivate static let issuedSession = named(
        "IssuedSession",
        .object([
            "id": .id("ses"), "purpose": .words(Session.Purpose.self),
            "url": .address.noted("The page, for the payer's browser."),
            "token": .string.noted("`pds_…`, to be sent as the bearer token.").shown(#""pds_EXAMPLE""#),
            "expires_at": .time.noted("Until then it may make an order or another attempt."),
            "readable_until": .time.noted("Until then it may read, cancel and refresh; grows with an order."),
        ]))

    fileprivate static let listedSession = named(
        "ListedSession",
        .object([
            "id": .id("ses"), "purpose": .words(Session.Purpose.self), "user_id": .string,
            "maker": .string.noted("`user`, `admin` or `partner:acme`."), "skus": .list(.string),
            "currency": .currency.orNull, "provider": .string.orNull, "created_at": .time, "expires_at": .time,
            "readable_until": .time, "ended_at": .time.orNull.noted("Null for one that nobody ended."),
        ]))

    fileprivate static let endedSession = named("EndedSession", .object(["id": .id("ses"), "ended_at": .time]))

    private static let branding = named(
        "Branding",
        .object([
            "name": .string, "logo_url": .string.orNull, "accent": .string.shown(##""#0a6cff""##),
            "support_url": .address.orNull, "terms_url": .address.orNull, "privacy_url": .address.orNull,
            "merchant_lines": .list(.string),
            "test": .boolean.noted("In development, and where every enabled account is in its test mode."),
        ]))

    fileprivate static let session = named(
        "Session",
        .object(
            [
                "id": .id("ses"), "purpose": .words(Session.Purpose.self), "skus": .list(.string),
                "chosen": .object(["sku": .string, "days": .integer.orNull]).orNull.noted(
                    "The only SKU, or the payer's choice."),
                "quantity": .integer, "days": .integer.orNull, "currency": .currency.orNull,
                "platform": .words(Platform.self),
                "provider": .string.orNull, "accept": .list(.words(types)), "return_url": .address.orNull,
                "cancel_url": .address.orNull, "locale": .words(Session.locales).orNull, "created_at": .time,
                "expires_at": .time, "readable_until": .time, "state": .words(CashierState.self).orNull,
                "reason": .string.orNull, "order": .order.orNull, "contract": .contract.orNull,
                "granted": .object([
                    "expires_at": .time.orNull, "perpetual": .boolean, "units": .map(.integer),
                ]).orNull.noted("What a paid order gave."),
                "terms": .map(.string).noted("The sentence of each subscription that Paydesk renews, by SKU."),
                "branding": branding,
            ],
            optional: [
                "manage": .words(SubscriptionSnapshot.Source.self).noted(
                    "Where the subscription is managed that keeps the only SKU from being sold again.")
            ]))
}
