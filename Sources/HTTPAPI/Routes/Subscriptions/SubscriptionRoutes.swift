import Domain
import Gateway
import HTTPTypes
import ProviderKit

/// Routes of a user's subscriptions, for the user, partners and admins.
struct SubscriptionRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "listSubscriptions", .get, "/v1/public/subscriptions", .user, sessions: [.portal], .subscriptions,
                "The user's subscriptions", query: Route.Query.page(of: "sub"), answers: .page(.subscription),
                handle: list),
            Route(
                "readSubscription", .get, "/v1/public/subscriptions/{id}", .user, sessions: [.portal], .subscriptions,
                "One subscription",
                answers: .data(.subscription), refuses: [.notFound], handle: read),
            Route(
                "listPartnerSubscriptions", .get, "/v1/partner/users/{user_id}/subscriptions",
                .key([.entitlementsRead]), .subscriptions, "A user's subscriptions, for a partner",
                note: "A user id that was never seen has none.", query: Route.Query.page(of: "sub"),
                parameters: ["user_id": "The app's own id of the user."], answers: .page(.subscription),
                refuses: [.notFound], handle: listOfUser),
            Route(
                "listUserSubscriptions", .get, "/v1/admin/users/{user_id}/subscriptions", .key([.admin, .adminRead]),
                .subscriptions, "A user's subscriptions, for an admin", note: "A user id that was never seen has none.",
                query: Route.Query.page(of: "sub"), parameters: ["user_id": "The app's own id of the user."],
                answers: .page(.subscription), refuses: [.notFound], handle: listOfUser),
            Route(
                "extendSubscription", .post, "/v1/admin/subscriptions/{id}/extend", .key([.admin]), .subscriptions,
                "Has the store give days to a subscriber",
                note: """
                    What the store's limits forbid is a `conflict`. `temporarily_unavailable` with `details.reason` \
                    means that the store may have done it: look at the subscription before another extension.
                    """,
                body: .json(
                    .object(
                        ["days": .integer(1...90)],
                        optional: [
                            "reason_code": .integer(0...3).orNull.noted(
                                "Apple's: 0 undeclared, 1 customer satisfaction, 2 other, 3 outage. Needed for a store's "
                                    + "subscription; one that Paydesk renews ignores it.")
                        ])), answers: .data(.oneOf([.subscriptionExtension, .subscription])),
                refuses: [.notFound, .conflict, .providerUnavailable], handle: extend),
        ] + actRoutes + adminRoutes
    }

    /// Acts of a user on an own subscription that Paydesk renews.
    private var actRoutes: [Route] {
        func act(
            _ id: String, _ name: String, _ summary: String, body: Shape = .object([:]), answers: Shape = .subscription,
            refuses: [ErrorID] = [], _ handle: @escaping @Sendable (Call) async throws(GatewayError) -> Answer
        ) -> Route {
            Route(
                id, .post, "/v1/public/subscriptions/{id}/\(name)", .user, sessions: [.portal], .subscriptions, summary,
                body: .json(body), answers: .data(answers),
                refuses: [.notFound, .conflict, .providerRejected] + refuses,
                handle: handle)
        }
        return [
            act("cancelSubscription", "cancel", "Ends a subscription with its period", cancel),
            act("resumeSubscription", "resume", "Takes a cancellation back", refuses: [.alreadyOwned], resume),
            act(
                "changeSubscription", "change", "Asks for another plan from the next period on",
                body: .object(["sku": .string]), change),
            act(
                "replacePaymentMethod", "payment-method", "Replaces the payment method", body: .retry,
                answers: .contract,
                refuses: [.requestInProgress, .noProviderAvailable, .providerUnavailable], replacePaymentMethod),
            act(
                "paySubscription", "pay", "Pays a refused renewal", body: .retry, answers: .contract,
                refuses: CheckoutRoutes.refusals + [.requestInProgress], pay),
            Route(
                "readPaymentMethod", .get, "/v1/public/subscriptions/{id}/payment-method", .user, sessions: [.portal],
                .subscriptions, "The open contract of a new payment method, again", answers: .data(.contract),
                refuses: [.notFound, .providerRejected], handle: readPaymentMethod),
        ]
    }

    private var adminRoutes: [Route] {
        [
            Route(
                "listAllSubscriptions", .get, "/v1/admin/subscriptions", .key([.admin, .adminRead]), .subscriptions,
                "Subscriptions of all users",
                note: "A page may be short although `next_cursor` goes on: a status is computed, not stored.",
                query: [
                    .query("status", .words(Subscription.Status.self), "Only those in this status."),
                    .query("sku", .string, "Only those of this SKU."),
                    .query("account", .string, "Only those of this account."),
                    .query("user_id", .string, "Only those of this user."),
                    .query("source", .words(SubscriptionSnapshot.Source.self), "Only those that this party renews."),
                ] + Route.Query.page(of: "sub"), answers: .page(.subscription), handle: listAll),
            Route(
                "importSubscription", .post, "/v1/admin/subscriptions/import", .key([.admin]), .subscriptions,
                "Takes over a subscription that runs elsewhere",
                note: "The provider verifies the mandate. The same `external_id` on the account again is the same one.",
                query: Route.Query.dryRun,
                body: .json(
                    .object(
                        [
                            "external_id": .string(1...255), "user_id": .string, "sku": .string, "account": .string,
                            "mandate": .object(["reference": .string], optional: ["customer": .string.orNull]),
                            "period_end": .time,
                        ], optional: ["period_start": .time.orNull, "price": .price.orNull])),
                answers: .data(.subscription), refuses: [.conflict, .providerUnavailable], handle: importOne),
            Route(
                "announcePrice", .post, "/v1/admin/skus/{id}/price-change", .key([.admin]), .subscriptions,
                "Announces a price for the subscriptions that run",
                note: """
                    It holds from each one's first period that starts at or after `effective_at`. A higher price needs \
                    the notice of `billing.notice_days`.
                    """,
                body: .json(.object(["prices": .list(.price, 1...200), "effective_at": .time])),
                answers: .data(.object(["id": .id("prc"), "affected": .integer])), refuses: [.skuNotFound],
                handle: announcePrice),
            Route(
                "readBilling", .get, "/v1/admin/billing", .key([.admin, .adminRead]), .subscriptions,
                "The hold of renewals", answers: .data(.billing), handle: readBilling),
            Route(
                "holdBilling", .post, "/v1/admin/billing", .key([.admin]), .subscriptions,
                "Holds every charge of a mandate, or goes on",
                note: "For a restored database, which does not know what the last days charged.",
                body: .json(
                    .object(
                        ["hold": .boolean],
                        optional: ["reason": .plain(0...500).orNull, "accept_unchecked": .boolean.orNull])),
                answers: .data(.billing), refuses: [.conflict], handle: holdBilling),
            Route(
                "cancelUserSubscription", .post, "/v1/admin/subscriptions/{id}/cancel", .key([.admin]), .subscriptions,
                "Ends a subscription that Paydesk renews",
                body: .json(
                    .object(
                        [:],
                        optional: [
                            "when": .words(SubscriptionActs.CancelTime.self).orNull.noted(
                                "`period_end` where it is left out."),
                            "refund": .words(SubscriptionActs.RefundChoice.self).orNull.noted(
                                "`none` where it is left out; another one needs `now`."),
                        ])), answers: .data(.subscription), refuses: [.notFound, .conflict, .providerRejected],
                handle: cancelForUser),
            Route(
                "resumeUserSubscription", .post, "/v1/admin/subscriptions/{id}/resume", .key([.admin]), .subscriptions,
                "Takes a cancellation back", body: .json(.object([:])), answers: .data(.subscription),
                refuses: [.notFound, .conflict, .alreadyOwned, .providerRejected], handle: resumeForUser),
            Route(
                "retrySubscription", .post, "/v1/admin/subscriptions/{id}/retry", .key([.admin]), .subscriptions,
                "Tries a refused renewal again", note: "Once in 60 seconds, else `rate_limited`.",
                body: .json(.object([:])), answers: .data(.subscription),
                refuses: [.notFound, .conflict, .providerRejected, .rateLimited], handle: retry),
        ]
    }

    /// Refuses an act on a subscription that is not the caller's, or has ended, before its body is looked at.
    private func requireRunning(_ call: Call) async throws(GatewayError) {
        try await gateway.subscriptionActs.requireRunning(call.parameter("id"), by: .user(call.user))
    }

    private func cancel(_ call: Call) async throws(GatewayError) -> Answer {
        try await requireRunning(call)
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.subscriptionActs.cancel(
                call.parameter("id"), by: .user(call.user), context: call.context))
    }

    private func resume(_ call: Call) async throws(GatewayError) -> Answer {
        try await requireRunning(call)
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.subscriptionActs.resume(
                call.parameter("id"), by: .user(call.user), context: call.context))
    }

    private func change(_ call: Call) async throws(GatewayError) -> Answer {
        try await requireRunning(call)
        let fields = try call.decode(ChangeFields.self)
        return try .json(
            try await gateway.subscriptionActs.change(
                call.parameter("id"), to: fields.sku, by: .user(call.user), context: call.context))
    }

    private func replacePaymentMethod(_ call: Call) async throws(GatewayError) -> Answer {
        try await requireRunning(call)
        let request = try request(call)
        let contract = try await gateway.subscriptionActs.replacePaymentMethod(
            call.parameter("id"), request, by: .user(call.user), context: call.context)
        return try .json(contract.speaking(call.languages))
    }

    /// Reads the body of an attempt; a portal's session may return to its own page.
    private func request(_ call: Call) throws(GatewayError) -> RetryRequest {
        var request = try call.decode(RetryFields.self).request(call)
        if let session = call.session {
            request.page = PortalPlace.card(
                try call.parameter("id"), of: session.id, at: gateway.settings.publicURL)
        }
        return request
    }

    private func readPaymentMethod(_ call: Call) async throws(GatewayError) -> Answer {
        let contract = try await gateway.subscriptionActs.paymentMethodContract(
            call.parameter("id"), by: .user(call.user))
        return try .json(contract.speaking(call.languages))
    }

    private func pay(_ call: Call) async throws(GatewayError) -> Answer {
        try await requireRunning(call)
        let request = try request(call)
        let contract = try await gateway.subscriptionActs.pay(
            call.parameter("id"), request, by: .user(call.user), context: call.context)
        return try .json(contract.speaking(call.languages))
    }

    private func cancelForUser(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(CancelFields.self)
        return try .json(
            try await gateway.subscriptionActs.cancel(
                call.parameter("id"), at: try fields.time(), refund: try fields.choice(), context: call.context))
    }

    private func resumeForUser(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(
            try await gateway.subscriptionActs.resume(call.parameter("id"), by: .admin, context: call.context))
    }

    private func listAll(_ call: Call) async throws(GatewayError) -> Answer {
        var query = SubscriptionQuery(
            status: try call.choice("status"), sku: call.query["sku"], account: call.query["account"],
            source: try call.choice("source"))
        query.user = try call.query["user_id"].map { (name) throws(GatewayError) in try UserName.parse(name) }
        let page = try await gateway.subscriptionList.list(query, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func importOne(_ call: Call) async throws(GatewayError) -> Answer {
        let imported = try call.decode(ImportFields.self).imported()
        return try .json(
            try await gateway.subscriptionImport.run(
                imported, isDry: try call.flag("dry_run") == true, context: call.context))
    }

    private func announcePrice(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(PriceChangeFields.self)
        return try .json(
            try await gateway.priceAnnouncements.announce(
                call.parameter("id"), fields.prices, effectiveAt: Timestamp(fields.effective_at),
                context: call.context))
    }

    private func readBilling(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.billingHold.read())
    }

    private func holdBilling(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(HoldFields.self)
        guard fields.hold else {
            return try .json(
                try await gateway.billingHold.end(
                    acceptsUnchecked: fields.accept_unchecked ?? false, context: call.context))
        }
        guard let reason = fields.reason, reason.hasScalars(1...500), reason.isPlain else {
            throw .invalidRequest(field: "reason", reason: .length(1...500))
        }
        return try .json(try await gateway.billingHold.begin(reason: reason, context: call.context))
    }

    private func retry(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(try await gateway.subscriptionActs.retry(call.parameter("id"), context: call.context))
    }

    private func extend(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(ExtensionFields.self)
        guard RenewalExtension.dayRange.contains(fields.days) else {
            throw .invalidRequest(field: "days", reason: "must be 1 to 90")
        }
        let id = try call.parameter("id")
        if try await gateway.subscriptions.isManaged(id) {
            return try .json(
                try await gateway.subscriptionActs.extend(id, days: fields.days, context: call.context))
        }
        guard let reason = fields.reason_code else {
            throw .invalidRequest(field: "reason_code", reason: "is missing")
        }
        return try .json(
            try await gateway.subscriptionExtensions.extend(
                id, days: fields.days, reasonCode: reason, context: call.context))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        try await list(call, of: call.user)
    }

    private func read(_ call: Call) async throws(GatewayError) -> Answer {
        try .json(try await gateway.subscriptions.find(call.parameter("id"), user: call.user))
    }

    private func listOfUser(_ call: Call) async throws(GatewayError) -> Answer {
        try await list(call, of: UserName.parse(call.parameter("user_id")))
    }

    private func list(_ call: Call, of user: ExternalUserID) async throws(GatewayError) -> Answer {
        let page = try await gateway.subscriptions.list(user: user, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }
}

extension Shape {
    static let subscription = named(
        "Subscription",
        .object([
            "id": .id("sub"), "source": .words("app_store", "paydesk").noted("The party that renews it."),
            "manage": .words("app_store", "paydesk").noted("Where its user manages it."),
            "sku": .string.orNull.noted("Of the current period's product."),
            "status": .words(Subscription.Status.self), "product_id": .string.orNull,
            "auto_renew_product_id": .string.orNull.noted("The product of the next period; null where none follows."),
            "will_renew": .boolean, "expires_at": .time, "grace_expires_at": .time.orNull,
            "environment": .words(Environment.self), "offer": offer.orNull,
            "price_increase": .words("pending", "accepted").orNull,
            "commitment_expires_at": .time.orNull.noted("The end of a commitment that is billed by the month."),
            "is_family_shared": .boolean, "original_transaction_id": .string.orNull,
            "orders": .list(.id("ord")).noted("The newest 100."),
        ]).adding(managedParts))

    /// The length of a subscription's period.
    static let billingPeriod = named(
        "BillingPeriod", .object(["unit": .words(BillingPeriod.Unit.self), "count": .integer]))

    /// The members that are null, false or 0 for a store's subscription.
    private static let managedParts: KeyValuePairs<String, Shape> = [
        "period": .billingPeriod.orNull,
        "period_start": .time.orNull, "period_index": .integer.orNull.noted("0 is the first period, or the trial."),
        "trial": .boolean, "next_charge_at": .time.orNull, "next_amount": .money.orNull,
        "cancel_at_period_end": .boolean, "change_to": .string.orNull.noted("The SKU from the next period on."),
        "price_change": .object(["amount": .money, "effective_at": .time, "applies_at": .time]).orNull,
        "failed_at": .time.orNull.noted("The first refusal of the renewal that is due."), "tries": .integer,
        "retry_at": .time.orNull, "refusal": .words(ChargeRefusal.self).orNull,
        "payment_method": .object([
            "label": .string.orNull, "brand": .string.orNull, "last4": .string.orNull, "exp_month": .integer.orNull,
            "exp_year": .integer.orNull,
        ]).orNull,
        "ended_at": .time.orNull, "end_reason": .words(ManagedSubscription.EndReason.self).orNull,
    ]

    fileprivate static let billing = named(
        "BillingState",
        .object(["hold": .object(["since": .time, "reason": .string, "due": .integer, "unchecked": .integer]).orNull]))

    /// An offer; unknown members are null.
    private static let offer = object([
        "type": .string.noted("introductory, promotional, offer_code, win_back, or a number of the store's."),
        "identifier": .string.orNull,
        "discount_type": .string.orNull.noted("Apple's word: FREE_TRIAL, PAY_AS_YOU_GO, PAY_UP_FRONT."),
        "period": .string.orNull.noted("An ISO 8601 duration, `P1M`."),
    ])

    fileprivate static let subscriptionExtension = named(
        "SubscriptionExtension",
        .object([
            "id": .id("sub"), "days": .integer,
            "expires_at": .time.orNull.noted("When the current period ends now; null where the store did not say."),
        ]))
}
