package import Domain
import Foundation
package import Gateway
import HTTPTypes
package import Hummingbird
package import Logging
import ProviderKit

/// What the HTTP layer needs beside the use cases.
package struct APISettings: Sendable {
    package struct Limits: Sendable {
        package var userPerSecond: Int64
        package var userBurst: Int64
        package var keyPerSecond: Int64
        package var keyBurst: Int64
        /// Merchant sessions of a user.
        package var sessionsPerMinute: Int64
        package var concurrent: Int

        package init(
            userPerSecond: Int64, userBurst: Int64, keyPerSecond: Int64, keyBurst: Int64, sessionsPerMinute: Int64,
            concurrent: Int
        ) {
            self.userPerSecond = userPerSecond
            self.userBurst = userBurst
            self.keyPerSecond = keyPerSecond
            self.keyBurst = keyBurst
            self.sessionsPerMinute = sessionsPerMinute
            self.concurrent = concurrent
        }
    }

    package var corsOrigins: [String]
    /// Development mode: pages of loopback origins are let in.
    package var isDevelopment: Bool
    /// Whose `X-Forwarded-For` or `Forwarded` is believed.
    package var trustedProxies: [CIDR]
    package var limits: Limits
    package var tokens: UserTokenRules
    package var version: String
    /// The process's metrics in Prometheus' text format.
    package var metricsText: @Sendable () -> String
    /// How many nodes share the limits, this one included.
    package var nodes: @Sendable () -> Int64
    /// Whether this server has the certificate itself.
    package var servesTLS: Bool

    package init(
        corsOrigins: [String], isDevelopment: Bool = false, trustedProxies: [CIDR] = [], limits: Limits,
        tokens: UserTokenRules, version: String,
        metricsText: @escaping @Sendable () -> String, nodes: @escaping @Sendable () -> Int64 = { 1 },
        servesTLS: Bool = false
    ) {
        self.corsOrigins = corsOrigins
        self.isDevelopment = isDevelopment
        self.trustedProxies = trustedProxies
        self.limits = limits
        self.tokens = tokens
        self.version = version
        self.metricsText = metricsText
        self.nodes = nodes
        self.servesTLS = servesTLS
    }
}

/// The HTTP API: one table of endpoints, mounted on Hummingbird's router.
package struct API: Sendable {
    private let pipeline: Pipeline
    private let settings: APISettings
    private let sessionLimiter: RateLimiter

    package init(gateway: Gateway, settings: APISettings, logger: Logger) {
        let limits = settings.limits
        self.settings = settings
        let (nodes, time) = (settings.nodes, gateway.time)
        sessionLimiter = RateLimiter(perMinute: limits.sessionsPerMinute, nodes: nodes, time: time)
        pipeline = Pipeline(
            gateway: gateway, tokens: UserTokens(settings.tokens, time: gateway.time),
            userLimiter: RateLimiter(
                perSecond: limits.userPerSecond, burst: limits.userBurst, nodes: nodes, time: time),
            keyLimiter: RateLimiter(perSecond: limits.keyPerSecond, burst: limits.keyBurst, nodes: nodes, time: time),
            guesses: GuessLimiter(nodes: nodes, time: time),
            concurrency: ConcurrencyLimit(limit: limits.concurrent) { gateway.health.isCongested },
            bodies: BodyReader(budget: .bodies()), answers: AnswerBudget(bytes: .answers()), logger: logger,
            ids: gateway.ids)
    }

    var endpoints: [Endpoint] {
        let registry = pipeline.gateway.registry
        let operations = OperationGroup.all(payPages: registry.pageKinds, notifying: registry.notifyingKinds)
            .flatMap(\.operations)
        let byName = Dictionary(operations.map { (RouteName($0.method, $0.path), $0) }) { first, _ in first }
        let described = describedEndpoints.map { $0.knowing(byName[RouteName($0.method, $0.path)]) }
        let documentation = DocumentationRoutes(
            describing: described, kinds: registry.pageKinds, notifying: registry.notifyingKinds,
            version: settings.version)
        return described + documentation.endpoints
    }

    /// Everything that the OpenAPI document describes.
    private var describedEndpoints: [Endpoint] {
        let gateway = pipeline.gateway
        return CheckoutRoutes(gateway: gateway).endpoints + OrderRoutes(gateway: gateway).endpoints
            + AppleIAPRoutes(gateway: gateway).endpoints
            + ApplePayRoutes(gateway: gateway, limiter: sessionLimiter).endpoints
            + CompatibleRoutes(gateway: gateway).endpoints
            + ReceiptRoutes(gateway: gateway, limiter: pipeline.keyLimiter, guesses: pipeline.guesses).endpoints
            + EntitlementRoutes(gateway: gateway).endpoints + UsageRoutes(gateway: gateway).endpoints
            + SKURoutes(gateway: gateway).endpoints + AccountRoutes(gateway: gateway).endpoints
            + AdminOrderRoutes(gateway: gateway).endpoints + GrantRoutes(gateway: gateway).endpoints
            + KeyRoutes(gateway: gateway).endpoints + NotifyRoutes(gateway: gateway).endpoints
            + InboxRoutes(gateway: gateway).endpoints + WebhookRoutes(gateway: gateway).endpoints
            + PartnerRoutes(gateway: gateway).endpoints + ReportRoutes(gateway: gateway).endpoints
            + PurchaseRoutes(gateway: gateway).endpoints + BalanceRoutes(gateway: gateway).endpoints
            + UserRoutes(gateway: gateway).endpoints + SubscriptionRoutes(gateway: gateway).endpoints
            + PayPageRoutes(gateway: gateway).endpoints
            + OperationsRoutes(gateway: gateway, version: settings.version, metricsText: settings.metricsText).endpoints
            + FirstPageRoutes(isDevelopment: settings.isDevelopment, version: settings.version).endpoints
    }

    /// What turns requests away in front of the router.
    package func loadShedder() -> LoadShedder {
        LoadShedder(
            endpoints, concurrency: pipeline.concurrency, ids: pipeline.ids, servesTLS: settings.servesTLS,
            logger: pipeline.logger)
    }

    /// The router of everything above; a path that is not there is `not_found`, a method `method_not_allowed`.
    package func router() -> Router<PeerContext> {
        let router = Router(context: PeerContext.self)
        router.add(middleware: SafetyHeaders(servesTLS: settings.servesTLS))
        router.add(middleware: BodilessHead())
        router.add(
            middleware: CORSPolicy(
                origins: Set(settings.corsOrigins), isDevelopment: settings.isDevelopment, logger: pipeline.logger))
        let endpoints = endpoints
        router.add(middleware: NotFound(pipeline: pipeline, endpoints: endpoints))
        for endpoint in endpoints {
            let names = endpoint.parameterNames
            let meter = EndpointMeter(endpoint)
            // Whoever may GET may ask for the head alone, under the same rules and limits.
            let methods: [HTTPRequest.Method] = endpoint.method == .get ? [.get, .head] : [endpoint.method]
            for method in methods {
                router.on(RouterPath(endpoint.path), method: method) { [pipeline, settings] request, context in
                    var parameters: [String: String] = [:]
                    for name in names { parameters[name] = context.parameters.get(name)?.removingPercentEncoding }
                    let from = ClientAddress(peer: context.peer, trustedProxies: settings.trustedProxies)
                    return await pipeline.respond(endpoint, request, parameters, from: from, meter: meter)
                }
            }
        }
        return router
    }
}

extension Endpoint {
    /// The names between braces.
    var parameterNames: [String] {
        path.split(separator: "/").compactMap { part in
            guard let start = part.firstIndex(of: "{"), let end = part.firstIndex(of: "}") else { return nil }
            return String(part[part.index(after: start)..<end])
        }
    }

    /// Whether a path, split at its slashes, is this endpoint's.
    fileprivate func fits(_ parts: [Substring]) -> Bool {
        let own = path.split(separator: "/")
        return own.count == parts.count && zip(own, parts).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
}

/// Leaves the body out of every answer to a HEAD, refusals included (RFC 9110 section 9.3.2).
///
/// Clients take whatever follows the head for their next answer.
private struct BodilessHead<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        // What is streamed gets the length 0: without one the encoder writes the end of chunks, which is a body.
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// Gives a path or method that is not there, and whatever the framework refuses, the envelope.
private struct NotFound<Context: RequestContext>: RouterMiddleware {
    let pipeline: Pipeline
    let endpoints: [Endpoint]

    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            let requestID = pipeline.ids.requestID(request.headers[.requestID])
            if !(error is HTTPError) {
                pipeline.logger.error("request", metadata: ["error": "\(error)", "request_id": "\(requestID)"])
            }
            return Envelope.failure(
                ErrorReply(error is HTTPError ? refusal(of: request) : .internalError),
                languages: AcceptLanguage.parse(request.headers[.acceptLanguage]), requestID: requestID)
        }
    }

    /// `methodNotAllowed` where the path is one of ours (RFC 9110 section 15.5.6).
    private func refusal(of request: Request) -> GatewayError {
        let parts = request.uri.path.split(separator: "/")
        var methods = Set(endpoints.filter { $0.fits(parts) }.map(\.method.rawValue))
        guard !methods.isEmpty, !methods.contains(request.method.rawValue) else { return .notFound }
        if methods.contains("GET") { methods.insert("HEAD") }
        return .methodNotAllowed(methods.sorted())
    }
}
