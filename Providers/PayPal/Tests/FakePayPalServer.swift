import Crypto
import Domain
import Foundation
import ProviderKit
import Synchronization
import _CryptoExtras

/// A stand-in for PayPal's API as its documentation describes it: stateful, strict about bodies, idempotent for six hours.
final class FakePayPalServer: Sendable {
    static let clientID = "AZDxjDScFpQtjWTOUtWKbyN_bDt4OgqaF4eYXlewfBP4"
    static let clientSecret = "EGnHDxD_planted_secret_of_the_stand_in"

    struct Order {
        let id: String
        let custom: String
        let invoice: String
        let amount: [String: String]
        /// By which of its two names the page is linked.
        var rel = "payer-action"
        var status = "PAYER_ACTION_REQUIRED"
        var updates = 1
        /// PayPal leaves the status out where the only capture was declined.
        var hasStatus = true
        /// The payer's card is declined.
        var isDeclining = false
        var captures: [Capture] = []
        var refunds: [Refund] = []
    }

    struct Capture {
        let id: String
        let order: String
        let custom: String
        let amount: [String: String]
        var status = "COMPLETED"
    }

    struct Refund {
        let id: String
        let capture: String
        var custom: String?
        var invoice: String?
        let amount: [String: String]
        var status = "COMPLETED"
    }

    struct Stored {
        let body: Data
        let reply: IncomingReply
        let at: Int64
    }

    struct State {
        var orders: [Order] = []
        /// Objects that came to be elsewhere.
        var captures: [Capture] = []
        var refunds: [Refund] = []
        var disputes: [String: Data] = [:]
        var keys: [String: Stored] = [:]
        var tokens: [String: Int64] = [:]
        var tokensMade = 0
        var scripted: [(part: String, reply: IncomingReply)] = []
        var certificates: [String: String] = [PayPalTestCertificates.certificateURL: PayPalTestCertificates.paypal.pem]
        var number = 0
        /// What a new capture is.
        var captureStatus = "COMPLETED"
        var rel = "payer-action"

        mutating func id(_ prefix: String) -> String {
            number += 1
            return "\(prefix)\(String(repeating: "0", count: 12 - String(number).count))\(number)"
        }
    }

    let state = Mutex(State())

    func script(_ part: String, _ reply: IncomingReply) { state.withLock { $0.scripted.append((part, reply)) } }

    /// Answers as PayPal does; `now` in seconds since 1970.
    func answer(_ request: OutgoingRequest, now: Int64) -> IncomingReply {
        state.withLock { state in
            if let index = state.scripted.firstIndex(where: { request.url.contains($0.part) }) {
                return state.scripted.remove(at: index).reply
            }
            if request.url.contains("/v1/notifications/certs/") {
                guard let pem = state.certificates[request.url] else { return IncomingReply(status: 404) }
                return IncomingReply(status: 200, body: Data(pem.utf8))
            }
            let call = FakePayPalServerCall(request)
            if call.path == ["v1", "oauth2", "token"] { return Self.token(call, &state, now) }
            let token = call.header("authorization")?.replacing("Bearer ", with: "") ?? ""
            guard state.tokens[token].map({ $0 > now }) ?? false else { return .paypal(401, "invalid_token") }
            guard call.method == "GET" || call.header("content-type")?.hasPrefix("application/json") == true else {
                return .paypal(415, "UNSUPPORTED_MEDIA_TYPE")
            }
            guard call.method == "POST", let key = call.header("paypal-request-id") else {
                return Self.route(call, &state, now)
            }
            let name = "\(call.path.joined(separator: "/")) \(key)"
            if let stored = state.keys[name], stored.at > now - 6 * 3_600 {
                guard stored.body == request.body else {
                    return .paypal(422, "UNPROCESSABLE_ENTITY", "DUPLICATE_REQUEST_ID")
                }
                return stored.reply
            }
            let reply = Self.route(call, &state, now)
            // A capture that was refused is refused again.
            let isKept = reply.status < 300 || (reply.status == 422 && call.path.last == "capture")
            if isKept { state.keys[name] = Stored(body: request.body, reply: reply, at: now) }
            return reply
        }
    }

    private static func token(_ call: FakePayPalServerCall, _ state: inout State, _ now: Int64) -> IncomingReply {
        let pair = Data("\(clientID):\(clientSecret)".utf8).base64EncodedString()
        guard call.method == "POST", call.header("authorization")?.lowercased().hasPrefix("basic ") == true,
            call.header("authorization")?.dropFirst(6) == pair[...],
            String(decoding: call.body, as: UTF8.self) == "grant_type=client_credentials"
        else { return .json(["error": "invalid_client", "error_description": "words"], status: 401) }
        state.tokensMade += 1
        let token = "A21AA-planted-token-\(state.tokensMade)"
        state.tokens[token] = now + 32_400
        return .json([
            "scope": "https://uri.paypal.com/services/payments/payment", "access_token": token, "token_type": "Bearer",
            "app_id": "APP-80W284485P519543T", "expires_in": 32_400, "nonce": "n",
        ])
    }

    private static func route(_ call: FakePayPalServerCall, _ state: inout State, _ now: Int64) -> IncomingReply {
        let path = call.path
        switch (call.method, path.count) {
        case ("POST", 3) where path == ["v2", "checkout", "orders"]: return make(call, &state)
        case ("GET", 4) where path.starts(with: ["v2", "checkout", "orders"]):
            return state.orders.first { $0.id == path[3] }.map { .json($0.json) } ?? .missing
        case ("POST", 5) where path.starts(with: ["v2", "checkout", "orders"]) && path[4] == "capture":
            return capture(path[3], &state)
        case ("GET", 4) where path.starts(with: ["v2", "payments", "captures"]):
            let all = state.captures + state.orders.flatMap(\.captures)
            return all.first { $0.id == path[3] }.map { .json($0.json) } ?? .missing
        case ("POST", 5) where path.starts(with: ["v2", "payments", "captures"]) && path[4] == "refund":
            return refund(path[3], call, &state)
        case ("GET", 4) where path.starts(with: ["v2", "payments", "refunds"]):
            let all = state.refunds + state.orders.flatMap(\.refunds)
            return all.first { $0.id == path[3] }.map { .json($0.json) } ?? .missing
        case ("GET", 3) where path == ["v1", "customer", "disputes"]: return disputes(call, state)
        case ("GET", 4) where path.starts(with: ["v1", "customer", "disputes"]):
            return state.disputes[path[3]].map { IncomingReply(status: 200, body: $0) } ?? .missing
        case ("POST", 3) where path == ["v1", "notifications", "verify-webhook-signature"]:
            return verification(call, state)
        default: return .missing
        }
    }

    /// PayPal's own verification of a notification, over the event's bytes as they stand in the question.
    private static func verification(_ call: FakePayPalServerCall, _ state: State) -> IncomingReply {
        let object = call.object
        guard let mark = call.body.range(of: Data(#""webhook_event":"#.utf8)), object["webhook_event"] is [String: Any],
            let id = object["transmission_id"] as? String, let time = object["transmission_time"] as? String,
            let webhook = object["webhook_id"] as? String, object["auth_algo"] as? String == "SHA256withRSA",
            let signature = (object["transmission_sig"] as? String).flatMap({ Data(base64Encoded: $0) }),
            state.certificates[object["cert_url"] as? String ?? ""] != nil
        else { return .paypal(400, "VALIDATION_ERROR") }
        let event = Data(call.body[mark.upperBound...].dropLast())
        let text = Data("\(id)|\(time)|\(webhook)|\(PayPalTestCertificates.crc(event))".utf8)
        let isGood =
            webhook == PayPalTestCertificates.webhookID
            && PayPalTestCertificates.paypal.key.publicKey.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature), for: SHA256.hash(data: text),
                padding: .insecurePKCS1v1_5)
        return .json(["verification_status": isGood ? "SUCCESS" : "FAILURE"])
    }
}

/// A request taken apart.
struct FakePayPalServerCall {
    let method: String
    let path: [String]
    let query: [String: String]
    let body: Data
    private let headers: [(name: String, value: String)]

    init(_ request: OutgoingRequest) {
        method = request.method
        headers = request.headers
        body = request.body
        let afterScheme = request.url.split(separator: "//", maxSplits: 1).last ?? ""
        path = afterScheme.prefix { $0 != "?" }.split(separator: "/").dropFirst().map(String.init)
        let items = URLComponents(string: request.url)?.queryItems ?? []
        query = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    }

    var name: String { "\(method) \(path.joined(separator: "/"))" }
    var object: [String: Any] { (try? JSONSerialization.jsonObject(with: body)) as? [String: Any] ?? [:] }

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }
}

extension IncomingReply {
    static func json(_ object: Any, status: Int = 200) -> IncomingReply {
        IncomingReply(
            status: status,
            headers: [
                (name: "Content-Type", value: "application/json"), (name: "Paypal-Debug-Id", value: "f9a8b7c6d5e4f"),
            ], body: (try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)) ?? Data())
    }

    static func paypal(_ status: Int, _ name: String, _ issue: String? = nil) -> IncomingReply {
        var object: [String: Any] = ["name": name, "message": "words of PayPal's", "debug_id": "f9a8b7c6d5e4f"]
        if let issue { object["details"] = [["issue": issue, "description": "words"]] }
        return json(object, status: status)
    }

    static let missing = paypal(404, "RESOURCE_NOT_FOUND", "INVALID_RESOURCE_ID")
}
