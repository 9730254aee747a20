import Domain
import Foundation
import Gateway
import HTTPTypes
import ProviderKit

/// Routes of the pay pages of providers that have their own, at `/{kind}/{payment_id}`.
struct PayPageRoutes {
    let gateway: Gateway

    private static let formLimit = 8 << 10

    var routes: [Route] {
        let backToTheApp = Route.Other(status: 303, note: "Back to the app, at `Location`; no body.")
        return playRoutes
            + gateway.registry.pageKinds.flatMap { kind in
                [
                    Route(
                        "showPayPage_\(kind)", .get, "/\(kind)/{payment_id}", .anyone, .payPages,
                        "The page on which the payer pays", answers: .other("text/html", "The page."),
                        or: [backToTheApp],
                        refuses: [.notFound]
                    ) { (call) async throws(GatewayError) in
                        let payment = try call.parameter("payment_id")
                        return try Self.show(
                            try await gateway.payPages.page(kind: kind, payment: payment, for: Self.visitor(call)))
                    },
                    Route(
                        "actOnPayPage_\(kind)", .post, "/\(kind)/{payment_id}", .anyone, .payPages,
                        "What the payer does on the page",
                        body: .other("The page's form, `application/x-www-form-urlencoded`, at most 8 KiB."),
                        bodyLimit: Self.formLimit, answers: .other("text/html", "The page as it is afterwards."),
                        or: [
                            backToTheApp,
                            Route.Other(
                                status: 400, note: "The form does not fit; a page says what is wrong.",
                                mediaType: "text/html"),
                        ], refuses: [.notFound], idempotency: .ignored
                    ) {
                        (call) async throws(GatewayError) in
                        let form = Dictionary(FormDecoder.decode(String(decoding: call.body, as: UTF8.self))) {
                            first, _ in
                            first
                        }
                        let payment = try call.parameter("payment_id")
                        return try Self.show(
                            try await gateway.payPages.act(
                                kind: kind, payment: payment, form: form, for: Self.visitor(call)))
                    },
                ]
            }
    }

    /// Routes by which tests and demonstrations play the payer and the bank of mandates.
    private var playRoutes: [Route] {
        gateway.registry.playedKinds.flatMap { kind in
            [
                Route(
                    "playMandate_\(kind)", .post, "/\(kind)/mandates/{id}", .anyone, .payPages,
                    "Says how later charges of a subscription end",
                    note: "`renewals` is one of the words of the page; `ended=1` ends the mandate.",
                    body: .other("A form, `application/x-www-form-urlencoded`, at most 8 KiB."),
                    bodyLimit: Self.formLimit, answers: .data(.object(["played": .boolean])), refuses: [.notFound],
                    idempotency: .ignored
                ) { (call) async throws(GatewayError) in
                    let form = Dictionary(FormDecoder.decode(String(decoding: call.body, as: UTF8.self))) { first, _ in
                        first
                    }
                    try await gateway.payPages.playOn(kind: kind, subscription: call.parameter("id"), form: form)
                    return try .json(Played(played: true))
                },
                Route(
                    "readPlayedBook_\(kind)", .get, "/\(kind)/book", .anyone, .payPages,
                    "What the played service believes about a subscription",
                    query: [.query("subscription_id", .id("sub"), "The subscription.", isRequired: true)],
                    answers: .json(.playedBook), refuses: [.notFound]
                ) { (call) async throws(GatewayError) in
                    guard let id = call.query["subscription_id"] else {
                        throw .invalidRequest(field: "subscription_id", reason: "is missing")
                    }
                    let book = try await gateway.payPages.playedBook(kind: kind, subscription: id)
                    guard let body = try? JSONText.encoded(book) else { throw .internalError }
                    return .raw(
                        status: .ok, contentType: "application/json", body: body,
                        headers: [HTTPField(name: .cacheControl, value: "no-store")])
                },
            ]
        }
    }

    private struct Played: Encodable {
        let played: Bool
    }

    private static func visitor(_ call: Call) -> PageVisitor {
        PageVisitor(languages: (call.query["lang"].map { [$0] } ?? []) + call.languages)
    }

    private static func show(_ page: PaymentPage) throws(GatewayError) -> Answer {
        switch page {
        case .html(let document): return html(.ok, document)
        case .refused(let document): return html(.badRequest, document)
        case .redirect(let address):
            return .raw(
                status: .seeOther, contentType: "text/plain; charset=utf-8", body: Data(),
                headers: [
                    HTTPField(name: .location, value: address), HTTPField(name: .cacheControl, value: "no-store"),
                ])
        }
    }

    /// Makes a page without scripts, frames and external resources.
    ///
    /// `form-action` is left out of the policy: browsers apply it to the redirect that brings the payer back to the
    /// app.
    private static func html(_ status: HTTPResponse.Status, _ document: String) -> Answer {
        let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
        return .raw(
            status: status, contentType: "text/html; charset=utf-8", body: Data(document.utf8),
            headers: [
                HTTPField(name: .contentSecurityPolicy, value: policy),
                HTTPField(name: .cacheControl, value: "no-store"),
                HTTPField(name: .xContentTypeOptions, value: "nosniff"),
                HTTPField(name: .referrerPolicy, value: "no-referrer"),
                HTTPField(name: .vary, value: "Accept-Language"),
            ])
    }
}

extension Shape {
    /// The book of a played service about a subscription.
    fileprivate static let playedBook = object([
        "charges": .list(
            .object([
                "payment_id": .id("pay"), "subscription_id": .id("sub"), "period_index": .integer, "amount": .money,
                "outcome": .string, "at": .time,
            ])
        ).noted("The newest, oldest first."),
        "mandates": .list(.object(["subscription_id": .id("sub"), "state": .words("active", "revoked", "ended")])),
    ])
}
