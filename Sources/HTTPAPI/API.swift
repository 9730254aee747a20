package import Domain
package import Foundation
package import Gateway
import HTTPTypes
package import Hummingbird
package import Logging
import Pages
import ProviderKit

/// The settings of the HTTP layer, beside the use cases.
package struct APISettings: Sendable {
    package struct Limits: Sendable {
        package var userPerSecond: Int64
        package var userBurst: Int64
        package var keyPerSecond: Int64
        package var keyBurst: Int64
        /// The number of merchant sessions that a user may open in a minute.
        package var sessionsPerMinute: Int64
        package var concurrent: Int
        /// The pages that an address may open in a second, and at once; 0 for any number.
        package var pagesPerSecond: Int64
        package var pagesBurst: Int64

        package init(
            userPerSecond: Int64, userBurst: Int64, keyPerSecond: Int64, keyBurst: Int64, sessionsPerMinute: Int64,
            concurrent: Int, pagesPerSecond: Int64 = 0, pagesBurst: Int64 = 0
        ) {
            self.userPerSecond = userPerSecond
            self.userBurst = userBurst
            self.keyPerSecond = keyPerSecond
            self.keyBurst = keyBurst
            self.sessionsPerMinute = sessionsPerMinute
            self.concurrent = concurrent
            self.pagesPerSecond = pagesPerSecond
            self.pagesBurst = pagesBurst
        }
    }

    package var corsOrigins: [String]
    /// True in development mode, which allows pages of loopback origins.
    package var isDevelopment: Bool
    /// The proxies whose `X-Forwarded-For` or `Forwarded` is believed.
    package var trustedProxies: [CIDR]
    package var limits: Limits
    package var tokens: UserTokenRules
    package var version: String
    /// Returns the process's metrics in Prometheus' text format.
    package var metricsText: @Sendable () -> String
    /// Returns the number of nodes that share the limits, this one included.
    package var nodes: @Sendable () -> Int64
    /// The name of this node.
    package var node: String
    /// True where this server has the TLS certificate itself.
    package var servesTLS: Bool
    /// The folder from which the pages' assets are read in the place of the embedded ones; nil for none.
    package var assets: URL?
    /// The App Store in a box that this server runs; nil for none.
    package var box: ServedBox?
    /// The readers and writers of the catalogue's files; nil leaves their routes out.
    package var files: CatalogueFiles?
    /// Examines this server as `paydesk doctor` does, with calls to the accounts' services where the parameter is true.
    package var doctor: @Sendable (_ reaches: Bool) async throws -> [DoctorItem]

    package init(
        corsOrigins: [String], isDevelopment: Bool = false, trustedProxies: [CIDR] = [], limits: Limits,
        tokens: UserTokenRules, version: String,
        metricsText: @escaping @Sendable () -> String, nodes: @escaping @Sendable () -> Int64 = { 1 },
        node: String = "node", servesTLS: Bool = false, assets: URL? = nil, box: ServedBox? = nil,
        files: CatalogueFiles? = nil,
        doctor: @escaping @Sendable (_ reaches: Bool) async throws -> [DoctorItem] = { _ in [] }
    ) {
        self.corsOrigins = corsOrigins
        self.isDevelopment = isDevelopment
        self.trustedProxies = trustedProxies
        self.limits = limits
        self.tokens = tokens
        self.version = version
        self.metricsText = metricsText
        self.nodes = nodes
        self.node = node
        self.servesTLS = servesTLS
        self.assets = assets
        self.box = box
        self.files = files
        self.doctor = doctor
    }
}

/// The HTTP API: one table of routes, registered with Hummingbird's router.
package struct API: Sendable {
    private let pipeline: Pipeline
    private let settings: APISettings
    private let merchantSessionLimiter: RateLimiter
    private let signInLimiter: RateLimiter
    private let doctorLimiter: RateLimiter
    private let pages: CashierPages

    package init(gateway: Gateway, settings: APISettings, logger: Logger) {
        let limits = settings.limits
        self.settings = settings
        let (nodes, time) = (settings.nodes, gateway.time.real)
        merchantSessionLimiter = RateLimiter(perMinute: limits.sessionsPerMinute, nodes: nodes, time: time)
        signInLimiter = RateLimiter(perMinute: ConsoleSessionRoutes.triesPerMinute, nodes: nodes, time: time)
        doctorLimiter = RateLimiter(perMinute: 1, nodes: nodes, time: time)
        pages = CashierPages(
            gateway: gateway, pages: Pages(PageFiles(assets: settings.assets), accent: gateway.settings.pages.accent),
            limiter: RateLimiter(
                perSecond: limits.pagesPerSecond, burst: limits.pagesBurst, nodes: nodes, time: time))
        pipeline = Pipeline(
            gateway: gateway, tokens: UserTokens(settings.tokens, time: gateway.time.real),
            userLimiter: RateLimiter(
                perSecond: limits.userPerSecond, burst: limits.userBurst, nodes: nodes, time: time),
            keyLimiter: RateLimiter(perSecond: limits.keyPerSecond, burst: limits.keyBurst, nodes: nodes, time: time),
            sessionLimiter: RateLimiter(
                perSecond: limits.userPerSecond, burst: limits.userBurst, nodes: nodes, time: time),
            guesses: GuessLimiter(nodes: nodes, time: time),
            concurrency: ConcurrencyLimit(limit: limits.concurrent) { gateway.health.isCongested },
            bodies: BodyReader(budget: .bodies()), answers: AnswerBudget(bytes: .answers()),
            callers: LocalCallers(servesTLS: settings.servesTLS), requests: RequestLog(), logger: logger,
            ids: gateway.ids)
    }

    var gateway: Gateway { pipeline.gateway }

    var routes: [Route] {
        let described =
            describedRoutes + LogoRoutes(logo: pipeline.gateway.settings.pages.logo).routes
            + CashierRoutes(pages: pages).routes + PortalRoutes(portal: PortalPages(pages: pages)).routes
            + firstPage.routes
            + ConsolePageRoutes(pages: pages, version: settings.version).routes
            + AssetRoutes(assets: pages.pages.assets, version: settings.version).routes
        return described + boxRoutes
            + DocumentationRoutes(describing: described, version: settings.version, pages: pages).routes
    }

    private var firstPage: FirstPageRoutes { FirstPageRoutes(pages: pages, hasBox: settings.box != nil) }

    /// The routes of the App Store in a box, which the document leaves out: only this machine may call them.
    private var boxRoutes: [Route] {
        guard let box = settings.box else { return [] }
        let gateway = pipeline.gateway
        return AppStoreBoxPage(pages: pages).routes + AppStoreBoxUserRoutes(gateway: gateway).routes
            + AppStoreBoxKeyRoutes(box: box).routes
            + (gateway.appStore.map { AppStoreBoxActRoutes(gateway: gateway, box: $0).routes } ?? [])
            + (gateway.appStoreAPI.map { AppStoreBoxServerAPIRoutes(api: $0).routes } ?? [])
    }

    /// The routes that the OpenAPI document describes.
    private var describedRoutes: [Route] {
        let gateway = pipeline.gateway
        return ProductRoutes(gateway: gateway).routes + CheckoutRoutes(gateway: gateway).routes
            + PartnerCheckoutRoutes(gateway: gateway).routes + PayPageRoutes(gateway: gateway).routes
            + SessionRoutes(gateway: gateway).routes + OrderRoutes(gateway: gateway).routes
            + PartnerOrderRoutes(gateway: gateway).routes
            + AdminOrderRoutes(gateway: gateway).routes + RefundRoutes(gateway: gateway).routes
            + ApplePayRoutes(gateway: gateway, limiter: merchantSessionLimiter).routes
            + ExternalPurchaseRoutes(gateway: gateway).routes
            + AppleIAPRoutes(gateway: gateway).routes + OfferRoutes(gateway: gateway).routes
            + PurchaseRoutes(gateway: gateway).routes
            + CompatibleRoutes(gateway: gateway).routes
            + OpenIAPRoutes(gateway: gateway).routes
            + StreamRoutes(gateway: gateway, tokens: pipeline.tokens).routes
            + SnapshotKeyRoutes(gateway: gateway).routes
            + ReceiptRoutes(gateway: gateway, limiter: pipeline.keyLimiter, guesses: pipeline.guesses).routes
            + SubscriptionRoutes(gateway: gateway).routes + EntitlementRoutes(gateway: gateway).routes
            + GrantRoutes(gateway: gateway).routes + UsageRoutes(gateway: gateway).routes
            + BalanceRoutes(gateway: gateway).routes + SKURoutes(gateway: gateway).routes
            + WaitingProductRoutes(gateway: gateway).routes
            + (settings.files.map { CatalogueFileRoutes(gateway: gateway, files: $0).routes } ?? [])
            + AccountRoutes(gateway: gateway).routes + UserRoutes(gateway: gateway).routes
            + KeyRoutes(gateway: gateway).routes + AuditRoutes(gateway: gateway).routes
            + ConsoleSessionRoutes(gateway: gateway, callers: pipeline.callers, limiter: signInLimiter).routes
            + SearchRoutes(gateway: gateway).routes + PeopleRoutes(gateway: gateway).routes
            + DisputeRoutes(gateway: gateway).routes
            + RequestRoutes(requests: pipeline.requests, node: settings.node).routes
            + AttentionRoutes(gateway: gateway, doctor: settings.doctor, limiter: doctorLimiter).routes
            + NotifyRoutes(gateway: gateway).routes + InboxRoutes(gateway: gateway).routes
            + JobRoutes(gateway: gateway).routes + ClockRoutes(gateway: gateway).routes
            + WebhookRoutes(gateway: gateway).routes
            + AdminWebhookRoutes(gateway: gateway).routes + EventRoutes(gateway: gateway).routes
            + ReportRoutes(gateway: gateway).routes
            + OperationsRoutes(gateway: gateway, version: settings.version, metricsText: settings.metricsText).routes
            + firstPage.described
    }

    /// Verifies users' tokens by other rules from now on.
    package func replaceTokenRules(by rules: UserTokenRules) { pipeline.tokens.replace(by: rules) }

    /// Makes the shedder that refuses requests in front of the router.
    package func loadShedder() -> LoadShedder {
        LoadShedder(
            routes, concurrency: pipeline.concurrency, ids: pipeline.ids, servesTLS: settings.servesTLS,
            logger: pipeline.logger)
    }

    /// Makes the router of all routes; an unknown path is `not_found`, an unknown method `method_not_allowed`.
    package func router() -> Router<PeerContext> {
        let router = Router(context: PeerContext.self)
        router.add(middleware: SafetyHeaders(servesTLS: settings.servesTLS))
        router.add(middleware: BodilessHead())
        router.add(
            middleware: CORSPolicy(
                origins: Set(settings.corsOrigins), isDevelopment: settings.isDevelopment, logger: pipeline.logger))
        let routes = routes
        router.add(middleware: NotFound(pipeline: pipeline, routes: routes))
        for route in routes {
            let names = route.parameterNames
            let meter = RouteMeter(route)
            // A route for GET also answers HEAD, under the same access and limits.
            let methods: [HTTPRequest.Method] = route.method == .get ? [.get, .head] : [route.method]
            for method in methods {
                router.on(RouterPath(route.path), method: method) { [pipeline, settings] request, context in
                    var parameters: [String: String] = [:]
                    for name in names { parameters[name] = context.parameters.get(name)?.removingPercentEncoding }
                    let from = ClientAddress(peer: context.peer, trustedProxies: settings.trustedProxies)
                    return await pipeline.respond(route, request, parameters, from: from, meter: meter)
                }
            }
        }
        return router
    }
}

/// Leaves the body out of every answer to a HEAD, refusals included (RFC 9110 section 9.3.2).
///
/// A client would take the bytes after the headers for its next answer.
private struct BodilessHead<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        // A streamed body gets the length 0: without a length the encoder writes the last chunk, which is a body.
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// Answers unknown paths and methods, and everything that the framework refuses, with the envelope.
private struct NotFound<Context: RequestContext>: RouterMiddleware {
    let pipeline: Pipeline
    let routes: [Route]

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
            let reply = ErrorReply(error is HTTPError ? refusal(of: request) : .internalError)
            pipeline.requests.add(
                RequestLog.Entry(
                    at: pipeline.gateway.time.real.now, method: request.method.rawValue, route: nil,
                    status: reply.status.code, error: reply.id, milliseconds: 0, actor: nil, user: nil,
                    requestID: requestID))
            // The path is not logged: what is no route may still be a token.
            pipeline.logger.debug(
                "request",
                metadata: [
                    "route": "\(request.method) unknown", "status": .stringConvertible(reply.status.code),
                    "caller": "unknown", "request_id": "\(requestID)",
                ])
            return Envelope.failure(
                reply, languages: AcceptLanguage.parse(request.headers[.acceptLanguage]), requestID: requestID)
        }
    }

    /// Returns `methodNotAllowed` where another method has this path (RFC 9110 section 15.5.6), else `notFound`.
    private func refusal(of request: Request) -> GatewayError {
        let parts = request.uri.path.split(separator: "/")
        var methods = Set(routes.filter { $0.fits(parts) }.map(\.method.rawValue))
        guard !methods.isEmpty, !methods.contains(request.method.rawValue) else { return .notFound }
        if methods.contains("GET") { methods.insert("HEAD") }
        return .methodNotAllowed(methods.sorted())
    }
}
