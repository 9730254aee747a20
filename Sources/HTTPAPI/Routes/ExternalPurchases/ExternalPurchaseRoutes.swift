import Domain
import Gateway
import HTTPTypes

/// Routes of tokens of purchases outside of the App Store (`docs/external-purchases.md`).
struct ExternalPurchaseRoutes {
    let gateway: Gateway

    var routes: [Route] {
        [
            Route(
                "keepExternalPurchaseToken", .post, "/v1/public/iap/apple/external-purchase-tokens", .user, .apple,
                "Keeps a token of an external purchase without an order",
                note: """
                    The same token again gives the same id. Another user's is a `conflict`. A user may hand in 100 new \
                    ones within a day.
                    """,
                body: .json(
                    .object([
                        "token": .string.noted("As StoreKit gives it: base64url of Apple's JSON.")
                    ])), answers: .data(.keptExternalToken), refuses: [.conflict], handle: keep),
            Route(
                "listExternalPurchases", .get, "/v1/admin/external-purchases", .key([.admin, .adminRead]), .adminOrders,
                "Tokens of external purchases, with their reports", note: "Newest first.",
                query: [
                    .query("state", .words(ExternalToken.State.self), "How its reports stand."),
                    .query("environment", .words(environments), "Of the token."),
                ] + Route.Query.page(of: "ext"), answers: .page(.externalToken), handle: list),
            Route(
                "reportExternalPurchase", .post, "/v1/admin/external-purchases/{id}/report", .key([.admin]),
                .adminOrders, "Reports a token as a duplicate",
                note: """
                    For a token of the type `SERVICES` or `ACQUISITION` whose transactions were reported on another \
                    token of the same user and time; else, and where line items were reported on it, `conflict`.
                    """,
                body: .json(
                    .object([
                        "status": .words([ExternalReportStatus.duplicateToken.rawValue]), "reason": .plain(1...500),
                    ])), answers: .data(.externalToken), refuses: [.notFound, .conflict], handle: report),
            Route(
                "retryExternalPurchase", .post, "/v1/admin/external-purchases/{id}/retry", .key([.admin]), .adminOrders,
                "Sends a token's refused reports again",
                note: """
                    Under the same request identifiers, with what was mended. It also lets an account send again whose key \
                    Apple refused.
                    """,
                body: .json(.object([:])), answers: .data(.externalToken), refuses: [.notFound], handle: retry),
        ]
    }

    private var environments: [String] { [Environment.production, .sandbox].map(\.rawValue) }

    private struct KeepFields: Decodable { let token: String }

    private struct ReportFields: Decodable {
        let status: String
        let reason: String
    }

    private func keep(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(KeepFields.self)
        return try .json(
            try await gateway.externalPurchases.keep(fields.token, user: call.user, context: call.context))
    }

    private func list(_ call: Call) async throws(GatewayError) -> Answer {
        let environment = try call.choice("environment", Environment.self)
        guard environment != .xcode else {
            throw .invalidRequest(field: "environment", reason: .words(environments))
        }
        let page = try await gateway.externalPurchases.list(
            try call.choice("state", ExternalToken.State.self), environment, cursor: call.cursor, limit: call.limit)
        return try await .page(page)
    }

    private func report(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(ReportFields.self)
        let status = ExternalReportStatus.duplicateToken.rawValue
        guard fields.status == status else {
            throw .invalidRequest(field: "status", reason: .words([status]))
        }
        guard fields.reason.hasScalars(1...500), fields.reason.isPlain else {
            throw .invalidRequest(field: "reason", reason: .length(1...500))
        }
        return try .json(
            try await gateway.externalPurchases.reportDuplicate(
                call.parameter("id"), reason: fields.reason, context: call.context))
    }

    private func retry(_ call: Call) async throws(GatewayError) -> Answer {
        _ = try call.decode(NoFields.self)
        return try .json(try await gateway.externalPurchases.retry(call.parameter("id"), context: call.context))
    }
}

extension Shape {
    fileprivate static let keptExternalToken = named(
        "KeptExternalPurchaseToken",
        .object([
            "id": .id("ext"), "external_purchase_id": .string.noted("Apple's id of the token."),
            "state": .words(ExternalToken.State.self),
        ]))

    private static let externalLineItem = object([
        "line_item_id": .string, "fact_id": .string.noted("`pay_…`, `ref_…` or `dsp_…`; of a trial `ord_…`."),
        "amount": .money.noted("With tax."), "erroneous": .boolean.noted("Whether it takes an earlier one back."),
    ])

    private static let externalReport = object([
        "request_identifier": .string, "status": .words(ExternalReportStatus.self),
        "state": .words("created", "unknown", "accepted", "refused"),
        "answer": .string.orNull.noted("Apple's faults, or the last trouble."),
        "line_items": .list(externalLineItem), "created_at": .time,
    ])

    fileprivate static let externalToken = named(
        "ExternalPurchaseToken",
        .object([
            "id": .id("ext"), "external_purchase_id": .string.noted("Apple's id of the token."),
            "environment": .words("Production", "Sandbox"),
            "token_type": .string.orNull.noted("Apple's word; null for a token of one purchase."),
            "bundle_id": .string, "source": .words(ExternalToken.Source.self),
            "user_id": .string.orNull.noted("Null where only Apple told of it, and after an erasure."),
            "created_at": .time, "due_at": .time.noted("When a token that led to nothing is reported."),
            "state": .words(ExternalToken.State.self), "orders": .list(.id("ord")),
            "reports": .list(externalReport),
        ]))
}
