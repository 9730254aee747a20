import Crypto
import Domain
import Foundation

/// A request as it goes over the wire, so that it can be sent again exactly.
struct Request: Sendable {
    let method: String
    let path: String
    let headers: [String: String]
    let body: String

    /// - Parameter key: the `Idempotency-Key`.
    static func post(
        _ path: String, bearer: String? = nil, key: String? = nil, _ body: some Encodable
    ) throws -> Request {
        var headers = ["Content-Type": "application/json"]
        headers["Authorization"] = bearer.map { "Bearer \($0)" }
        headers["Idempotency-Key"] = key
        return Request(method: "POST", path: path, headers: headers, body: try text(body))
    }

    /// The sandbox provider's notification, signed now.
    ///
    /// - Parameter genuine: the notification that the signature is made of, where it is not the one that is sent.
    static func notification(
        _ event: SandboxNotification, signedAs genuine: SandboxNotification? = nil
    ) throws -> Request {
        let body = try text(event)
        let stamp = String(Int64(Date().timeIntervalSince1970))
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(stamp).\(try text(genuine ?? event))".utf8),
            using: SymmetricKey(data: Data(Configuration.sandboxSecret.utf8)))
        let signature = Hex.encoded(code)
        return Request(
            method: "POST", path: "/v1/notify/\(Configuration.notifyToken)",
            headers: ["Content-Type": "application/json", "X-Sandbox-Signature": "t=\(stamp),v1=\(signature)"],
            body: body)
    }

    private static func text(_ value: some Encodable) throws -> String { try JSONText.line(value) }
}

/// A notification of the sandbox provider.
struct SandboxNotification: Encodable {
    let event_id: String
    let payment_id: String
    let type: String
    let amount: Price
    let occurred_at: Int64

    init(event_id: String, payment order: OpenedOrder, type: String = "payment.succeeded") {
        self.event_id = event_id
        self.type = type
        payment_id = order.payment
        amount = Price(value: order.amount, currency: "CNY")
        occurred_at = Int64(Date().timeIntervalSince1970)
    }
}

struct Price: Codable, Sendable, Equatable {
    let value: Int64
    let currency: String
}

/// A user's JWT (RFC 7519) as the app's own login makes it.
enum UserToken {
    static func make(_ user: String) throws -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let claims = #"{"sub":"\#(user)","iat":\#(now),"exp":\#(now + 86_400)}"#
        let input =
            "\(Base64URL.encoded(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8))).\(Base64URL.encoded(Data(claims.utf8)))"
        let key = SymmetricKey(data: Data(Configuration.userSecret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(input.utf8), using: key)
        return "\(input).\(Base64URL.encoded(Data(code)))"
    }
}
