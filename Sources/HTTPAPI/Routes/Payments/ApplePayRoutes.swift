import Domain
import Foundation
import Gateway
import HTTPTypes

/// Routes of Apple Pay: merchant sessions, tokens, and the domain's association file (`docs/api.md` section 8).
struct ApplePayRoutes {
    let gateway: Gateway

    /// The rate limit of merchant sessions, by user.
    let limiter: RateLimiter

    var routes: [Route] {
        [
            Route(
                "openMerchantSession", .post, "/v1/public/apple-pay/session", .user, sessions: [.checkout], .applePay,
                "A merchant session for Apple Pay on the web",
                body: .json(
                    .object(
                        ["order_id": .id("ord")],
                        optional: [
                            "validation_url": .sentAddress.orNull.noted("Checked to be one of Apple's; never dialled.")
                        ])),
                answers: .data(
                    .object(["merchant_session": .map(.any).noted("Apple's object, unchanged. It is good once.")])),
                refuses: [.orderNotFound, .orderNotOpen, .conflict, .providerRejected, .providerUnavailable],
                idempotency: .ignored, handle: session),
            Route(
                "payByApplePay", .post, "/v1/public/apple-pay/payments", .user, sessions: [.checkout], .applePay,
                "Pays an open order with a token",
                note: """
                    A token that is refused leaves order and payment as they were. After `failed`, another attempt \
                    needs the next contract.
                    """, body: .json(.object(["order_id": .id("ord"), "token": .applePayToken])), bodyLimit: 64 << 10,
                answers: .data(
                    .object(["status": .words("paid", "pending", "failed"), "order": .order])),
                refuses: [
                    .orderNotFound, .orderNotOpen, .applePayTokenInvalid, .applePayTokenReused, .amountMismatch,
                    .alreadyOwned, .conflict, .providerUnavailable,
                ], handle: pay),
            Route(
                "readDomainAssociation", .get, "/.well-known/apple-developer-merchantid-domain-association", .anyone,
                .applePay, "The file that proves the domain to Apple",
                answers: .other("text/plain", "The file of the host's domain, else the first that is configured."),
                refuses: [.notFound], isAlwaysServed: true, handle: association),
        ]
    }

    private func session(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(SessionFields.self)
        let user = try call.user
        if let wait = limiter.take(user.rawValue) { throw .rateLimited(retryAfter: max(1, wait)) }
        let order = try await call.requireOrder(fields.order_id, gateway)
        let session = try await gateway.applePaySessions.issue(
            order, validationURL: fields.validation_url, user: user)
        // Apple signs the object, so it is passed on byte for byte.
        return .data(Data(#"{"merchant_session":"#.utf8) + session + Data("}".utf8))
    }

    private func pay(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(PaymentFields.self)
        guard let token = JSONMember.value("token", of: call.body) else {
            throw .invalidRequest(field: "token", reason: "must be there once")
        }
        let order = try await call.requireOrder(fields.order_id, gateway)
        let payment = try await gateway.tokenPayments.pay(order, token: token, user: call.user, context: call.context)
        return try .json(TokenPayment(status: payment.status, order: call.shown(payment.order)))
    }

    private func association(_ call: Call) async throws(GatewayError) -> Answer {
        let host = call.request.authority.map { String($0.prefix { $0 != ":" }) }
        return .raw(
            status: .ok, contentType: "text/plain", body: try gateway.applePaySessions.domainAssociation(host: host),
            headers: [])
    }
}

private struct SessionFields: Decodable {
    let order_id: String
    let validation_url: String?
}

private struct PaymentFields: Decodable {
    let order_id: String
    let token: Token

    /// The payment token, checked to be an object; its members are read from the original bytes.
    struct Token: Decodable {
        init(from decoder: any Decoder) throws { _ = try [String: JSONValue](from: decoder) }
    }
}

extension Shape {
    fileprivate static let applePayToken = object(
        ["paymentData": .any.noted("Apple's object, or that as base64 or as JSON text.")],
        optional: ["paymentMethod": .map(.any).orNull, "transactionIdentifier": .string.orNull]
    ).noted("`token` of Apple's payment, at most 32 KiB.")
}
