import AppStoreBox
import Domain
import FoundationEssentials
import Gateway
import HTTPTypes

/// Routes of what is done in the App Store in a box, and of its state (`docs/development.md`).
struct AppStoreBoxActRoutes {
    let gateway: Gateway
    let box: BoxedAppStore

    var routes: [Route] {
        [
            route("readBoxState", .get, "/state", "Everything that the box sold and sent") {
                (_) async throws(GatewayError) in
                try .bare(try await box.state())
            },
            route("purchaseInBox", .post, "/purchases", "Buys a product") { (call) async throws(GatewayError) in
                try await answer(call, created: true) { (body) throws(BoxError) in
                    try BoxPurchaseRequest(body: body)
                } act: { (request) async throws(GatewayError) in
                    try await box.purchase(request)
                }
            },
            route(
                "actOnBoxSubscription", .post, "/subscriptions/{original_transaction_id}/{act}",
                "Does an act on a subscription"
            ) {
                (call) async throws(GatewayError) in
                let (original, name) = (try call.parameter("original_transaction_id"), try call.parameter("act"))
                return try await answer(call) { (body) throws(BoxError) in
                    try BoxSubscriptionAct(name: name, body: body)
                } act: { (act) async throws(GatewayError) in
                    try await box.act(on: original, act)
                }
            },
            route("actOnBoxTransaction", .post, "/transactions/{id}/{act}", "Does an act on a transaction") {
                (call) async throws(GatewayError) in
                let (id, name) = (try call.parameter("id"), try call.parameter("act"))
                return try await answer(call) { (body) throws(BoxError) in
                    try BoxTransactionAct(name: name, body: body)
                } act: { (act) async throws(GatewayError) in
                    try await box.act(onTransaction: id, act)
                }
            },
            route("setBoxDelivery", .post, "/delivery", "Decides how notifications travel") {
                (call) async throws(GatewayError) in
                try await answer(call) { (body) throws(BoxError) in
                    try BoxMeta.Delivery(body: body)
                } act: { (delivery) async throws(GatewayError) in
                    try await box.deliver(delivery)
                    return .success(delivery)
                }
            },
            route(
                "makeBoxExternalToken", .post, "/external-purchase-tokens", "Hands out a token of an external purchase"
            ) {
                (call) async throws(GatewayError) in
                try await answer(call, created: true) { (body) throws(BoxError) in
                    try BoxExternalTokenRequest(body: body)
                } act: { (request) async throws(GatewayError) in
                    try await box.makeExternalToken(request)
                }
            },
            route("limitBoxCalls", .post, "/limits", "Sets Apple's rate limit") { (call) async throws(GatewayError) in
                try await answer(call) { (body) throws(BoxError) in
                    try BoxLimitRequest(body: body)
                } act: { (limit) async throws(GatewayError) in
                    try await box.limit(perSecond: limit.perSecond)
                    return .success(Limit(limit.perSecond))
                }
            },
            route("resetBox", .post, "/reset", "Makes a new, empty App Store") { (_) async throws(GatewayError) in
                try await box.reset()
                return try .bare(try await box.state())
            },
            route("moveBoxClock", .post, "/clock", "Moves business time forward") { (call) async throws(GatewayError) in
                let request = try call.decode(ClockRequest.self)
                return try .bare(try await gateway.businessClock.move(request, context: call.context))
            },
        ]
    }

    private struct Limit: Encodable {
        @Nullable var per_second: Int64?

        init(_ perSecond: Int64?) { _per_second = Nullable(wrappedValue: perSecond) }
    }

    private func route(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ summary: String,
        handle: @escaping @Sendable (Call) async throws(GatewayError) -> Answer
    ) -> Route {
        Route(
            id, method, "/dev/appstore" + path, .anyone, nil, summary, answers: .json(.any), idempotency: .ignored,
            isLocal: true, errors: .bare, handle: handle)
    }

    /// Reads the body, does the act and answers, or says why the box refuses it.
    private func answer<Request>(
        _ call: Call, created: Bool = false, _ read: ([UInt8]) throws(BoxError) -> Request,
        act: (Request) async throws(GatewayError) -> BoxedAppStore.Outcome<some Encodable & Sendable>
    ) async throws(GatewayError) -> Answer {
        let request: Request
        do throws(BoxError) { request = try read(Array(call.body)) } catch { return try .refusing(error) }
        switch try await act(request) {
        case .success(let done): return try .bare(done, created ? .created : .ok)
        case .failure(let refusal): return try .refusing(refusal)
        }
    }
}

extension Answer {
    /// Encodes a refusal of the box.
    fileprivate static func refusing(_ error: BoxError) throws(GatewayError) -> Answer {
        struct Body: Encodable {
            let error: String
            let message: String
        }
        return switch error {
        case .invalidRequest(let field, let words):
            try .bare(Body(error: "invalid_request", message: "\(field) \(words)"), .badRequest)
        case .notFound(let words): try .bare(Body(error: "not_found", message: words), .notFound)
        case .conflict(let words): try .bare(Body(error: "conflict", message: words), .conflict)
        }
    }
}
