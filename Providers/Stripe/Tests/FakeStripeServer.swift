import Domain
import Foundation
import ProviderKit
import Synchronization
import TestSupport

/// A fake of Stripe's API by its documentation: stateful, strict about parameters, idempotent.
///
/// It reads forms with its own code, so that it finds mistakes in the provider's encoding.
final class FakeStripeServer: Sendable {
    static let key = "sk_test_key0of0the0stand0in"

    struct Intent {
        let id: String
        var amount: Int64
        let currency: String
        var status = "requires_payment_method"
        var received: Int64 = 0
        var metadata: [String: String]
        let created: Int64
        var failure: String?
        /// The session to which it belongs.
        var session: String?
        var customer: String?
        var method: String?
        /// True where a payer's success leaves the means of payment behind.
        var isForFuture = false
        /// The error code of a failed try, and the network's advice.
        var failureCode = "card_declined"
        var advice: String?
        var secret: String { "\(id)_secret_4Qr8" }
    }

    struct Session {
        let id: String
        let amount: Int64
        let currency: String
        var status = "open"
        var paid = "unpaid"
        let metadata: [String: String]
        let intentMetadata: [String: String]
        let created: Int64
        let expires: Int64
        var intent: String?
        var customer: String?
        var isForFuture = false
        /// The SetupIntent of a session in setup mode.
        var setup: String?
    }

    struct Refund {
        let id: String
        let intent: String
        let amount: Int64
        let currency: String
        var status = "succeeded"
        let metadata: [String: String]
        let created: Int64
    }

    struct Stored {
        let call: String
        let form: String
        let reply: IncomingReply
    }

    struct State {
        var intents: [Intent] = []
        var sessions: [Session] = []
        var refunds: [Refund] = []
        var tokens: Set<String> = []
        var customers: [Customer] = []
        var methods: [Method] = []
        var setups: [Setup] = []
        var endpoints: [WebhookTarget] = []
        /// The calls that answer with a 500 before they do anything, by the last part of their path, and how often.
        var failing: [String: Int] = [:]
        var keys: [String: Stored] = [:]
        var number = 0
        /// The next answers, instead of its own.
        var scripted: [IncomingReply] = []
        /// False where search does not find new objects yet, as at Stripe after some delay.
        var isSearchable = false
        /// True where wallet tokens are declined.
        var declines = false
        /// True where PaymentIntents are made but the answers are lost.
        var losesIntents = false

        mutating func id(_ prefix: String) -> String {
            number += 1
            return "\(prefix)_3Nk\(String(repeating: "0", count: 18 - String(number).count))\(number)"
        }
    }

    let state = Mutex(State())

    func script(_ replies: IncomingReply...) { state.withLock { $0.scripted += replies } }

    /// Answers like Stripe; `now` is in seconds since 1970.
    func answer(_ request: OutgoingRequest, now: Int64) -> IncomingReply {
        let scripted = state.withLock { $0.scripted.isEmpty ? nil : $0.scripted.removeFirst() }
        if let scripted { return scripted }
        let call = FakeStripeServerCall(request)
        guard call.header("authorization") == "Bearer \(Self.key)" else {
            return .stripe(401, "invalid_request_error", nil, "Invalid API Key provided: sk_test_***in")
        }
        guard call.header("stripe-version") != nil else { return .stripe(400, "invalid_request_error", "no_version") }
        return state.withLock { state in
            guard call.method == "POST" else { return Self.route(call, &state, now) }
            let isFailing = call.path.last.flatMap { state.failing[$0] } ?? 0 > 0
            if isFailing, let name = call.path.last { state.failing[name]? -= 1 }
            // Stripe keeps its own error under a key, too.
            let failure =
                isFailing
                ? IncomingReply.stripe(500, "api_error", headers: [(name: "Stripe-Should-Retry", value: "false")]) : nil
            guard call.header("content-type")?.hasPrefix("application/x-www-form-urlencoded") ?? true else {
                return .stripe(400, "invalid_request_error", "bad_content_type")
            }
            guard let key = call.header("idempotency-key"), (1...255).contains(key.utf8.count) else {
                return failure ?? Self.route(call, &state, now)
            }
            let form = String(decoding: request.body, as: UTF8.self)
            if let stored = state.keys[key] {
                guard stored.call == call.name, stored.form == form else {
                    return .stripe(400, "idempotency_error", nil, "Keys can only be used with the same parameters")
                }
                var reply = stored.reply
                reply.headers.append((name: "Idempotent-Replayed", value: "true"))
                return reply
            }
            let reply = failure ?? Self.route(call, &state, now)
            // A call that failed validation began nothing, so its key can be used again.
            let isInvalid = reply.stripeCode.map { ["parameter_unknown", "parameter_missing"].contains($0) } ?? false
            if !isInvalid { state.keys[key] = Stored(call: call.name, form: form, reply: reply) }
            return reply
        }
    }

    private static func route(_ call: FakeStripeServerCall, _ state: inout State, _ now: Int64) -> IncomingReply {
        let path = call.path
        if let reply = routeOfMandates(call, &state, now) { return reply }
        switch (call.method, path.count > 1 ? [path[0]] + path.dropFirst().map { $0 } : path) {
        case ("POST", ["tokens"]): return makeToken(call, &state)
        case ("POST", ["payment_intents"]):
            let reply = makeIntent(call, &state, now)
            return state.losesIntents ? IncomingReply(status: 200, body: Data("{".utf8)) : reply
        case ("GET", ["payment_intents"]): return listIntents(call, state)
        case ("GET", ["payment_intents", "search"]): return searchIntents(call, state)
        case ("POST", ["checkout", "sessions"]): return makeSession(call, &state, now)
        case ("GET", ["checkout", "sessions"]): return listSessions(call, state)
        case ("POST", ["refunds"]): return makeRefund(call, &state, now)
        case ("GET", ["refunds"]): return listRefunds(call, state)
        default: break
        }
        guard let id = path.first(where: { $0.contains("_") && $0 != "payment_intents" }) else { return .missing }
        switch (call.method, path.first, path.last) {
        case ("GET", "payment_intents", id):
            return state.intents.first { $0.id == id }.map { .json($0.json) } ?? .missing
        case ("GET", "checkout", id):
            return state.sessions.first { $0.id == id }.map { .json($0.json(state, expands: call.expands)) } ?? .missing
        case ("GET", "refunds", id): return state.refunds.first { $0.id == id }.map { .json($0.json) } ?? .missing
        case ("POST", "payment_intents", "confirm"): return confirm(id, call, &state)
        case ("POST", "payment_intents", "cancel"): return cancel(id, call, &state)
        case ("POST", "checkout", "expire"): return expire(id, call, &state)
        default: return .missing
        }
    }
}

/// A parsed request.
struct FakeStripeServerCall {
    let method: String
    /// The path below `/v1/`.
    let path: [String]
    let values: [String: String]
    private let headers: [(name: String, value: String)]

    init(_ request: OutgoingRequest) {
        method = request.method
        headers = request.headers
        let parts = request.url.split(separator: "?", maxSplits: 1).map(String.init)
        let tail = parts[0].range(of: "/v1/").map { String(parts[0][$0.upperBound...]) } ?? ""
        path = tail.split(separator: "/").map(String.init)
        let form = String(decoding: request.body, as: UTF8.self)
        let pairs = [form, parts.count > 1 ? parts[1] : ""].flatMap { $0.split(separator: "&") }
        values = Dictionary(
            pairs.map { pair in
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (FormText.decoded(sides[0]), sides.count > 1 ? FormText.decoded(sides[1]) : "")
            }, uniquingKeysWith: { first, _ in first })
    }

    var name: String { "\(method) \(path.joined(separator: "/"))" }

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }

    /// Returns the members of `prefix[…]`.
    func map(_ prefix: String) -> [String: String] {
        var members: [String: String] = [:]
        for (name, value) in values where name.hasPrefix("\(prefix)[") && name.hasSuffix("]") {
            members[String(name.dropFirst(prefix.count + 1).dropLast())] = value
        }
        return members
    }

    var expands: Bool {
        values.contains {
            $0.key.hasPrefix("expand[") && ($0.value.hasSuffix("payment_intent") || $0.value.hasSuffix("setup_intent"))
        }
    }

    /// Returns the first parameter that Stripe does not know.
    func stranger(_ known: Set<String>) -> String? {
        values.keys.map { name in
            // `line_items[0][quantity]` is known as `line_items[][quantity]`.
            let parts = name.split(separator: "[").map { $0.replacing("]", with: "") }
            let rest = parts.dropFirst().map { Int($0) == nil ? "[\($0)]" : "[]" }.joined()
            return (name, (parts.first ?? "") + rest)
        }
        .first { _, shape in
            !known.contains(shape) && !known.contains { $0.hasSuffix("[*]") && shape.hasPrefix($0.dropLast(3) + "[") }
        }?.0
    }
}

extension IncomingReply {
    static func json(_ object: Any, status: Int = 200) -> IncomingReply {
        IncomingReply(
            status: status,
            headers: [
                (name: "Content-Type", value: "application/json"), (name: "Request-Id", value: "req_9kQ\(status)"),
            ], body: (try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)) ?? Data())
    }

    static func stripe(
        _ status: Int, _ type: String, _ code: String? = nil, _ message: String = "Words of Stripe's",
        headers: [(name: String, value: String)] = []
    ) -> IncomingReply {
        var details: [String: Any] = ["type": type, "message": message]
        details["code"] = code
        var reply = json(["error": details], status: status)
        reply.headers += headers
        return reply
    }

    static let missing = stripe(404, "invalid_request_error", "resource_missing")

    var stripeCode: String? {
        let body = (try? JSONSerialization.jsonObject(with: body)) as? [String: Any]
        return (body?["error"] as? [String: Any])?["code"] as? String
    }
}
